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
#include "comm/native/control_plane.h"
#include "comm/native/failure.h"
#include "comm/native/mesh.h"
#include "comm/native/node_memory.h"

namespace bertft::mpi {

class MpiTransport final : public Transport {
 public:
  MpiTransport(native::Mesh mesh, MpiOptions options);
  ~MpiTransport() override;

  int rank() const override { return topology_.rank; }
  int size() const override { return topology_.size; }
  int local_rank() const override { return topology_.local_rank; }
  int local_size() const override { return topology_.local_size(); }
  int node() const override { return topology_.node; }
  int nodes() const override { return topology_.nodes(); }
  std::string description() const override;

  void open() override;
  const void* attach(const GradientBuffer& buffer, WireMap map) override;
  int lanes() const override { return options_.lanes; }
  uint32_t all_reduce(int lane, const ReduceJob& job) override;
  // Never: MPI moves nothing between calls.
  void post(int lane, const ReduceJob& job) override;
  bool progress(int lane) override;
  uint32_t wait_posted(int lane) override;

  void broadcast(void* data, size_t bytes, int root) override;
  std::vector<std::string> all_gather(const std::string& mine) override;
  void barrier() override;

  SharedMemory share_words(size_t bytes) override { return native::share_words(topology_, *control_, bytes); }

  void send(int to, std::string_view bytes) override { control_->send(to, bytes); }
  std::optional<ControlMessage> receive(double timeout_s) override { return control_->receive(timeout_s); }
  void announce(std::string_view status) override { control_->announce(status); }
  std::vector<ControlMessage> take_announced() override { return control_->take_announced(); }
  void abort(const std::string& cause) noexcept override;
  std::string failure() const override { return failure_.cause(); }
  void close() override;

  TransportCounters counters() const override;
  std::vector<TransportWait> waits() const override;

 private:
  void check_job(const ReduceJob& job) const;
  void report(const ReduceJob& job, int rank, int64_t first, int64_t count, const void* elements) const;
  void gather(const void* mine, void* all, const std::vector<int>& bytes, const std::vector<int>& at);
  int place_of(int rank) const;
  bool is_summing_in_nodes_first() const;

  MpiOptions options_;
  native::Topology topology_;
  const int64_t closed_strangers_;
  const std::string interfaces_;
  native::Failure failure_;
  CallGate gate_;
  std::optional<AbortGuard> guard_;
  std::unique_ptr<native::ControlPlane> control_;

  native::WaitRecord collective_record_;
  native::Meter collective_meter_;
  MpiWait collective_wait_;
  MPI_Comm collectives_ = MPI_COMM_NULL;  // in canonical order

  // Since attach().
  WireMap map_;
  size_t element_bytes_ = 0;
  int64_t elements_ = 0;
  std::vector<std::unique_ptr<MpiLane>> lanes_;
  std::atomic<bool> is_open_{false};
  bool is_closed_ = false;
};

}  // namespace bertft::mpi
