#pragma once

#include <stdexcept>
#include <string>

namespace synthesizer::serve {

/// Ends a request with an answer of that status and the body {"error": {"message", "type", "param"}}.
struct ApiError : std::runtime_error {
  ApiError(int status, const std::string& message, std::string param = "")
      : std::runtime_error(message), status(status), param(std::move(param)) {}

  int status;
  std::string param;    ///< the field of the request that is wrong, where one is
  int retry_after = 0;  ///< seconds, where the same request may succeed later
};

/// The client has closed its connection: there is nobody to answer.
struct Disconnected : std::exception {};

}  // namespace synthesizer::serve
