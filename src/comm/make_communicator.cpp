#include "comm/make_communicator.h"

#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <random>
#include <utility>

#include "comm/coordinator/fusion.h"
#include "comm/fusion_area.h"
#include "comm/launcher.h"
#include "comm/local_communicator.h"
#include "comm/mpi/mpi_transport.h"
#include "comm/native/native_transport.h"
#include "comm/nccl/nccl_start.h"
#include "comm/negotiator.h"
#include "comm/rank_communicator.h"
#include "comm/timeline/timeline_observer.h"
#include "core/error.h"
#include "core/log.h"

namespace bertft {
namespace {

constexpr int64_t kMiB = int64_t{1} << 20;
constexpr int64_t kBytesOfAnElement = 4;  // of fp32 gradients

bool is_horovod(const CommOptions& options) { return options.mode == "horovod"; }

WireType wire_of(const std::string& name) {
  for (const WireType type : {WireType::kFp32, WireType::kFp16, WireType::kBf16, WireType::kMixed}) {
    if (name == wire_type_name(type)) return type;
  }
  throw InternalError("a wire type that the options do not have: " + name);
}

SparseRule sparse_rule_of(const CommOptions& options) {
  if (is_horovod(options) || options.sparse_embeddings == "false") return SparseRule::kNever;
  if (options.transport == "nccl") return SparseRule::kNever;  // rows are packed on the CPU
  return options.sparse_embeddings == "true" ? SparseRule::kAnyUnused : SparseRule::kUpToHalf;
}

// A number that only this job has.
uint64_t job_number(Bootstrap& bootstrap) {
  std::random_device device;
  const uint64_t mine = (static_cast<uint64_t>(device()) << 32) | device();
  std::string bytes(sizeof mine, '\0');
  std::memcpy(bytes.data(), &mine, sizeof mine);
  uint64_t first = 0;
  std::memcpy(&first, bootstrap.all_gather(bytes).front().data(), sizeof first);
  return first;
}

int64_t fusion_bytes(const CommOptions& options, const World& world) {
  return rounded_threshold(options.horovod.fusion_mb * kMiB, world.has_equal_nodes() ? world.local_size : 0);
}

// The compute thread may be in the middle of anything, so nothing is unwound and MPI is not called.
void end_process(const std::string& cause) {
  log::error_of_rank(cause);
  ::_exit(static_cast<int>(ExitCode::kComm));
}

// Both transports take the same settings.
template <typename TransportOptions>
TransportOptions transport_options(const CommOptions& options, const std::shared_ptr<NonFiniteLog>& non_finite) {
  TransportOptions result;
  result.on_non_finite = [non_finite](const NonFinite& found) { non_finite->add(found); };
  result.interface = options.interface;
  result.port_base = static_cast<int>(options.port_base);
  result.lanes = is_horovod(options) ? 1 : static_cast<int>(options.lanes.value_or(1));
  result.is_hierarchical = is_horovod(options) ? options.horovod.hierarchical : options.hierarchical != "false";
  return result;
}

std::unique_ptr<Transport> make_transport(const CommOptions& options, Bootstrap& bootstrap,
                                          const std::shared_ptr<NonFiniteLog>& non_finite) {
  if (options.transport == "mpi") {
    auto mpi = transport_options<MpiOptions>(options, non_finite);
    mpi.end_process = end_process;
    return make_mpi_transport(bootstrap, mpi);
  }
  return make_native_transport(bootstrap, transport_options<NativeOptions>(options, non_finite));
}

std::string reduce_activity(const CommOptions& options) {
  if (options.transport == "mpi") return "MPI_ALLREDUCE";
  return options.transport == "nccl" ? "NCCL_ALLREDUCE" : "NATIVE_ALLREDUCE";
}

// What this rank writes for comm.timeline; null when it writes nothing.
std::shared_ptr<TimelineObserver> make_timeline(const CommOptions& options, const Layout& layout, const World& world,
                                                int lanes) {
  const std::string path = timeline_path(options.timeline, world.rank);
  if (path.empty()) return nullptr;
  return std::make_shared<TimelineObserver>(TimelineSettings{.path = path,
                                                             .reduce_activity = reduce_activity(options),
                                                             .shows_negotiation = !is_horovod(options),
                                                             .lanes = lanes},
                                            layout, world);
}

// The words of this node, ready for use on all of its ranks.
SharedMemory make_node_words(const Layout& layout, const World& world, Transport& transport) {
  const SharedMemory words = transport.share_words(node_words_bytes(layout, world.local_size));
  if (words && world.local_rank == 0) format_node_words(words, layout, world.local_size);
  transport.barrier();
  return words;
}

std::unique_ptr<Negotiator> make_negotiator(const CommOptions& options, const Layout& layout, const World& world,
                                            Bootstrap& bootstrap, Transport& transport, TimelineObserver* timeline) {
  const NegotiatorPlace place{job_number(bootstrap), world};
  if (!is_horovod(options)) {
    return make_decentral_negotiator(place, layout, make_node_words(layout, world, transport),
                                     options.negotiate == "static");
  }
  return make_coordinator_negotiator(place, layout,
                                     {.cycle_s = options.horovod.cycle_ms * 1e-3,
                                      .fusion_bytes = fusion_bytes(options, world),
                                      .cache_capacity = static_cast<int>(options.horovod.cache_capacity),
                                      .stall_warn_s = options.stall_warn_s,
                                      .stall_abort_s = 0.0,  // the communicator's watch knows slow from stuck
                                      .has_timeline = !options.timeline.empty(),
                                      .timeline = timeline != nullptr ? &timeline->timeline() : nullptr});
}

// Where sums need no waiting for other nodes and no core is free for a thread of their own, the compute thread makes
// them (docs/communicator.md). A timeline shows when each sum begins and ends, so it needs
// lanes.
SumThread sum_thread(const CommOptions& options, const Transport& transport, Bootstrap& bootstrap,
                     bool are_cores_filled) {
  if (is_horovod(options)) return SumThread::kControl;
  const std::vector<std::string> all = bootstrap.all_gather(are_cores_filled ? "filled" : "");
  const bool is_inline = transport.has_inline_sums() && std::count(all.begin(), all.end(), "") == 0;
  return is_inline && options.timeline.empty() ? SumThread::kCompute : SumThread::kLane;
}

}  // namespace

std::string resolved_wire(const CommOptions& options, const World& world) {
  if (is_horovod(options)) return options.horovod.wire;
  if (options.wire != "auto") return options.wire;
  if (options.transport == "nccl") return "bf16";  // it never repeats a sum, and bf16 has the exponents of fp32
  return world.nodes > 1 ? "mixed" : "fp32";
}

int64_t unit_elements(const CommOptions& options) {
  if (is_horovod(options)) return kUnitPerParameter;
  if (!options.unit_mb) return kDefaultUnitElements;
  return std::max<int64_t>(std::llround(*options.unit_mb * static_cast<double>(kMiB / kBytesOfAnElement)), 1);
}

int64_t gradient_elements(const CommOptions& options, const Layout& layout, const World& world) {
  if (world.size == 1 || !is_horovod(options)) return layout.trainable_total;
  return layout.trainable_total + FusionArea::elements_for(layout, fusion_bytes(options, world));
}

std::unique_ptr<Communicator> make_communicator(const CommOptions& options, const Layout& layout, const World& world,
                                                Bootstrap& bootstrap, const GradientBuffer& gradients,
                                                bool are_cores_filled) {
  if (options.transport == "mpi" && !is_launched()) {
    throw ConfigError(
        "comm.transport: mpi needs processes that mpirun or srun starts, and this one was started alone. Start it with "
        "mpirun (-np 1 will do), or set comm.transport: auto");
  }
  require_nccl_can_work(options, gradients);
  if (world.size == 1) {
    if (!options.timeline.empty()) {
      log::warn("comm.timeline: one process exchanges nothing, so " + options.timeline + " is not written");
    }
    return std::make_unique<LocalCommunicator>(layout, gradients.data());
  }
  const auto non_finite = std::make_shared<NonFiniteLog>();
  const WireType wire = wire_of(resolved_wire(options, world));
  std::unique_ptr<Transport> transport =
      options.transport == "nccl"
          ? start_nccl_transport(options, world, layout, wire != WireType::kFp32, bootstrap, non_finite)
          : make_transport(options, bootstrap, non_finite);
  const auto timeline = make_timeline(options, layout, world, transport->lanes());
  RankCommunicatorSettings settings{.wire = wire,
                                    .sums = sum_thread(options, *transport, bootstrap, are_cores_filled),
                                    .fuses_by_copy = is_horovod(options),
                                    .sparse_rows = sparse_rule_of(options),
                                    .stall = {options.stall_warn_s, options.stall_abort_s},
                                    .end_process = end_process};
  if (timeline) settings.observer = timeline;
  std::unique_ptr<Negotiator> negotiator =
      make_negotiator(options, layout, world, bootstrap, *transport, timeline.get());
  return std::make_unique<RankCommunicator>(world, std::move(transport), std::move(negotiator), layout, gradients,
                                            settings, non_finite);
}

}  // namespace bertft
