#include "comm/mpi/abort_guard.h"

#include <signal.h>

#include <atomic>
#include <chrono>
#include <thread>
#include <utility>

#include "core/error.h"

namespace bertft::mpi {
namespace {

// The kernel tells a process's peers of its end a little after its memory is gone; the launcher ends the others later.
constexpr auto kCauseTime = std::chrono::milliseconds(1500);
constexpr auto kLook = std::chrono::milliseconds(5);

std::atomic<const AbortGuard*> the_guard{nullptr};
struct sigaction former = {};
thread_local bool is_in_call = false;

}  // namespace

AbortGuard::AbortGuard(const native::Failure& failure, std::function<void(const std::string&)> end_process)
    : failure_(failure), end_process_(std::move(end_process)) {
  check(the_guard.exchange(this) == nullptr, "one guard of a process");
  struct sigaction action = {};
  action.sa_handler = on_abort;
  check(::sigaction(SIGABRT, &action, &former) == 0, "a signal handler could not be installed");
}

AbortGuard::~AbortGuard() {
  ::sigaction(SIGABRT, &former, nullptr);
  the_guard = nullptr;
}

AbortGuard::Call::Call() { is_in_call = true; }
AbortGuard::Call::~Call() { is_in_call = false; }

// abort() was called by this very thread, deep inside MPI, so what is not allowed in handlers of foreign signals (locks
// of the log, memory) is free here.
void AbortGuard::on_abort(int signal) {
  const AbortGuard* guard = the_guard;
  if (guard != nullptr && is_in_call) guard->wait_for_cause();
  ::sigaction(SIGABRT, &former, nullptr);
  ::raise(signal);
}

void AbortGuard::wait_for_cause() const {
  const auto end = std::chrono::steady_clock::now() + kCauseTime;
  while (!failure_.is_set() && std::chrono::steady_clock::now() < end) std::this_thread::sleep_for(kLook);
  if (failure_.is_set()) end_process_(failure_.cause());
}

}  // namespace bertft::mpi
