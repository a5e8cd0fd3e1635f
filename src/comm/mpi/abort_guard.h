// What lies under MPI may end this process by abort() when a peer dies in the middle of a transfer (UCX does where it
// copies from the peer's memory), before the control connections have told why. While a guard lives, an abort inside a
// call of MPI waits a moment for the cause, and the process ends with that.
#pragma once

#include <functional>
#include <string>

#include "comm/native/failure.h"

namespace bertft::mpi {

// One per process. Keeps the handler of SIGABRT that it found, for every other abort.
class AbortGuard {
 public:
  // `end_process(cause)` does not return. `failure` outlives this object.
  AbortGuard(const native::Failure& failure, std::function<void(const std::string& cause)> end_process);
  ~AbortGuard();
  AbortGuard(const AbortGuard&) = delete;
  AbortGuard& operator=(const AbortGuard&) = delete;

  // While one lives, this thread is inside a call of MPI.
  class Call {
   public:
    Call();
    ~Call();
    Call(const Call&) = delete;
    Call& operator=(const Call&) = delete;
  };

 private:
  static void on_abort(int signal);
  void wait_for_cause() const;

  const native::Failure& failure_;
  const std::function<void(const std::string&)> end_process_;
};

}  // namespace bertft::mpi
