#pragma once

#include <cstdint>
#include <string>

namespace synthesizer::serve {

/// The port of a server. It is taken at once, so that one which is in use is noticed before models are
/// loaded. Connections are refused until listen(): whoever can connect is answered.
class ServerSocket {
 public:
  /// `port` 0: any free one. Throws std::runtime_error where the port cannot be taken.
  ServerSocket(const std::string& host, int64_t port);
  ~ServerSocket();
  ServerSocket(const ServerSocket&) = delete;
  ServerSocket& operator=(const ServerSocket&) = delete;

  int port() const { return port_; }
  /// Lets clients connect. The socket belongs to the caller from now on. Throws std::runtime_error where
  /// another program has begun to listen on the port since it was taken.
  int listen();

 private:
  [[noreturn]] void fail(const std::string& reason) const;

  std::string address_;  ///< as the user gave it, for messages
  int socket_ = -1, port_ = 0;
};

}  // namespace synthesizer::serve
