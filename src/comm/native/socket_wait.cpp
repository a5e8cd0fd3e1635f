#include "comm/native/socket_wait.h"

#include <fmt/format.h>

#include <cstring>

#include "comm/native/doorbell.h"
#include "core/error.h"

namespace bertft::native {
namespace {

constexpr int kLong = 200;        // ms, after which a wait is shown in reports
constexpr int kCauseTime = 1000;  // ms

}  // namespace

void SocketWait::wait(std::vector<pollfd>& polls, const std::function<TransportWait()>& describe) {
  const Deadline deadline = deadline_in(wait_limit_s_);
  polls.push_back({failure_.event(), POLLIN, 0});
  bool has_record = false;
  while (::poll(polls.data(), polls.size(), kLong) <= 0) {
    failure_.throw_if_set();
    if (!has_record) record_.set(describe());
    has_record = true;
    if (deadline && std::chrono::steady_clock::now() >= *deadline) {
      record_.clear();
      throw CommError(late_text(describe(), wait_limit_s_, topology_));
    }
  }
  if (has_record) record_.clear();
  polls.pop_back();
  failure_.throw_if_set();
}

void SocketWait::connection_lost(int rank, int error, const char* channel) {
  pollfd one = {failure_.event(), POLLIN, 0};
  ::poll(&one, 1, kCauseTime);
  failure_.set(fmt::format("the connection of {} with {} broke: {}", channel, topology_.name_of(rank),
                           error == 0 ? "the other side closed it" : std::strerror(error)));
  throw CommError(failure_.cause());
}

}  // namespace bertft::native
