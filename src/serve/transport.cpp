#include "serve/transport.h"

#include <fmt/format.h>
#include <httplib.h>
#include <netinet/in.h>
#include <netinet/tcp.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "serve/connection_pool.h"
#include "serve/json_answer.h"

namespace synthesizer::serve {
namespace {

/// Bytes that the system holds for a client which does not read; its own limit is megabytes.
constexpr int kSendBuffer = 128 << 10;

Clock::duration as_duration(double seconds) {
  return std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(seconds));
}

/// Runs what the library wants to do with an accepted socket at once: it only hands the socket over.
class AtOnce : public httplib::TaskQueue {
 public:
  void enqueue(std::function<void()> accept) override { accept(); }
  void shutdown() override {}
};

/// A connection as the library reads and writes it.
class ConnectionStream : public httplib::Stream {
 public:
  explicit ConnectionStream(Connection& connection) : connection_(&connection) {}
  bool is_readable() const override { return true; }
  bool is_writable() const override { return !connection_->broken(); }
  ssize_t read(char* to, size_t size) override { return connection_->read(to, size); }
  ssize_t write(const char* from, size_t size) override { return connection_->write(from, size); }
  void get_remote_ip_and_port(std::string& ip, int& port) const override { ip.clear(), port = 0; }
  void get_local_ip_and_port(std::string& ip, int& port) const override { ip.clear(), port = 0; }
  socket_t socket() const override {
    return 0;
  }  // a high number would make the library refuse: it uses select

 private:
  Connection* connection_;
};

/// The connection that this thread serves.
thread_local Connection* current = nullptr;

std::string plain_type(std::string type) {
  type = type.substr(0, type.find(';'));
  while (!type.empty() && type.back() == ' ') type.pop_back();
  std::transform(type.begin(), type.end(), type.begin(), [](unsigned char c) { return std::tolower(c); });
  return type;
}

/// What is wrong where it cannot be said for certain where the body ends: somebody else on the way (a proxy)
/// might see other requests than we do. Null where all is well.
const char* ambiguous_body(const httplib::Request& request) {
  const size_t lengths = request.get_header_value_count("Content-Length");
  const size_t encodings = request.get_header_value_count("Transfer-Encoding");
  if (lengths + encodings > 1) return "more than one Content-Length or Transfer-Encoding: send one of them";
  if (encodings > 0 && plain_type(request.get_header_value("Transfer-Encoding")) != "chunked")
    return "this Transfer-Encoding is not known: send 'chunked', or Content-Length";
  const std::string length = request.get_header_value("Content-Length");
  if (lengths > 0 && (length.empty() || length.find_first_not_of("0123456789") != std::string::npos))
    return "Content-Length is not a number";
  const bool body = encodings > 0 || length.find_first_not_of('0') != std::string::npos;
  if (body && (request.method == "GET" || request.method == "HEAD" || request.method == "OPTIONS"))
    return "this method takes no body: use POST";
  return nullptr;
}

const char* library_error(int status) {
  switch (status) {
    case 413: return "the request is too large";
    case 414: return "the address is too long";
    case 431: return "the header is larger than 64 kB: send less";
    default: return "the request is not valid HTTP/1.1";
  }
}

}  // namespace

class Transport::Server : public httplib::Server {
 public:
  Server(const ServeOptions& options, HttpHandler handler, Metrics& metrics)
      : options_(options),
        handler_(std::move(handler)),
        metrics_(&metrics),
        limits_{as_duration(options.read_timeout), as_duration(options.read_timeout)},
        pool_({static_cast<size_t>(options.connections), as_duration(options.idle_timeout)},
              [this](Connection& connection) { return serve(connection); }) {
    if (!options.certificate.empty()) tls_ = std::make_unique<TlsContext>(options.certificate, options.key);
    // What the library tells clients; the connections are ours.
    set_keep_alive_timeout(static_cast<time_t>(options.idle_timeout));
    set_keep_alive_max_count(1'000'000);
    new_task_queue = [] { return new AtOnce; };
    set_socket_options([](socket_t socket) {  // without SO_REUSEPORT: two servers must not share a port
      const int yes = 1;
      ::setsockopt(socket, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes);
    });
    set_pre_routing_handler([this](const auto& request, auto& response) {
      current->begin_body();
      if (const char* mistake = ambiguous_body(request)) {
        refuse({400, mistake}, response);
        return HandlerResponse::Handled;
      }
      return cross_origin(request, response);
    });
    set_error_handler([](const httplib::Request&, httplib::Response& response) {
      if (!response.body.empty()) return;
      if (response.status == 400 && current && current->header_too_large()) response.status = 431;
      refuse({response.status, library_error(response.status)}, response);
    });
    set_exception_handler([](const auto&, auto&, std::exception_ptr) { current->give_up(); });
    using Request = httplib::Request;
    using Response = httplib::Response;
    auto with_body = [this](const Request& request, Response& response,
                            const httplib::ContentReader& reader) {
      read_and_handle(request, response, reader);
    };
    auto without = [this](const Request& request, Response& response) { handle(request, response, ""); };
    const std::string any = ".*";
    Get(any, without);
    Options(any, without);
    Post(any, with_body);
    Put(any, with_body);
    Patch(any, with_body);
    Delete(any, with_body);
  }

  int take_port() {
    const bool any = options_.port == 0;
    errno = 0;
    const int port =
        any ? bind_to_any_port(options_.host)
            : (bind_to_port(options_.host, static_cast<int>(options_.port)) ? static_cast<int>(options_.port)
                                                                            : -1);
    if (port < 0) {
      throw std::runtime_error(fmt::format("cannot listen on {}:{}: {}: choose another --host or --port",
                                           options_.host, options_.port,
                                           errno != 0 ? std::strerror(errno) : "no such address"));
    }
    ::listen(svr_sock_, SOMAXCONN);  // the library's own limit is 5
    return port;
  }

  /// Ends listen_after_bind(), also where it has not begun yet. The library's stop() does nothing before, and
  /// cuts off streamed answers that begin after it.
  void stop_accepting() { ::shutdown(svr_sock_, SHUT_RDWR); }

  ConnectionPool& pool() { return pool_; }
  std::atomic<bool> closing = false;

 private:
  /// An accepted socket.
  bool process_and_close_socket(socket_t socket) override {
    const int yes = 1;
    ::setsockopt(socket, IPPROTO_TCP, TCP_NODELAY, &yes, sizeof yes);
    ::setsockopt(socket, SOL_SOCKET, SO_SNDBUF, &kSendBuffer, sizeof kSendBuffer);
    metrics_->connections = static_cast<int64_t>(pool_.open()) + 1;
    auto connection = std::make_unique<Connection>(socket, tls_.get(), limits_);
    if (pool_.admit(connection)) return true;
    ++metrics_->rejected;
    if (tls_) return true;
    constexpr std::string_view busy =
        "HTTP/1.1 503 Service Unavailable\r\nRetry-After: 1\r\nConnection: close\r\nContent-Length: "
        "0\r\n\r\n";
    ::send(socket, busy.data(), busy.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
    return true;
  }

  /// One request of a connection; true where another may follow.
  bool serve(Connection& connection) {
    metrics_->connections = static_cast<int64_t>(pool_.open());
    if (!connection.greet()) return false;
    connection.begin_request();
    current = &connection;
    ConnectionStream stream(connection);
    bool closed = false;
    // Answers go out as they are: the library would compress each anew, with Brotli's slowest setting.
    const bool more = process_request(
        stream, closing, closed, [](httplib::Request& request) { request.headers.erase("Accept-Encoding"); });
    current = nullptr;
    return more && !closed && !connection.broken() && !closing;
  }

  HandlerResponse cross_origin(const httplib::Request& request, httplib::Response& response) const {
    if (options_.cors.empty()) return HandlerResponse::Unhandled;
    response.set_header("Access-Control-Allow-Origin", options_.cors);
    response.set_header("Vary", "Origin");
    if (request.method != "OPTIONS") return HandlerResponse::Unhandled;
    response.set_header("Access-Control-Allow-Methods", "GET, POST");
    response.set_header("Access-Control-Allow-Headers", "Authorization, Content-Type");
    response.set_header("Access-Control-Max-Age", "600");
    response.status = 204;
    return HandlerResponse::Handled;
  }

  void read_and_handle(const httplib::Request& request, httplib::Response& response,
                       const httplib::ContentReader& reader) {
    // Without a length there is no body (the library would wait until the client closes), and what follows is
    // not taken for another request.
    if (!request.has_header("Content-Length") && !request.has_header("Transfer-Encoding")) {
      current->give_up_input();
      handle(request, response, "");
      return response.set_header("Connection", "close");
    }
    const auto most = static_cast<size_t>(options_.body);
    std::string body;
    bool too_large = request.get_header_value<uint64_t>("Content-Length") > most;
    const bool read = !too_large && reader([&](const char* data, size_t size) {
      too_large = body.size() + size > most;
      if (!too_large) body.append(data, size);
      return !too_large;
    });
    if (read) return handle(request, response, body);
    if (too_large)
      return refuse({413, fmt::format("the body is larger than {} bytes (--body): send less", most)},
                    response);
    refuse({400, "the body could not be read: send what Content-Length or the chunks announce"}, response);
  }

  /// An error after which the connection cannot be used: where its next request begins is not known.
  static void refuse(const ApiError& error, httplib::Response& response) {
    if (current) current->give_up_input();
    put(error_answer(error), response);
    response.set_header("Connection", "close");
  }

  void handle(const httplib::Request& request, httplib::Response& response, const std::string& body) {
    Connection* connection = current;
    HttpRequest plain{request.method,
                      request.path,
                      plain_type(request.get_header_value("Content-Type")),
                      request.get_header_value("Authorization"),
                      body,
                      [connection] { return !connection->closed_by_client(); }};
    try {
      put(handler_(plain), response);
    } catch (const Disconnected&) {
      connection->give_up();
      response.status = 499;  // nobody reads it
    }
  }

  static void put(const HttpAnswer& answer, httplib::Response& response) {
    response.status = answer.status;
    for (const auto& [name, value] : answer.headers) response.set_header(name, value);
    if (!answer.stream) return response.set_content(answer.body, answer.content_type);
    response.set_chunked_content_provider(answer.content_type,
                                          [stream = answer.stream](size_t, httplib::DataSink& sink) {
                                            bool read = true;
                                            stream([&](const std::string& piece) {
                                              read = read && sink.write(piece.data(), piece.size());
                                              return read;
                                            });
                                            if (read) sink.done();
                                            return read;
                                          });
  }

  ServeOptions options_;
  HttpHandler handler_;
  Metrics* metrics_;
  std::unique_ptr<TlsContext> tls_;
  ConnectionLimits limits_;
  ConnectionPool pool_;  ///< last: its threads end first
};

Transport::Transport(const ServeOptions& options, HttpHandler handler, Metrics& metrics)
    : server_(std::make_unique<Server>(options, std::move(handler), metrics)) {}

Transport::~Transport() = default;

int Transport::bind() {
  return server_->take_port();
}

void Transport::run() {
  server_->listen_after_bind();
}

void Transport::stop() {
  server_->closing = true;
  server_->stop_accepting();
}

bool Transport::drain(Clock::time_point deadline) {
  return server_->pool().drain(deadline);
}

}  // namespace synthesizer::serve
