#include "comm/mpi/mpi_transport.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "comm/mpi/mpi_calls.h"
#include "comm/mpi/mpi_impl.h"
#include "comm/native/native_transport.h"
#include "core/error.h"

namespace bertft {
namespace mpi {

MpiTransport::MpiTransport(native::Mesh mesh, MpiOptions options)
    : ConnectedTransport(std::move(mesh)),
      options_(std::move(options)),
      gate_(failures()),
      collective_wait_(topology(), gate_, collective_record(), options_.wait_limit_s) {
  if (options_.end_process) guard_.emplace(failures(), options_.end_process);
}

// MPI makes communicators in calls that nothing ends when a peer is lost: then whoever watches the transport ends the
// process.
void MpiTransport::open() {
  check(!is_open_, "open() twice");
  require(MPI_Comm_split(MPI_COMM_WORLD, 0, place_of(rank()), &collectives_), "MPI_Comm_split");
  require(MPI_Comm_set_errhandler(collectives_, MPI_ERRORS_RETURN), "MPI_Comm_set_errhandler");
  for (int lane = 0; lane < options_.lanes; ++lane) {
    lanes_.push_back(std::make_unique<MpiLane>(
        MpiLane::Setup{topology(), gate_, lane, is_summing_in_nodes_first(), options_.wait_limit_s}));
  }
  is_open_.store(true, std::memory_order_release);
}

// After a failure operations of MPI are left open, and the library may still write where they point until the process
// ends: what they use is not given back then.
MpiTransport::~MpiTransport() {
  if (is_closed_) return;
  for (std::unique_ptr<MpiLane>& lane : lanes_) static_cast<void>(lane.release());
}

bool MpiTransport::is_summing_in_nodes_first() const {
  return options_.is_hierarchical && nodes() > 1 && size() > nodes();
}

// A rank's number in communicators of canonical order.
int MpiTransport::place_of(int rank) const {
  const auto found = std::find(topology().canonical.begin(), topology().canonical.end(), rank);
  return static_cast<int>(found - topology().canonical.begin());
}

std::string MpiTransport::description() const {
  std::string text =
      fmt::format("mpi: {} rank(s) on {} node(s), {}, {} lane(s)", size(), nodes(), library_version(), options_.lanes);
  if (nodes() == 1) return text;
  return text + fmt::format(", {}, small messages over TCP through {}",
                            is_summing_in_nodes_first() ? "hierarchical" : "flat", interfaces());
}

const void* MpiTransport::attach(const GradientBuffer& buffer, WireMap map) {
  check(!gradients_, "attach() twice");
  native::require_equal_buffers(buffer, topology(), [this](const std::string& mine) { return all_gather(mine); });
  gradients_ = native::AttachedGradients(buffer, std::move(map));
  const auto on_wrong = [this](const ReduceJob& job, int rank, int64_t first, int64_t count, const void* elements) {
    report(job, rank, first, count, elements);
  };
  for (auto& lane : lanes_) {
    lane->attach({gradients_, on_wrong});
  }
  return buffer.data();
}

void MpiTransport::report(const ReduceJob& job, int rank, int64_t first, int64_t count, const void* elements) const {
  if (!options_.on_non_finite) return;
  if (const auto found = gradients_.find_non_finite(job, rank, first, count, elements)) options_.on_non_finite(*found);
}

MpiLane& MpiTransport::lane_at(int lane) {
  check(lane >= 0 && lane < options_.lanes, "a lane that is not there");
  return *lanes_[static_cast<size_t>(lane)];
}

uint32_t MpiTransport::all_reduce(int lane, const ReduceJob& job) {
  post(lane, job);
  return wait_posted(lane);
}

void MpiTransport::post(int lane, const ReduceJob& job) {
  failures().throw_if_set();
  gradients_.check_job(job);
  lane_at(lane).post(job);
}

uint32_t MpiTransport::wait_posted(int lane) {
  failures().throw_if_set();
  return lane_at(lane).wait_posted();
}

bool MpiTransport::progress(int /*lane*/) { throw InternalError("the MPI transport makes no sums in between"); }

// After everybody's good-bye nothing of MPI is open.
void MpiTransport::close() {
  if (is_closed_) return;
  control().say_bye();
  for (auto& lane : lanes_) lane->free_communicators();
  require(MPI_Comm_free(&collectives_), "MPI_Comm_free");
  is_closed_ = true;
}

TransportCounters MpiTransport::counters() const {
  TransportCounters result = common_counters();
  for (const auto& lane : lanes_) {
    result.lanes.push_back(lane->meter().counters());
    result.fp32_blocks += lane->meter().fp32_blocks();
  }
  return result;
}

std::vector<TransportWait> MpiTransport::waits() const {
  std::vector<const native::WaitRecord*> records;
  if (is_open_.load(std::memory_order_acquire)) {
    for (const auto& lane : lanes_) records.push_back(&lane->record());
  }
  return waits_of(records);
}

}  // namespace mpi

void require_mpi_can_work() {
  int is_started = 0;
  mpi::require(MPI_Initialized(&is_started), "MPI_Initialized");
  if (is_started == 0) {
    throw CommError(
        "comm.transport: mpi needs processes that mpirun or srun has started. Start with mpirun, or use native");
  }
  int provided = MPI_THREAD_SINGLE;
  mpi::require(MPI_Query_thread(&provided), "MPI_Query_thread");
  mpi::require_thread_level(provided, MPI_THREAD_MULTIPLE, "comm.transport: mpi",
                            "Use a build of MPI that allows it, or comm.transport: native, which does without");
}

std::unique_ptr<Transport> connect_mpi_transport(Bootstrap& bootstrap, const MpiOptions& options) {
  require_mpi_can_work();
  native::MeshOptions mesh_options;
  mesh_options.lanes = 0;
  mesh_options.interface = options.interface;
  mesh_options.port_base = options.port_base;
  mesh_options.connect_timeout_s = options.connect_timeout_s;
  mesh_options.connect_warn_s = options.connect_warn_s;
  const std::string node = options.node.empty() ? node_name() : options.node;
  return std::make_unique<mpi::MpiTransport>(native::connect_mesh(bootstrap, node, mesh_options), options);
}

std::unique_ptr<Transport> make_mpi_transport(Bootstrap& bootstrap, const MpiOptions& options) {
  std::unique_ptr<Transport> transport = connect_mpi_transport(bootstrap, options);
  transport->open();
  return transport;
}

}  // namespace bertft
