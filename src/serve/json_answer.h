#pragma once

#include <functional>
#include <nlohmann/json_fwd.hpp>
#include <string>

#include "serve/error.h"
#include "serve/http.h"

namespace synthesizer::serve {

HttpAnswer json_answer(const nlohmann::ordered_json& value);
/// With the error's status, and its headers where it has some.
HttpAnswer error_answer(const ApiError& error);

/// Sends a server-sent event. Throws Disconnected where nobody reads any more.
using SendEvent = std::function<void(const nlohmann::ordered_json& data)>;
/// An answer of those events that `write` sends, and [DONE] behind them. What `write` throws leaves the
/// stream.
HttpAnswer event_answer(std::function<void(const SendEvent& send)> write);
/// The event that ends a stream after an error.
std::string error_event(const ApiError& error);

}  // namespace synthesizer::serve
