#pragma once

#include <sys/types.h>

#include <chrono>
#include <memory>
#include <string>

#include "serve/pending_request.h"

struct ssl_ctx_st;
struct ssl_st;

namespace synthesizer::serve {

/// A certificate and its key, as OpenSSL holds them.
class TlsContext {
 public:
  /// Throws InvalidInput where a file cannot be used.
  TlsContext(const std::string& certificate, const std::string& key);
  ~TlsContext();
  TlsContext(const TlsContext&) = delete;
  TlsContext& operator=(const TlsContext&) = delete;

  ssl_ctx_st* get() const { return context_; }

 private:
  ssl_ctx_st* context_;
};

/// How long a client may take, and how much it may send before its body.
struct ConnectionLimits {
  Clock::duration read_timeout;   ///< for a whole request to arrive
  Clock::duration write_timeout;  ///< for the client to read something
  size_t header_bytes = 64 << 10;
  size_t line_bytes = 8 << 10;  ///< of a line of the header; cpp-httplib's own limit
};

/// One client's connection, plain or with TLS: reads and writes with deadlines, so that a client which sends
/// slowly or never reads cannot hold a thread for long. Used by one thread at a time.
class Connection {
 public:
  /// Owns the socket. `tls`: null for plain HTTP; it must outlive the connection.
  Connection(int socket, const TlsContext* tls, const ConnectionLimits& limits);
  ~Connection();
  Connection(const Connection&) = delete;
  Connection& operator=(const Connection&) = delete;

  int socket() const { return socket_; }
  /// With TLS, greets the client; false where that fails. Called before the first request.
  bool greet();

  /// From here on a request is read: its time and its header count from now.
  void begin_request();
  /// The header is complete: what follows is the body.
  void begin_body() { in_header_ = false; }

  /// Bytes that were read, 0 at the end, -1 where the client is too slow or sends too much header.
  ssize_t read(char* to, size_t size);
  /// The size where all was written, -1 otherwise.
  ssize_t write(const char* from, size_t size);

  /// The request's header has more than limits.header_bytes.
  bool header_too_large() const { return header_read_ > limits_.header_bytes; }
  /// A line of it has more than limits.line_bytes.
  bool header_line_too_long() const { return longest_line_ > limits_.line_bytes; }

  /// Something of the next request is here already.
  bool has_input() const;
  /// The client has closed its side.
  bool closed_by_client() const;

  /// Nothing more can be done with the connection.
  bool broken() const { return broken_; }
  void give_up() { broken_ = true; }
  /// The same where the client may still be sending: closing waits a moment for it, because input that nobody
  /// reads makes the system cut the connection before the client has read its answer.
  void give_up_input() { broken_ = linger_ = true; }

  Clock::time_point idle_since;

 private:
  enum class Wants { reading, writing };
  bool wait(Wants wants, Clock::time_point deadline) const;
  /// What is there, 0 at the end, -1 on errors, -2 where it has to be waited for as `wants` says.
  ssize_t receive(char* to, size_t size, Wants& wants);
  ssize_t send(const char* from, size_t size, Wants& wants);
  void count_header(const char* from, size_t size);

  int socket_;
  ssl_st* ssl_ = nullptr;
  ConnectionLimits limits_;
  bool greeted_ = false, broken_ = false, linger_ = false, in_header_ = true;
  size_t header_read_ = 0, line_read_ = 0, longest_line_ = 0;
  Clock::time_point read_deadline_;
  std::string buffer_;  ///< read and not yet asked for
  size_t used_ = 0;
};

}  // namespace synthesizer::serve
