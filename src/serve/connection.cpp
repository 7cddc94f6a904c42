#include "serve/connection.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <openssl/err.h>
#include <openssl/ssl.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "base/error.h"

namespace synthesizer::serve {
namespace {

constexpr size_t kBuffer = 16 << 10;
constexpr ssize_t kWait = -2;
constexpr auto kLinger = std::chrono::seconds(1);

constexpr const char* kOtherKey = "the key does not belong to the certificate";

/// Why OpenSSL has refused a file; `unreadable`: what is said of contents that it cannot read.
std::string tls_reason(const char* unreadable) {
  const unsigned long code = ERR_get_error();
  ERR_clear_error();
  if (ERR_SYSTEM_ERROR(code)) return std::strerror(ERR_GET_REASON(code));
  return ERR_GET_LIB(code) == ERR_LIB_X509 ? kOtherKey : unreadable;
}

/// Nobody is there to type the password of an encrypted key.
int no_password(char*, int, int, void*) {
  return -1;
}

}  // namespace

TlsContext::TlsContext(const std::string& certificate, const std::string& key)
    : context_(SSL_CTX_new(TLS_server_method())) {
  if (!context_) throw std::bad_alloc();
  SSL_CTX_set_min_proto_version(context_, TLS1_2_VERSION);
  SSL_CTX_set_mode(context_, SSL_MODE_ENABLE_PARTIAL_WRITE | SSL_MODE_ACCEPT_MOVING_WRITE_BUFFER);
  SSL_CTX_set_default_passwd_cb(context_, no_password);
  auto check = [&](int done, const char* option, const std::string& file, const char* unreadable) {
    if (done == 1) return;
    const std::string reason = tls_reason(unreadable);
    SSL_CTX_free(context_);
    invalid(fmt::format("{} {} cannot be used: {}", option, file, reason));
  };
  check(SSL_CTX_use_certificate_chain_file(context_, certificate.c_str()), "--certificate", certificate,
        "it is not a PEM file with a certificate");
  check(SSL_CTX_use_PrivateKey_file(context_, key.c_str(), SSL_FILETYPE_PEM), "--key", key,
        "it is not a PEM file with a private key without a password");
  check(SSL_CTX_check_private_key(context_), "--key", key, kOtherKey);
}

TlsContext::~TlsContext() {
  SSL_CTX_free(context_);
}

Connection::Connection(int socket, const TlsContext* tls, const ConnectionLimits& limits)
    : idle_since(Clock::now()), socket_(socket), limits_(limits), greeted_(tls == nullptr) {
  ::fcntl(socket_, F_SETFL, ::fcntl(socket_, F_GETFL) | O_NONBLOCK);
  if (!tls) return;
  ssl_ = SSL_new(tls->get());
  if (!ssl_) throw std::bad_alloc();
  SSL_set_fd(ssl_, socket_);
}

Connection::~Connection() {
  if (ssl_) {
    if (greeted_ && !broken_) SSL_shutdown(ssl_);  // says goodbye; does not wait for an answer
    SSL_free(ssl_);
    ERR_clear_error();
  }
  ::shutdown(socket_, SHUT_WR);
  char rest[kBuffer];
  const auto deadline = Clock::now() + (linger_ ? kLinger : Clock::duration(0));
  for (;;) {
    const ssize_t got = ::recv(socket_, rest, sizeof rest, MSG_DONTWAIT);
    if (got == 0 || (got < 0 && errno != EAGAIN) || Clock::now() >= deadline) break;
    if (got < 0 && !wait(Wants::reading, deadline)) break;
  }
  ::close(socket_);
}

bool Connection::wait(Wants wants, Clock::time_point deadline) const {
  for (;;) {
    const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(deadline - Clock::now()).count();
    if (left <= 0) return false;
    pollfd poll = {socket_, static_cast<short>(wants == Wants::reading ? POLLIN : POLLOUT), 0};
    const int ready = ::poll(&poll, 1, static_cast<int>(std::min<long long>(left, 60'000)));
    if (ready > 0) return true;
    if (ready < 0 && errno != EINTR) return false;
  }
}

bool Connection::greet() {
  if (greeted_) return true;
  const auto deadline = Clock::now() + limits_.read_timeout;
  for (;;) {
    ERR_clear_error();
    const int done = SSL_accept(ssl_);
    if (done == 1) break;
    const int error = SSL_get_error(ssl_, done);
    const bool waits = error == SSL_ERROR_WANT_READ || error == SSL_ERROR_WANT_WRITE;
    if (!waits || !wait(error == SSL_ERROR_WANT_READ ? Wants::reading : Wants::writing, deadline)) {
      broken_ = true;
      return false;
    }
  }
  greeted_ = true;
  return true;
}

void Connection::begin_request() {
  in_header_ = true;
  header_read_ = line_read_ = longest_line_ = 0;
  read_deadline_ = Clock::now() + limits_.read_timeout;
}

ssize_t Connection::receive(char* to, size_t size, Wants& wants) {
  wants = Wants::reading;
  if (!ssl_) {
    const ssize_t got = ::recv(socket_, to, size, 0);
    return got < 0 && (errno == EAGAIN || errno == EWOULDBLOCK || errno == EINTR) ? kWait : got;
  }
  ERR_clear_error();
  const int got = SSL_read(ssl_, to, static_cast<int>(size));
  if (got > 0) return got;
  const int error = SSL_get_error(ssl_, got);
  if (error == SSL_ERROR_WANT_WRITE) wants = Wants::writing;
  if (error == SSL_ERROR_WANT_READ || error == SSL_ERROR_WANT_WRITE) return kWait;
  return error == SSL_ERROR_ZERO_RETURN ? 0 : -1;
}

ssize_t Connection::send(const char* from, size_t size, Wants& wants) {
  wants = Wants::writing;
  if (!ssl_) {
    const ssize_t sent = ::send(socket_, from, size, MSG_NOSIGNAL);
    return sent < 0 && (errno == EAGAIN || errno == EWOULDBLOCK || errno == EINTR) ? kWait : sent;
  }
  ERR_clear_error();
  const int sent = SSL_write(ssl_, from, static_cast<int>(std::min<size_t>(size, 1 << 20)));
  if (sent > 0) return sent;
  const int error = SSL_get_error(ssl_, sent);
  if (error == SSL_ERROR_WANT_READ) wants = Wants::reading;
  return error == SSL_ERROR_WANT_READ || error == SSL_ERROR_WANT_WRITE ? kWait : -1;
}

void Connection::count_header(const char* from, size_t size) {
  header_read_ += size;
  for (size_t n = 0; n < size; ++n) {
    longest_line_ = std::max(longest_line_, ++line_read_);
    if (from[n] == '\n') line_read_ = 0;
  }
}

ssize_t Connection::read(char* to, size_t size) {
  if (broken_ || size == 0) return broken_ ? -1 : 0;
  if (used_ == buffer_.size()) {
    buffer_.resize(kBuffer);
    used_ = 0;
    ssize_t got = 0;
    for (Wants wants = Wants::reading; (got = receive(buffer_.data(), kBuffer, wants)) == kWait;) {
      if (wait(wants, read_deadline_)) continue;
      got = -1;
      break;
    }
    buffer_.resize(static_cast<size_t>(std::max<ssize_t>(got, 0)));
    if (got <= 0) {
      broken_ = true;
      return got;
    }
  }
  const size_t taken = std::min(size, buffer_.size() - used_);
  if (in_header_) count_header(buffer_.data() + used_, taken);
  if (header_too_large()) {
    broken_ = true;
    return -1;
  }
  std::memcpy(to, buffer_.data() + used_, taken);
  used_ += taken;
  return static_cast<ssize_t>(taken);
}

ssize_t Connection::write(const char* from, size_t size) {
  size_t done = 0;
  while (done < size) {
    Wants wants = Wants::writing;
    const ssize_t sent = send(from + done, size - done, wants);
    if (sent > 0) {
      done += static_cast<size_t>(sent);
    } else if (sent != kWait || !wait(wants, Clock::now() + limits_.write_timeout)) {
      broken_ = true;
      return -1;
    }
  }
  return static_cast<ssize_t>(size);
}

bool Connection::has_input() const {
  return used_ < buffer_.size() || (ssl_ && SSL_pending(ssl_) > 0);
}

bool Connection::closed_by_client() const {
  pollfd poll = {socket_, POLLRDHUP, 0};
  return ::poll(&poll, 1, 0) > 0 && (poll.revents & (POLLRDHUP | POLLHUP | POLLERR)) != 0;
}

}  // namespace synthesizer::serve
