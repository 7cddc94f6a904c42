#include "serve/transport.h"

#include <fmt/format.h>
#include <httplib.h>
#include <netinet/in.h>
#include <netinet/tcp.h>

#include <algorithm>
#include <optional>

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

/// The request that this thread works on, from its first byte to the end of its answer.
struct Exchange {
  Connection* connection;
  std::optional<Clock::time_point> complete;  ///< since when the handler has it
  bool streamed = false;                      ///< the answer is not over when its header is sent
};
thread_local Exchange* current = nullptr;

std::string plain_type(std::string type) {
  type = type.substr(0, type.find(';'));
  while (!type.empty() && type.back() == ' ') type.pop_back();
  std::transform(type.begin(), type.end(), type.begin(), [](unsigned char c) { return std::tolower(c); });
  return type;
}

/// The method, or nothing where the request has begun with any other word: that may be anything.
std::string known_method(const httplib::Request& request) {
  for (const char* method : {"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"}) {
    if (request.method == method) return method;
  }
  return "";
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

/// What is wrong where the body cannot be read. Null where all is well.
const char* unknown_body(const httplib::Request& request) {
  if (plain_type(request.get_header_value("Content-Type")).starts_with("multipart/"))
    return "a multipart body is not supported: send JSON (a form only to /translate, as 'curl -d q=TEXT')";
  const std::string encoding = request.get_header_value("Content-Encoding");
  const bool known = encoding.empty() || encoding == "identity" || encoding == "gzip" ||
                     encoding == "deflate" || encoding == "br";
  return known ? nullptr : "this Content-Encoding is not known: send gzip, deflate or br, or none";
}

/// True where a browser sends the request for a page of another origin. Of addresses that are neither HTTPS
/// nor on its own machine, browsers say no more than the page's origin.
bool from_another_origin(const httplib::Request& request) {
  const std::string origin = request.get_header_value("Origin");
  const std::string site = request.get_header_value("Sec-Fetch-Site");
  if (site.empty()) return !origin.empty() && !origin.ends_with("://" + request.get_header_value("Host"));
  const bool follows_link = request.get_header_value("Sec-Fetch-Mode") == "navigate" &&
                            (request.method == "GET" || request.method == "HEAD");
  return (site == "cross-site" || site == "same-site") && !follows_link;
}

/// What a client is told of a request that the library has refused with this status.
ApiError library_error(int status, const Connection& connection) {
  if (status == 414) return {414, "the address is longer than 8 kB: send less"};
  if (status == 416)
    return {416, "this header Range is not valid, and ranges are not supported: leave it out"};
  if (connection.header_too_large()) return {431, "the header is larger than 64 kB: send less"};
  if (connection.header_line_too_long()) return {431, "a line of the header is longer than 8 kB: send less"};
  return {status, "the request is not valid HTTP/1.1"};
}

}  // namespace

class Transport::Server : public httplib::Server {
 public:
  Server(const ServeOptions& options, HttpHandler handler, HttpObserver observer, Metrics& metrics)
      : options_(options),
        handler_(std::move(handler)),
        observer_(std::move(observer)),
        metrics_(&metrics),
        limits_{as_duration(options.read_timeout), as_duration(options.read_timeout)},
        pool_({static_cast<size_t>(options.connections), as_duration(options.idle_timeout)},
              [this](Connection& connection) { return serve(connection); }) {
    if (!options.certificate.empty()) tls_ = std::make_unique<TlsContext>(options.certificate, options.key);
    // What the library tells clients; the connections are ours.
    set_keep_alive_timeout(static_cast<time_t>(options.idle_timeout));
    set_keep_alive_max_count(1'000'000);
    set_default_headers({{"Accept-Ranges", "none"}});
    new_task_queue = [] { return new AtOnce; };
    using Request = httplib::Request;
    using Response = httplib::Response;
    set_pre_routing_handler([this](const Request& request, Response& response) {
      current->connection->begin_body();
      const auto refused = refusal_of(request);
      if (!refused) return cross_origin(request, response);
      refuse(*refused, response);
      return HandlerResponse::Handled;
    });
    set_error_handler(HandlerWithResponse([](const Request&, Response& response) {
      if (!response.body.empty()) return HandlerResponse::Unhandled;
      refuse(library_error(response.status, *current->connection), response);
      // Where an error is "handled", the library sends its body once for every range of a header Range that
      // it has just refused. Otherwise it leaves the length to us.
      response.set_header("Content-Length", std::to_string(response.body.size()));
      return HandlerResponse::Unhandled;
    }));
    set_exception_handler([](const Request&, Response& response, const std::exception_ptr&) {
      refuse({500, "the server failed at this request: send it again"}, response);
    });
    // Every answer comes through here, right before it is sent.
    set_post_routing_handler([this](const Request& request, Response& response) {
      if (!current->streamed) observe(request, response.status);
    });
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

  void accept_from(ServerSocket& socket) { svr_sock_ = socket.listen(); }

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
    if (!pool_.admit(connection)) refuse_connection(socket);
    return true;
  }

  /// Says so where that can be said without waiting: not before a client with TLS is greeted.
  void refuse_connection(socket_t socket) const {
    ++metrics_->connections_refused;
    if (tls_) return;
    ApiError full(503, "too many connections are open (--connections): try again later");
    full.retry_after = 1;
    const HttpAnswer answer = error_answer(full);
    const std::string text = fmt::format(
        "HTTP/1.1 {} Service Unavailable\r\nRetry-After: {}\r\nConnection: close\r\nContent-Type: {}\r\n"
        "Content-Length: {}\r\n\r\n{}",
        answer.status, full.retry_after, answer.content_type, answer.body.size(), answer.body);
    ::send(socket, text.data(), text.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
    observer_({"", "", answer.status, 0});
  }

  /// One request of a connection; true where another may follow.
  bool serve(Connection& connection) {
    metrics_->connections = static_cast<int64_t>(pool_.open());
    if (!connection.greet()) return false;
    connection.begin_request();
    Exchange exchange{&connection, {}};
    current = &exchange;
    ConnectionStream stream(connection);
    bool closed = false;
    const bool more = process_request(stream, closing, closed, [](httplib::Request& request) {
      // Answers go out as they are: the library would compress each anew, with Brotli's slowest setting.
      request.headers.erase("Accept-Encoding");
      // And whole: it would send a body once for every range that is asked for.
      request.headers.erase("Range");
      request.ranges.clear();
    });
    current = nullptr;
    return more && !closed && !connection.broken() && !closing;
  }

  void observe(const httplib::Request& request, int status) const {
    std::chrono::duration<double> took(0);
    if (current->complete) took = Clock::now() - *current->complete;
    observer_({known_method(request), request.path, status, took.count()});
  }

  /// Why a request is refused before its body is read, if it is.
  std::optional<ApiError> refusal_of(const httplib::Request& request) const {
    if (const char* mistake = ambiguous_body(request)) return ApiError(400, mistake);
    if (const char* mistake = unknown_body(request)) return ApiError(415, mistake);
    const bool allowed = options_.cors == "*" ||
                         (!options_.cors.empty() && options_.cors == request.get_header_value("Origin"));
    if (!allowed && from_another_origin(request))
      return ApiError(403, "pages of other origins may not use this server: allow theirs with --cors");
    return {};
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
      current->connection->give_up_input();
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
    current->connection->give_up_input();
    put(error_answer(error), response);
    response.set_header("Connection", "close");
  }

  void handle(const httplib::Request& request, httplib::Response& response, const std::string& body) {
    Connection* connection = current->connection;
    current->complete = Clock::now();
    HttpRequest plain{request.method,
                      request.path,
                      plain_type(request.get_header_value("Content-Type")),
                      request.get_header_value("Authorization"),
                      body,
                      [connection] { return !connection->closed_by_client(); }};
    try {
      HttpAnswer answer = handler_(plain);
      if (answer.stream) answer.stream = observed(std::move(answer.stream), request);
      put(answer, response);
    } catch (const Disconnected&) {
      connection->give_up();
      response.status = kClientGone;
    }
  }

  /// The same stream, reported at its end.
  HttpAnswer::Stream observed(HttpAnswer::Stream stream, const httplib::Request& request) const {
    current->streamed = true;
    return [this, stream = std::move(stream), &request](const HttpAnswer::Send& send) {
      const int status = stream(send);
      observe(request, status);
      return status;
    };
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
  HttpObserver observer_;
  Metrics* metrics_;
  std::unique_ptr<TlsContext> tls_;
  ConnectionLimits limits_;
  ConnectionPool pool_;  ///< last: its threads end first
};

Transport::Transport(const ServeOptions& options, HttpHandler handler, HttpObserver observer,
                     Metrics& metrics)
    : server_(std::make_unique<Server>(options, std::move(handler), std::move(observer), metrics)) {}

Transport::~Transport() = default;

void Transport::listen(ServerSocket& socket) {
  server_->accept_from(socket);
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
