#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>

#include "serve/error.h"
#include "serve/http.h"

namespace synthesizer::serve {

HttpAnswer json_answer(const nlohmann::ordered_json& value);
/// With the error's status, and its headers where it has some.
HttpAnswer error_answer(const ApiError& error);
/// One server-sent event.
std::string event(const nlohmann::ordered_json& data);

}  // namespace synthesizer::serve
