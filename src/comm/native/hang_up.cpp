#include "comm/native/hang_up.h"

#include <poll.h>
#include <sys/socket.h>

#include <string_view>

#include "comm/native/frames.h"
#include "core/error.h"

namespace bertft::native {
namespace {

constexpr size_t kMostBytes = 65536;  // of what a peer says while ranks connect

// The cause in the first abort among the frames; "" when there is none.
std::string abort_in(std::string_view frames, uint64_t job) {
  while (frames.size() >= kControlHeaderBytes) {
    const ControlHeader header = decode_control(frames.substr(0, kControlHeaderBytes), job);
    frames.remove_prefix(kControlHeaderBytes);
    if (frames.size() < header.bytes) break;
    if (header.kind == ControlKind::kAbort) return std::string(frames.substr(0, header.bytes));
    frames.remove_prefix(header.bytes);
  }
  return "";
}

}  // namespace

std::string gone_cause(const std::string& name) {
  return name +
         " is gone: its connection ended without a good-bye. Its own log, or the kernel's if it was killed, has the "
         "reason";
}

std::optional<std::string> cause_of_end(const Fd& socket, uint64_t job, const std::string& name) {
  pollfd one = {socket.get(), POLLRDHUP, 0};
  if (::poll(&one, 1, 0) <= 0 || (one.revents & (POLLRDHUP | POLLHUP | POLLERR)) == 0) return std::nullopt;
  std::string bytes(kMostBytes, '\0');
  const ssize_t got = ::recv(socket.get(), bytes.data(), bytes.size(), MSG_PEEK | MSG_DONTWAIT);
  bytes.resize(got > 0 ? static_cast<size_t>(got) : 0);
  try {
    const std::string cause = abort_in(bytes, job);
    return cause.empty() ? gone_cause(name) : cause;
  } catch (const CommError& error) {
    return name + ": " + error.what();
  }
}

void send_abort(const Fd& socket, uint64_t job, const std::string& cause) {
  const std::string frame =
      encode(ControlHeader{ControlKind::kAbort, static_cast<uint32_t>(cause.size())}, job) + cause;
  // Little has been sent on a fresh connection, so all of it fits; a peer that is gone needs none of it.
  static_cast<void>(::send(socket.get(), frame.data(), frame.size(), MSG_NOSIGNAL | MSG_DONTWAIT));
}

}  // namespace bertft::native
