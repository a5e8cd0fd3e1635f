// Waiting for operations of MPI without holding a core, and never beyond the first failure of the job: MPI itself would
// wait for a dead peer for ever. Private to this folder.
#pragma once

#include <mpi.h>

#include <atomic>
#include <functional>
#include <vector>

#include "comm/native/failure.h"
#include "comm/native/topology.h"
#include "comm/native/waiting.h"

namespace bertft::mpi {

// What all threads of a transport share. Whoever calls MPI may move the transfers of all of them, so buffers are given
// back after a failure only when no thread is in a call any more, and none enters one then.
class CallGate {
 public:
  explicit CallGate(native::Failure& failure) : failure_(failure) {}
  // Returns what `call` returns. Throws CommError instead when the job has failed.
  int pass(const std::function<int()>& call);
  // Throws CommError with the cause of the failure, once nobody is in a call.
  [[noreturn]] void leave();
  native::Failure& failure() { return failure_; }

 private:
  native::Failure& failure_;
  std::atomic<int> inside_{0};
};

// How far a look at operations of MPI has brought a thread.
enum class Progress { kNone, kSome, kDone };

// One per lane and for the collectives; used by one thread at a time. Every call of MPI of that thread goes through
// start(), is_done() or until_done(), so nothing is asked of MPI once the job has failed: the process then ends without
// it.
class MpiWait {
 public:
  // `wait_limit_s`: a wait that takes longer ends with an error; 0: none.
  MpiWait(const native::Topology& topology, CallGate& gate, native::WaitRecord& record, double wait_limit_s)
      : topology_(topology), gate_(gate), record_(record), wait_limit_s_(wait_limit_s) {}

  // Throws CommError when the job has failed or `call()`, which starts an operation, does not succeed.
  void start(const char* what, const std::function<int()>& call);
  // Asks MPI once; true when all of `requests` are done, which empties them.
  bool is_done(std::vector<MPI_Request>& requests);
  // Calls look() until it gives kDone, and rests in between when it has brought nothing. `place()`: what is waited for,
  // for reports about stalls.
  void until_done(const std::function<Progress()>& look, const std::function<TransportWait()>& place);
  // Returns when all of `requests` are done, which empties them.
  void until_done(std::vector<MPI_Request>& requests, const TransportWait& place);

 private:
  void take(int code, const char* what);

  const native::Topology& topology_;
  CallGate& gate_;
  native::WaitRecord& record_;
  const double wait_limit_s_;
};

}  // namespace bertft::mpi
