#include "comm/mpi/mpi_transport.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "comm/mpi/mpi_calls.h"
#include "comm/mpi/mpi_impl.h"
#include "comm/native/native_transport.h"
#include "comm/wire/non_finite.h"
#include "core/error.h"

namespace bertft {
namespace mpi {

MpiTransport::MpiTransport(native::Mesh mesh, MpiOptions options)
    : options_(std::move(options)),
      topology_(std::move(mesh.topology)),
      closed_strangers_(mesh.closed_strangers),
      interfaces_(std::move(mesh.interfaces)),
      gate_(failure_),
      control_(std::make_unique<native::ControlPlane>(topology_, mesh.secret.job, std::move(mesh.control), failure_)),
      collective_wait_(topology_, gate_, collective_record_, options_.wait_limit_s) {
  if (options_.end_process) guard_.emplace(failure_, options_.end_process);
}

// MPI makes communicators in calls that nothing ends when a peer is lost: then whoever watches the transport ends the
// process.
void MpiTransport::open() {
  check(!is_open_, "open() twice");
  require(MPI_Comm_split(MPI_COMM_WORLD, 0, place_of(topology_.rank), &collectives_), "MPI_Comm_split");
  require(MPI_Comm_set_errhandler(collectives_, MPI_ERRORS_RETURN), "MPI_Comm_set_errhandler");
  for (int lane = 0; lane < options_.lanes; ++lane) {
    lanes_.push_back(std::make_unique<MpiLane>(
        MpiLane::Setup{topology_, gate_, lane, is_summing_in_nodes_first(), options_.wait_limit_s}));
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
  return options_.is_hierarchical && topology_.nodes() > 1 && topology_.size > topology_.nodes();
}

// A rank's number in communicators of canonical order.
int MpiTransport::place_of(int rank) const {
  const auto found = std::find(topology_.canonical.begin(), topology_.canonical.end(), rank);
  return static_cast<int>(found - topology_.canonical.begin());
}

std::string MpiTransport::description() const {
  std::string text = fmt::format("mpi: {} rank(s) on {} node(s), {}, {} lane(s)", topology_.size, topology_.nodes(),
                                 library_version(), options_.lanes);
  if (topology_.nodes() == 1) return text;
  return text + fmt::format(", {}, small messages over TCP through {}",
                            is_summing_in_nodes_first() ? "hierarchical" : "flat", interfaces_);
}

const void* MpiTransport::attach(const GradientBuffer& buffer, WireMap map) {
  check(elements_ == 0, "attach() twice");
  const std::vector<std::string> sizes = all_gather(fmt::format("{} bytes", buffer.bytes()));
  for (size_t rank = 0; rank < sizes.size(); ++rank) {
    if (sizes[rank] == sizes.front()) continue;
    throw CommError(fmt::format("{} has {} of gradients, {} {}: the ranks train different models",
                                topology_.name_of(static_cast<int>(rank)), sizes[rank], topology_.name_of(0),
                                sizes.front()));
  }
  map_ = std::move(map);
  element_bytes_ = buffer.element_bytes();
  elements_ = static_cast<int64_t>(buffer.bytes() / element_bytes_);
  const auto on_wrong = [this](const ReduceJob& job, int rank, int64_t first, int64_t count, const void* elements) {
    report(job, rank, first, count, elements);
  };
  for (auto& lane : lanes_) {
    lane->attach({map_, element_bytes_, static_cast<std::byte*>(buffer.data()), on_wrong});
  }
  return buffer.data();
}

void MpiTransport::report(const ReduceJob& job, int rank, int64_t first, int64_t count, const void* elements) const {
  if (!options_.on_non_finite) return;
  const auto found = element_bytes_ == sizeof(float) ? scan_non_finite(static_cast<const float*>(elements), count)
                                                     : scan_non_finite(static_cast<const double*>(elements), count);
  if (!found) return;
  options_.on_non_finite(
      {rank, first + found->first, job.step, job.unit, found->nan_count, found->inf_count, found->min, found->max});
}

void MpiTransport::check_job(const ReduceJob& job) const {
  check(element_bytes_ != 0, "a sum before attach()");
  check(job.range.begin >= 0 && job.range.begin <= job.range.end && job.range.end <= elements_,
        "a range outside the gradient buffer");
  check(job.range.begin % kAlignmentElements == 0, "a range that does not begin on an aligned border");
  check(job.wire == WireType::kFp32 || element_bytes_ == sizeof(float), "doubles travel as they are");
}

uint32_t MpiTransport::all_reduce(int lane, const ReduceJob& job) {
  check(lane >= 0 && lane < options_.lanes, "a lane that is not there");
  failure_.throw_if_set();
  check_job(job);
  return lanes_[static_cast<size_t>(lane)]->all_reduce(job);
}

void MpiTransport::post(int, const ReduceJob&) { throw InternalError("the MPI transport makes no sums in between"); }
bool MpiTransport::progress(int) { throw InternalError("the MPI transport makes no sums in between"); }
uint32_t MpiTransport::wait_posted(int) { throw InternalError("the MPI transport makes no sums in between"); }

void MpiTransport::abort(const std::string& cause) noexcept {
  try {
    control_->abort(fmt::format("{}: {}", topology_.name_of(topology_.rank), cause));
  } catch (...) {  // no memory for a better text
    control_->abort(cause);
  }
}

// After everybody's good-bye nothing of MPI is open.
void MpiTransport::close() {
  if (is_closed_) return;
  control_->say_bye();
  for (auto& lane : lanes_) lane->free_communicators();
  require(MPI_Comm_free(&collectives_), "MPI_Comm_free");
  is_closed_ = true;
}

TransportCounters MpiTransport::counters() const {
  TransportCounters result;
  for (const auto& lane : lanes_) {
    result.lanes.push_back(lane->meter().counters());
    result.fp32_blocks += lane->meter().fp32_blocks();
  }
  result.collectives = collective_meter_.counters();
  result.control = control_->counters();
  result.closed_strangers = closed_strangers_;
  return result;
}

std::vector<TransportWait> MpiTransport::waits() const {
  std::vector<TransportWait> result;
  if (!is_open_.load(std::memory_order_acquire)) return result;
  for (const auto& lane : lanes_) {
    if (auto wait = lane->record().get()) result.push_back(std::move(*wait));
  }
  if (auto wait = collective_record_.get()) result.push_back(std::move(*wait));
  return result;
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
