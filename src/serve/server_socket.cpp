#include "serve/server_socket.h"

#include <fmt/format.h>
#include <netdb.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <memory>
#include <stdexcept>
#include <utility>

namespace synthesizer::serve {
namespace {

void switch_option(int socket, int level, int name, int value) {
  ::setsockopt(socket, level, name, &value, sizeof value);
}

/// A socket bound to the address; -1, with errno, where that cannot be done.
int bound_socket(const addrinfo& address) {
  const int socket = ::socket(address.ai_family, address.ai_socktype | SOCK_CLOEXEC, address.ai_protocol);
  if (socket < 0) return -1;
  // Without SO_REUSEPORT: two servers must not share a port.
  switch_option(socket, SOL_SOCKET, SO_REUSEADDR, 1);
  if (address.ai_family == AF_INET6) switch_option(socket, IPPROTO_IPV6, IPV6_V6ONLY, 0);
  if (::bind(socket, address.ai_addr, address.ai_addrlen) == 0) return socket;
  const int error = errno;
  ::close(socket);
  errno = error;
  return -1;
}

int port_of(int socket) {
  sockaddr_storage address = {};
  socklen_t size = sizeof address;
  ::getsockname(socket, reinterpret_cast<sockaddr*>(&address), &size);
  // The port is at the same place in addresses of both families.
  return ntohs(reinterpret_cast<const sockaddr_in*>(&address)->sin_port);
}

}  // namespace

ServerSocket::ServerSocket(const std::string& host, int64_t port)
    : address_(fmt::format("{}:{}", host, port)) {
  addrinfo wanted = {}, *found = nullptr;
  wanted.ai_family = AF_UNSPEC;
  wanted.ai_socktype = SOCK_STREAM;
  wanted.ai_flags = AI_PASSIVE;
  const char* node = host.empty() ? nullptr : host.c_str();
  if (const int error = ::getaddrinfo(node, std::to_string(port).c_str(), &wanted, &found))
    fail(::gai_strerror(error));
  const std::unique_ptr<addrinfo, decltype(&::freeaddrinfo)> addresses(found, ::freeaddrinfo);
  for (const addrinfo* one = found; one && socket_ < 0; one = one->ai_next) socket_ = bound_socket(*one);
  if (socket_ < 0) fail(std::strerror(errno));
  port_ = port_of(socket_);
}

ServerSocket::~ServerSocket() {
  if (socket_ >= 0) ::close(socket_);
}

int ServerSocket::listen() {
  if (::listen(socket_, SOMAXCONN) != 0) fail(std::strerror(errno));
  return std::exchange(socket_, -1);
}

void ServerSocket::fail(const std::string& reason) const {
  throw std::runtime_error(
      fmt::format("cannot listen on {}: {}: choose another --host or --port", address_, reason));
}

}  // namespace synthesizer::serve
