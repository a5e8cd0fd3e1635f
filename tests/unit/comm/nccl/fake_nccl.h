// An in-process fake of NCCL and the CUDA runtime for N ranks as threads: streams are threads that fall behind at
// random, communicators are nonblocking, and what would hang, crash or corrupt a real job is written down as a
// violation: launches in different orders on two ranks, two threads at once, calls on a communicator that is busy or
// gone, memory of the wrong kind, things that are not given back.
#pragma once

#include <atomic>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "comm/nccl/nccl_functions.h"
#include "tests/unit/comm/nccl/fake_meeting.h"
#include "tests/unit/comm/nccl/fake_stream.h"

namespace bertft::test {

// What goes wrong on one rank, and how late it is.
struct FakeTrouble {
  int most_delay_us = 0;            // of each piece of work on a stream, and of calls that have not taken effect
  std::string device = "";          // its identity; "" : one of its own
  int devices = 1;                  // on this rank's node
  std::string init_error = "";      // connecting fails
  int64_t error_at_operation = -1;  // that one and the ones behind it never end, and async_error() says why
  std::string error = "unhandled system error";
  double abort_takes_s = 0.0;
};

struct FakeCounts {
  int64_t operations = 0;     // of NCCL
  int64_t synchronising = 0;  // calls that make host and device wait for each other
  int64_t registrations = 0;  // made so far
  int64_t aborts = 0;
  int64_t aborts_ended = 0;
  // What is there now.
  int64_t live_memory = 0;
  int64_t live_registrations = 0;
  int64_t live_communicators = 0;
  int64_t live_streams = 0;
  int64_t live_events = 0;
  size_t nccl_threads = 0;  // that called NCCL so far
};

class FakeTable;

class FakeCluster {
 public:
  explicit FakeCluster(std::vector<FakeTrouble> troubles);
  ~FakeCluster();

  // One table per rank, made once.
  std::shared_ptr<nccl::Functions> functions(int rank);
  FakeCounts counts(int rank) const;
  // Somebody still holds the rank's table.
  bool is_used(int rank) const { return tables_[static_cast<size_t>(rank)].use_count() > 1; }
  // Puts work on a rank's default stream, as a kernel that computes gradients.
  void compute(int rank, std::function<void()> work);
  std::vector<std::string> violations() const;

  // For the tables.
  int ranks() const { return static_cast<int>(troubles_.size()); }
  const FakeTrouble& trouble(int rank) const { return troubles_[static_cast<size_t>(rank)]; }
  void violate(const std::string& text);
  nccl::UniqueId open();
  std::shared_ptr<FakeMeeting> meeting(const nccl::UniqueId& id, int size);
  // `rank` launches an operation: every pair of ranks must launch those that both take part in in one order.
  void launched(int rank, const FakeMeeting& meeting, const FakeOperation& operation);

 private:
  std::vector<FakeTrouble> troubles_;
  std::vector<std::shared_ptr<FakeTable>> tables_;
  mutable std::mutex mutex_;
  std::vector<std::string> violations_;
  std::map<int, std::shared_ptr<FakeMeeting>> meetings_;
  int opened_ = 0;
  std::map<std::pair<int, int>, std::vector<std::string>> sequences_;  // [rank, peer]: what rank launched of both
};

}  // namespace bertft::test
