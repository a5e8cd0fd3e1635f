#include "comm/native/sockets.h"

#include <arpa/inet.h>
#include <fmt/format.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>
#include <sys/un.h>

#include <cerrno>
#include <cstddef>
#include <cstring>

#include "core/error.h"

namespace bertft::native {
namespace {

struct SocketAddress {
  sockaddr_storage storage = {};
  socklen_t bytes = 0;
  const sockaddr* get() const { return reinterpret_cast<const sockaddr*>(&storage); }
  int family() const { return storage.ss_family; }
};

bool tcp_address(const std::string& text, int port, SocketAddress& result) {
  auto* v4 = reinterpret_cast<sockaddr_in*>(&result.storage);
  auto* v6 = reinterpret_cast<sockaddr_in6*>(&result.storage);
  if (::inet_pton(AF_INET, text.c_str(), &v4->sin_addr) == 1) {
    v4->sin_family = AF_INET;
    v4->sin_port = htons(static_cast<uint16_t>(port));
    result.bytes = sizeof *v4;
    return true;
  }
  result = {};
  if (::inet_pton(AF_INET6, text.c_str(), &v6->sin6_addr) != 1) return false;
  v6->sin6_family = AF_INET6;
  v6->sin6_port = htons(static_cast<uint16_t>(port));
  result.bytes = sizeof *v6;
  return true;
}

SocketAddress local_address(const std::string& name) {
  SocketAddress result;
  auto* address = reinterpret_cast<sockaddr_un*>(&result.storage);
  check(name.size() + 1 < sizeof address->sun_path, "the name of a local socket is too long");
  address->sun_family = AF_UNIX;
  std::memcpy(address->sun_path + 1, name.data(), name.size());  // a leading zero: the abstract namespace
  result.bytes = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + 1 + name.size());
  return result;
}

Fd new_socket(int family) {
  Fd socket(::socket(family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  if (!socket && (errno == EMFILE || errno == ENFILE)) {
    throw ResourceError(fmt::format("no socket left: {}. Raise ulimit -n", std::strerror(errno)));
  }
  return socket;
}

void set_option(const Fd& socket, int level, int name, int value) {
  ::setsockopt(socket.get(), level, name, &value, sizeof value);
}

bool bind_and_listen(const Fd& socket, const SocketAddress& address) {
  return ::bind(socket.get(), address.get(), address.bytes) == 0 && ::listen(socket.get(), SOMAXCONN) == 0;
}

}  // namespace

Fd listen_tcp(const std::string& address, int port) {
  SocketAddress place;
  if (!tcp_address(address.empty() ? "::" : address, port, place)) {
    throw CommError(fmt::format("'{}' is no address to listen on", address));
  }
  Fd socket = new_socket(place.family());
  if (!socket && address.empty()) {  // a system without IPv6
    tcp_address("0.0.0.0", port, place);
    socket = new_socket(AF_INET);
  }
  set_option(socket, SOL_SOCKET, SO_REUSEADDR, 1);
  if (place.family() == AF_INET6) set_option(socket, IPPROTO_IPV6, IPV6_V6ONLY, address.empty() ? 0 : 1);
  if (bind_and_listen(socket, place)) return socket;
  throw CommError(fmt::format("port {}{} cannot be listened on: {}. Choose another comm.port_base, or 0 for free ports",
                              port, address.empty() ? "" : " of " + address, std::strerror(errno)));
}

int port_of(const Fd& listener) {
  sockaddr_storage place = {};
  socklen_t bytes = sizeof place;
  ::getsockname(listener.get(), reinterpret_cast<sockaddr*>(&place), &bytes);
  if (place.ss_family == AF_INET6) return ntohs(reinterpret_cast<const sockaddr_in6*>(&place)->sin6_port);
  return ntohs(reinterpret_cast<const sockaddr_in*>(&place)->sin_port);
}

Fd start_connect_tcp(const std::string& address, int port, std::string& error) {
  SocketAddress place;
  if (!tcp_address(address, port, place)) {
    error = "no address";
    return {};
  }
  Fd socket = new_socket(place.family());
  if (socket && (::connect(socket.get(), place.get(), place.bytes) == 0 || errno == EINPROGRESS)) return socket;
  error = std::strerror(errno);
  return {};
}

std::string connect_error(const Fd& socket) {
  int error = 0;
  socklen_t bytes = sizeof error;
  if (::getsockopt(socket.get(), SOL_SOCKET, SO_ERROR, &error, &bytes) != 0) error = errno;
  return error == 0 ? "" : std::strerror(error);
}

Fd listen_local(const std::string& name) {
  Fd socket = new_socket(AF_UNIX);
  if (!bind_and_listen(socket, local_address(name))) {
    throw CommError(
        fmt::format("a socket for the ranks of this node cannot be made ({}): {}", name, std::strerror(errno)));
  }
  return socket;
}

Fd connect_local(const std::string& name, std::string& error) {
  Fd socket = new_socket(AF_UNIX);
  const SocketAddress place = local_address(name);
  if (socket && ::connect(socket.get(), place.get(), place.bytes) == 0) return socket;
  error = std::strerror(errno);
  return {};
}

bool is_refused(const std::string& error) { return error == std::strerror(ECONNREFUSED); }

Fd accept_from(const Fd& listener, std::string& from) {
  sockaddr_storage place = {};
  socklen_t bytes = sizeof place;
  Fd socket(::accept4(listener.get(), reinterpret_cast<sockaddr*>(&place), &bytes, SOCK_CLOEXEC | SOCK_NONBLOCK));
  if (!socket) return socket;
  char text[INET6_ADDRSTRLEN] = "this node";
  if (place.ss_family == AF_INET) {
    ::inet_ntop(AF_INET, &reinterpret_cast<const sockaddr_in*>(&place)->sin_addr, text, sizeof text);
  } else if (place.ss_family == AF_INET6) {
    ::inet_ntop(AF_INET6, &reinterpret_cast<const sockaddr_in6*>(&place)->sin6_addr, text, sizeof text);
  }
  from = text;
  if (from.starts_with("::ffff:")) from.erase(0, 7);  // IPv4 on a socket of both families
  return socket;
}

bool is_tcp(const Fd& socket) {
  int domain = 0;
  socklen_t bytes = sizeof domain;
  ::getsockopt(socket.get(), SOL_SOCKET, SO_DOMAIN, &domain, &bytes);
  return domain == AF_INET || domain == AF_INET6;
}

void watch_silence(const Fd& socket) {
  set_option(socket, SOL_SOCKET, SO_KEEPALIVE, 1);
  set_option(socket, IPPROTO_TCP, TCP_KEEPIDLE, 2);
  set_option(socket, IPPROTO_TCP, TCP_KEEPINTVL, 1);
  set_option(socket, IPPROTO_TCP, TCP_KEEPCNT, 5);
  set_option(socket, IPPROTO_TCP, TCP_USER_TIMEOUT, 6000);
}

void send_at_once(const Fd& socket) { set_option(socket, IPPROTO_TCP, TCP_NODELAY, 1); }

IoResult read_some(int socket, void* data, size_t bytes) {
  const ssize_t got = ::recv(socket, data, bytes, MSG_DONTWAIT);
  if (got > 0) return {static_cast<size_t>(got), false, 0};
  if (got == 0) return {0, true, 0};
  if (errno == EAGAIN || errno == EWOULDBLOCK || errno == EINTR) return {};
  return {0, true, errno};
}

}  // namespace bertft::native
