// The members of the MPI transport. Private to this folder: it knows MPI's types.
#pragma once

#include <mpi.h>

#include <atomic>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "comm/mpi/abort_guard.h"
#include "comm/mpi/mpi_lane.h"
#include "comm/mpi/mpi_transport.h"
#include "comm/native/attached_gradients.h"
#include "comm/native/connected_transport.h"

namespace bertft::mpi {

class MpiTransport final : public native::ConnectedTransport {
 public:
  MpiTransport(native::Mesh mesh, MpiOptions options);
  ~MpiTransport() override;

  std::string description() const override;

  void open() override;
  const void* attach(const GradientBuffer& buffer, WireMap map) override;
  int lanes() const override { return options_.lanes; }
  uint32_t all_reduce(int lane, const ReduceJob& job) override;
  // MPI moves nothing between calls, so not in between.
  bool has_batches() const override { return true; }
  void post(int lane, const ReduceJob& job) override;
  bool progress(int lane) override;
  uint32_t wait_posted(int lane) override;

  void broadcast(void* data, size_t bytes, int root) override;
  std::vector<std::string> all_gather(const std::string& mine) override;
  void barrier() override;

  void close() override;

  TransportCounters counters() const override;
  std::vector<TransportWait> waits() const override;

 private:
  MpiLane& lane_at(int lane);
  void report(const ReduceJob& job, int rank, int64_t first, int64_t count, const void* elements) const;
  void gather(const void* mine, void* all, const std::vector<int>& bytes, const std::vector<int>& at);
  int place_of(int rank) const;
  bool is_summing_in_nodes_first() const;

  MpiOptions options_;
  CallGate gate_;
  std::optional<AbortGuard> guard_;
  MpiWait collective_wait_;
  MPI_Comm collectives_ = MPI_COMM_NULL;  // in canonical order

  // Since attach().
  native::AttachedGradients gradients_;
  std::vector<std::unique_ptr<MpiLane>> lanes_;
  std::atomic<bool> is_open_{false};
  bool is_closed_ = false;
};

}  // namespace bertft::mpi
