// HTTP around any handler: what clients get where the handler fails or is not asked, and what is reported.

#include "serve/transport.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <condition_variable>
#include <mutex>
#include <stdexcept>
#include <thread>

#include "serve/error.h"

namespace synthesizer::serve {
namespace {

using ::testing::EndsWith;
using ::testing::HasSubstr;
using ::testing::StartsWith;

/// A connection to a port of this machine; -1 where it is refused.
int connected_socket(int port) {
  const int socket = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_in address = {};
  address.sin_family = AF_INET;
  address.sin_port = htons(static_cast<uint16_t>(port));
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  if (::connect(socket, reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0) return socket;
  ::close(socket);
  return -1;
}

TEST(ServerSocket, TakesItsPortAtOnceAndRefusesConnectionsUntilItListens) {
  ServerSocket socket("127.0.0.1", 0);
  ASSERT_GT(socket.port(), 0);
  EXPECT_EQ(connected_socket(socket.port()), -1);
  const int listening = socket.listen();
  const int client = connected_socket(socket.port());
  EXPECT_GE(client, 0);
  try {
    ServerSocket second("127.0.0.1", socket.port());
    FAIL();
  } catch (const std::runtime_error& failure) {
    EXPECT_THAT(failure.what(), StartsWith("cannot listen on 127.0.0.1:"));
    EXPECT_THAT(failure.what(), HasSubstr("in use"));
  }
  ::close(client);
  ::close(listening);
}

TEST(ServerSocket, OfTwoThatTakeAPortTheFirstToListenHasIt) {
  ServerSocket first("127.0.0.1", 0);
  ServerSocket second("127.0.0.1", first.port());
  const int listening = first.listen();
  EXPECT_THROW(second.listen(), std::runtime_error);
  ::close(listening);
}

TEST(ServerSocket, RefusesNamesThatAreNoAddress) {
  EXPECT_THROW(ServerSocket("no address", 0), std::runtime_error);
}

/// A server of one handler, and what its observer hears.
class Served {
 public:
  explicit Served(HttpHandler handler)
      : transport_(
            {}, std::move(handler), [this](const AnsweredRequest& one) { note(one); }, metrics_) {
    transport_.listen(socket_);
    thread_ = std::thread([this] { transport_.run(); });
  }
  ~Served() {
    transport_.stop();
    thread_.join();
    transport_.drain(Clock::now() + std::chrono::seconds(5));
  }

  /// What comes back until the server closes the connection.
  std::string send(const std::string& text) const {
    const int client = connected_socket(socket_.port());
    ::send(client, text.data(), text.size(), MSG_NOSIGNAL);
    std::string answer;
    char piece[4096];
    for (ssize_t got = 0; (got = ::recv(client, piece, sizeof piece, 0)) > 0;)
      answer.append(piece, static_cast<size_t>(got));
    ::close(client);
    return answer;
  }

  /// Waits for the next report.
  AnsweredRequest reported() {
    std::unique_lock lock(mutex_);
    EXPECT_TRUE(changed_.wait_for(lock, std::chrono::seconds(20), [&] { return !reports_.empty(); }));
    if (reports_.empty()) return {};
    AnsweredRequest first = std::move(reports_.front());
    reports_.erase(reports_.begin());
    return first;
  }

 private:
  void note(const AnsweredRequest& one) {
    const std::lock_guard lock(mutex_);
    reports_.push_back(one);
    changed_.notify_all();
  }

  std::mutex mutex_;
  std::condition_variable changed_;
  std::vector<AnsweredRequest> reports_;
  Metrics metrics_;
  ServerSocket socket_{"127.0.0.1", 0};
  Transport transport_;
  std::thread thread_;
};

std::string get(const std::string& headers = "") {
  return "GET /a HTTP/1.1\r\nConnection: close\r\n" + headers + "\r\n";
}

TEST(Transport, AnswersInTheFormOfErrorsWhereTheHandlerFails) {
  Served server([](const HttpRequest&) -> HttpAnswer { throw std::logic_error("secret"); });
  const std::string answer = server.send(get());
  EXPECT_THAT(answer, StartsWith("HTTP/1.1 500 "));
  EXPECT_THAT(answer, HasSubstr(R"({"error":{"message":"the server failed)"));
  EXPECT_THAT(answer, HasSubstr(R"("type":"server_error","param":null}})"));
  EXPECT_EQ(answer.find("secret"), std::string::npos);
  EXPECT_EQ(server.reported().status, 500);
}

TEST(Transport, SendsABodyOnceWhateverRangesAreAskedFor) {
  Served server([](const HttpRequest&) { return HttpAnswer{200, "text/plain", "abcdefgh", {}, {}}; });
  std::string many = "Range: bytes=0-";
  for (int n = 0; n < 1000; ++n) many += ",0-";
  for (const std::string& range : {std::string("Range: bytes=0-3"), many}) {
    const std::string answer = server.send(get(range + "\r\n"));
    EXPECT_THAT(answer, StartsWith("HTTP/1.1 200 "));
    EXPECT_THAT(answer, EndsWith("\r\n\r\nabcdefgh"));
    EXPECT_EQ(answer.find("Content-Range"), std::string::npos);
  }
  // The library refuses it, after it has read two ranges.
  const std::string refused = server.send(get("Range: bytes=0-1,0-1,5-1\r\n"));
  EXPECT_THAT(refused, StartsWith("HTTP/1.1 416 "));
  EXPECT_THAT(refused, HasSubstr("\r\n\r\n{\"error\":{\"message\":\"this header Range"));
  EXPECT_THAT(refused, EndsWith("}}"));
}

TEST(Transport, ReportsWhatAStreamEndsWith) {
  Served server([](const HttpRequest&) {
    HttpAnswer answer;
    answer.stream = [](const HttpAnswer::Send& send) {
      send("piece");
      return 503;
    };
    return answer;
  });
  EXPECT_THAT(server.send(get()), StartsWith("HTTP/1.1 200 "));
  const AnsweredRequest report = server.reported();
  EXPECT_EQ(report.status, 503);
  EXPECT_EQ(report.method, "GET");
  EXPECT_EQ(report.path, "/a");
}

TEST(Transport, ReportsWhatTheHandlerIsNotAskedFor) {
  Served server([](const HttpRequest&) { return HttpAnswer{}; });
  server.send("nonsense\r\n\r\n");
  const AnsweredRequest nonsense = server.reported();
  EXPECT_EQ(nonsense.status, 400);
  EXPECT_EQ(nonsense.method, "");
  server.send("GET /" + std::string(9000, 'a') + " HTTP/1.1\r\n\r\n");
  EXPECT_EQ(server.reported().status, 414);
  const std::string answer = server.send("GET /a HTTP/1.1\r\nX: " + std::string(9000, 'a') + "\r\n\r\n");
  EXPECT_THAT(answer, StartsWith("HTTP/1.1 431 "));
  EXPECT_THAT(answer, HasSubstr("a line of the header is longer than 8 kB"));
  const AnsweredRequest report = server.reported();
  EXPECT_EQ(report.status, 431);
  EXPECT_EQ(report.path, "/a");
  EXPECT_EQ(report.seconds, 0);
}

}  // namespace
}  // namespace synthesizer::serve
