#include "serve/json_answer.h"

#include <nlohmann/json.hpp>

namespace synthesizer::serve {
namespace {

const char* type_of(int status) {
  switch (status) {
    case 401: return "authentication_error";
    case 403: return "permission_error";
    case 404: return "not_found_error";
    case 413: return "request_too_large";
    case 429: return "rate_limit_error";
    case 500: return "server_error";
    case 503: return "unavailable_error";
    default: return "invalid_request_error";
  }
}

/// Text that is not UTF-8 is replaced.
std::string dump(const nlohmann::ordered_json& value) {
  return value.dump(-1, ' ', false, nlohmann::ordered_json::error_handler_t::replace);
}

nlohmann::ordered_json error_json(const ApiError& error) {
  const nlohmann::ordered_json param =
      error.param.empty() ? nlohmann::ordered_json() : nlohmann::ordered_json(error.param);
  return {{"error", {{"message", error.what()}, {"type", type_of(error.status)}, {"param", param}}}};
}

std::string event(const nlohmann::ordered_json& data) {
  return "data: " + dump(data) + "\n\n";
}

}  // namespace

HttpAnswer json_answer(const nlohmann::ordered_json& value) {
  return {200, "application/json", dump(value), {}, {}};
}

HttpAnswer error_answer(const ApiError& error) {
  HttpAnswer answer = json_answer(error_json(error));
  answer.status = error.status;
  if (error.status == 401) answer.headers.emplace_back("WWW-Authenticate", "Bearer");
  if (error.retry_after > 0) answer.headers.emplace_back("Retry-After", std::to_string(error.retry_after));
  return answer;
}

HttpAnswer event_answer(std::function<void(const SendEvent& send)> write) {
  HttpAnswer answer;
  answer.content_type = "text/event-stream";
  answer.headers.emplace_back("Cache-Control", "no-store");
  answer.stream = [status = answer.status, write = std::move(write)](const HttpAnswer::Send& send) {
    const auto send_all = [&](const std::string& text) {
      if (!send(text)) throw Disconnected();
    };
    write([&](const nlohmann::ordered_json& data) { send_all(event(data)); });
    send_all("data: [DONE]\n\n");
    return status;
  };
  return answer;
}

std::string error_event(const ApiError& error) {
  return event(error_json(error));
}

}  // namespace synthesizer::serve
