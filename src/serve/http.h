#pragma once

#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "serve/pending_request.h"

namespace synthesizer::serve {

/// A request as the API takes it from any transport.
struct HttpRequest {
  std::string method, path;
  std::string content_type;   ///< without parameters, lower case
  std::string authorization;  ///< the header's value
  std::string body;           ///< decompressed
  Connected connected;
};

/// An answer: a body, or pieces that are sent as they come.
struct HttpAnswer {
  int status = 200;
  std::string content_type = "application/json";
  std::string body;
  std::vector<std::pair<std::string, std::string>> headers;

  /// Where it is set, it is called once and sends the body piece by piece; send() is false where nobody reads
  /// any more.
  using Send = std::function<bool(const std::string& piece)>;
  std::function<void(const Send& send)> stream;
};

using HttpHandler = std::function<HttpAnswer(const HttpRequest&)>;

}  // namespace synthesizer::serve
