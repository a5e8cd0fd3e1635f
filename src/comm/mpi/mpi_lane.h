// One lane: communicators of its own, on which the ranks first compare each job and combine its flags, then sum it
// window by window, inside the nodes and between them. Several jobs may be on their way at once: what a rank does next
// is what has come, and only the order within each communicator is the same everywhere. Private to this folder: it
// knows MPI's types.
#pragma once

#include <mpi.h>

#include <cstdint>
#include <deque>
#include <memory>
#include <vector>

#include "comm/mpi/mpi_wait.h"
#include "comm/mpi/owner_exchange.h"
#include "comm/native/meter.h"
#include "comm/native/waiting.h"
#include "comm/transport.h"

namespace bertft::mpi {

// What a rank says of a job before anything of it travels. All ranks are of one build, on machines of one byte order.
struct JobHeader {
  int64_t sequence = 0;  // of the lane, from 1
  int64_t step = 0;
  int64_t begin = 0;
  int64_t end = 0;
  int32_t wire = 0;
  uint32_t flags = 0;  // may differ
};

class MpiLane {
 public:
  struct Setup {
    const native::Topology& topology;
    CallGate& gate;
    int lane;
    bool is_hierarchical;  // sum inside the nodes first
    double wait_limit_s;
  };
  struct Buffer {
    const native::AttachedGradients& gradients;  // outlives the lane
    OwnerExchange::OnWrong on_wrong;
  };
  // Collective: communicators are made in the same order on all ranks.
  explicit MpiLane(const Setup& setup);

  // Before the first job.
  void attach(const Buffer& buffer);
  // Collective, after the last job of a run without failures.
  void free_communicators();

  // See Transport. What is posted moves in wait_posted() alone.
  void post(const ReduceJob& job);
  uint32_t wait_posted();

  const native::Meter& meter() const { return meter_; }
  const native::WaitRecord& record() const { return record_; }

 private:
  struct Job {
    ReduceJob what;
    ReduceJob inside;  // the same in fp32, for what stays in a node
    JobHeader mine;
    std::vector<JobHeader> all;  // [place]
    std::vector<MPI_Request> header;
    bool is_agreed = false;
    std::vector<ElementRange> windows;
    size_t started = 0, ended = 0;  // windows
  };
  struct Window {
    Job* job = nullptr;
    ElementRange range;
    int slot = 0;
    int stage = 0;  // what it waits for
  };

  Progress look();
  bool agree();
  bool start_window();
  // Of the first window in a stage, the only one that may leave it.
  bool advance(int stage);
  bool has_come(const Window& window);
  void take_step(const Window& window);
  void refuse(const JobHeader& theirs, const JobHeader& mine, int rank) const;
  int64_t window_elements() const;
  std::vector<ElementRange> windows_of(ElementRange range) const;
  int stages() const;
  TransportWait waits_for() const;

  Setup setup_;
  native::WaitRecord record_;
  native::Meter meter_;
  MpiWait wait_;
  MPI_Comm headers_ = MPI_COMM_NULL;  // of all ranks, in canonical order
  OwnerExchange::Comms all_;          // the same; flat
  OwnerExchange::Comms node_;         // hierarchical: of this node
  OwnerExchange::Comms rail_;         // hierarchical: ranks with this local rank, one of each node
  std::unique_ptr<OwnerExchange> flat_, in_node_, between_nodes_;
  int64_t sequence_ = 0;
  std::deque<Job> jobs_;        // posted and not summed, in order
  std::deque<Window> windows_;  // on their way, in order: none is in a later stage than the one before it
  std::vector<int> free_slots_;
  uint32_t flags_ = 0;  // of what was summed since the last wait_posted()
};

}  // namespace bertft::mpi
