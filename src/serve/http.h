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
  /// any more. Returns the status that counts: `status` has been sent by then, whatever happens later.
  using Send = std::function<bool(const std::string& piece)>;
  using Stream = std::function<int(const Send& send)>;
  Stream stream;
};

/// The status that is counted where the client has gone before its answer, as nginx counts it.
inline constexpr int kClientGone = 499;

/// What is counted and logged of a request.
struct AnsweredRequest {
  std::string method, path;  ///< empty where they could not be read, or the method is unknown
  int status;
  double seconds;  ///< from the complete request to its answer; 0 where it was refused before it was complete
};

using HttpHandler = std::function<HttpAnswer(const HttpRequest&)>;
/// Called once for every answer, from any thread.
using HttpObserver = std::function<void(const AnsweredRequest&)>;

}  // namespace synthesizer::serve
