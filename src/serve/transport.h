#pragma once

#include <memory>
#include <string>

#include "serve/http.h"
#include "serve/metrics.h"
#include "serve/options.h"
#include "serve/server_socket.h"

namespace synthesizer::serve {

/// HTTP over sockets, with cpp-httplib (which transport.cpp alone includes): limits, TLS, CORS. Every request
/// is passed to a handler, which may take its time: it runs on a thread of its own. An observer hears of
/// every answer, also of those that the handler was not asked for.
///
/// cpp-httplib accepts connections and reads and writes HTTP. Waiting for clients is ours (ConnectionPool,
/// Connection): the library's own streams keep a thread for every open connection and have no limit for the
/// time and size of a whole request.
class Transport {
 public:
  Transport(const ServeOptions& options, HttpHandler handler, HttpObserver observer, Metrics& metrics);
  ~Transport();
  Transport(const Transport&) = delete;
  Transport& operator=(const Transport&) = delete;

  /// Lets clients connect. Throws std::runtime_error where that cannot be done.
  void listen(ServerSocket& socket);
  /// Accepts their connections until stop() is called from another thread.
  void run();
  /// No more connections; those that are open are closed after their next answer.
  void stop();

  /// After run(): waits until the requests that have begun are answered, then closes all connections; false
  /// where some are left by then.
  bool drain(Clock::time_point deadline);

 private:
  class Server;
  std::unique_ptr<Server> server_;
};

}  // namespace synthesizer::serve
