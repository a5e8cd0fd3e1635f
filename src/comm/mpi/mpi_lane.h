// One lane: communicators of its own, on which the ranks first compare the job and combine its flags, then sum it
// window by window, inside the nodes and between them. Private to this folder: it knows MPI's types.
#pragma once

#include <mpi.h>

#include <cstdint>
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

  // See Transport::all_reduce.
  uint32_t all_reduce(const ReduceJob& job);

  const native::Meter& meter() const { return meter_; }
  const native::WaitRecord& record() const { return record_; }

 private:
  uint32_t agree_on(const ReduceJob& job);
  void refuse(const JobHeader& theirs, const JobHeader& mine, int rank) const;
  std::vector<ElementRange> windows_of(ElementRange range) const;
  void step(int stage, int window, const ReduceJob& job, const ReduceJob& inside, ElementRange range);

  Setup setup_;
  native::WaitRecord record_;
  native::Meter meter_;
  MpiWait wait_;
  MPI_Comm all_ = MPI_COMM_NULL;   // in canonical order
  MPI_Comm node_ = MPI_COMM_NULL;  // hierarchical: of this node
  MPI_Comm rail_ = MPI_COMM_NULL;  // hierarchical: ranks with this local rank, one of each node
  std::unique_ptr<OwnerExchange> flat_, in_node_, between_nodes_;
  int64_t sequence_ = 0;
};

}  // namespace bertft::mpi
