#include "comm/mpi/mpi_wait.h"

#include <poll.h>
#include <sched.h>

#include <algorithm>
#include <chrono>
#include <thread>

#include "comm/mpi/abort_guard.h"
#include "comm/mpi/mpi_calls.h"
#include "core/error.h"
#include "core/timer.h"

namespace bertft::mpi {
namespace {

// Operations of MPI advance only while somebody asks for them, so a waiting thread asks again and again: at once for
// as long as data is moving, then after longer and longer sleeps.
constexpr int kYields = 40;
constexpr std::chrono::microseconds kShortest(10);
constexpr std::chrono::microseconds kLongest(200);
constexpr double kLong = 0.2;     // s, after which a wait is shown in reports
constexpr int kCauseTime = 1000;  // ms

}  // namespace

int CallGate::pass(const std::function<int()>& call) {
  inside_.fetch_add(1);
  if (failure_.is_set()) {
    inside_.fetch_sub(1);
    leave();
  }
  const AbortGuard::Call marked;
  const int code = call();
  inside_.fetch_sub(1);
  return code;
}

void CallGate::leave() {
  while (inside_.load() > 0) std::this_thread::sleep_for(kShortest);
  throw CommError(failure_.cause());
}

void MpiWait::start(const char* what, const std::function<int()>& call) { take(gate_.pass(call), what); }

// An error of MPI is often the death of a peer: gives the control connections a second to say so.
void MpiWait::take(int code, const char* what) {
  try {
    require(code, what);
  } catch (const CommError& error) {
    pollfd cause = {gate_.failure().event(), POLLIN, 0};
    ::poll(&cause, 1, kCauseTime);
    gate_.failure().set(topology_.name_of(topology_.rank) + ": " + error.what());
    gate_.leave();
  }
}

bool MpiWait::is_done(std::vector<MPI_Request>& requests) {
  int is_done = 0;
  const auto test = [&] {
    return MPI_Testall(static_cast<int>(requests.size()), requests.data(), &is_done, MPI_STATUSES_IGNORE);
  };
  take(gate_.pass(test), "a transfer");
  if (is_done != 0) requests.clear();
  return is_done != 0;
}

void MpiWait::until_done(const std::function<Progress()>& look, const std::function<TransportWait()>& place) {
  Timer waited;  // since the last progress
  std::chrono::microseconds rest = kShortest;
  bool has_record = false;
  for (int tries = 0;; ++tries) {
    const Progress progress = look();
    if (progress == Progress::kDone) break;
    if (progress == Progress::kSome) {
      if (has_record) record_.clear();
      has_record = false;
      waited.restart();
      rest = kShortest;
      tries = 0;
      continue;
    }
    if (tries < kYields) {
      ::sched_yield();
      continue;
    }
    std::this_thread::sleep_for(rest);
    rest = std::min(2 * rest, kLongest);
    if (!has_record && waited.seconds() > kLong) {
      record_.set(place());
      has_record = true;
    }
    if (wait_limit_s_ > 0.0 && waited.seconds() > wait_limit_s_) {
      gate_.failure().set(topology_.name_of(topology_.rank) + ": " +
                          native::late_text(place(), wait_limit_s_, topology_));
      gate_.leave();
    }
  }
  if (has_record) record_.clear();
}

void MpiWait::until_done(std::vector<MPI_Request>& requests, const TransportWait& place) {
  until_done([&] { return is_done(requests) ? Progress::kDone : Progress::kNone; }, [&] { return place; });
}

}  // namespace bertft::mpi
