// The few socket operations of the native transport: non-blocking listeners and connections over TCP and inside a node
// (Unix domain, abstract names), and their options.
#pragma once

#include <cstdint>
#include <string>

#include "comm/native/fd.h"

namespace bertft::native {

// Listens on `address` ("" = all, IPv6 too) and `port` (0 = any free one). Throws CommError that names the port.
Fd listen_tcp(const std::string& address, int port);
int port_of(const Fd& listener);

// Starts to connect; the socket becomes writable when that has succeeded or failed. None when it failed at once, with
// the reason in `error`.
Fd start_connect_tcp(const std::string& address, int port, std::string& error);
// "" when a connection that was started stands, else why not.
std::string connect_error(const Fd& socket);

// Unix domain: the name lives in the abstract namespace and vanishes with the socket.
Fd listen_local(const std::string& name);
Fd connect_local(const std::string& name, std::string& error);
// Whether `error` says that nobody has that name: whoever had it has closed it, or ended.
bool is_refused(const std::string& error);

// None when nobody waits. `from` is the other side's address, for messages.
Fd accept_from(const Fd& listener, std::string& from);

// Control connections: a machine that is silent for 6 s, or leaves something unacknowledged that long, is gone. Never
// for data: a stopped peer's full window would look the same.
void watch_silence(const Fd& socket);
void send_at_once(const Fd& socket);  // TCP_NODELAY
bool is_tcp(const Fd& socket);

// What send() and recv() leave to do: `count` bytes went; or the other side ended or reset the connection.
struct IoResult {
  size_t count = 0;
  bool is_ended = false;
  int error = 0;  // with is_ended; 0: an orderly end
};
IoResult read_some(int socket, void* data, size_t bytes);  // never waits

}  // namespace bertft::native
