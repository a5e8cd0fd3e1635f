#include "comm/make_communicator.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <random>
#include <utility>

#include "comm/connect_ranks.h"
#include "comm/coordinator/fusion.h"
#include "comm/fusion_area.h"
#include "comm/local_communicator.h"
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
uint64_t job_number(RankLink& link) {
  std::random_device device;
  const uint64_t mine = (static_cast<uint64_t>(device()) << 32) | device();
  std::string bytes(sizeof mine, '\0');
  std::memcpy(bytes.data(), &mine, sizeof mine);
  uint64_t first = 0;
  std::memcpy(&first, link.all_gather(bytes).front().data(), sizeof first);
  return first;
}

int64_t fusion_bytes(const CommOptions& options, const World& world) {
  return rounded_threshold(options.horovod.fusion_mb * kMiB, world.has_equal_nodes() ? world.local_size : 0);
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
SharedMemory make_node_words(const Layout& layout, RankLink& link) {
  const World& world = link.world();
  const RankWatch::Waiting here(link.watch());
  const SharedMemory words = link.transport().share_words(node_words_bytes(layout, world.local_size));
  if (words && world.local_rank == 0) format_node_words(words, layout, world.local_size);
  link.transport().barrier();
  return words;
}

std::unique_ptr<Negotiator> make_negotiator(const CommOptions& options, const Layout& layout, RankLink& link,
                                            TimelineObserver* timeline) {
  const World& world = link.world();
  const NegotiatorPlace place{job_number(link), world};
  if (!is_horovod(options)) {
    return make_decentral_negotiator(place, layout, make_node_words(layout, link), options.negotiate == "static");
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
SumThread sum_thread(const CommOptions& options, RankLink& link, bool are_cores_filled) {
  if (is_horovod(options)) return SumThread::kControl;
  const std::vector<std::string> all = link.all_gather(are_cores_filled ? "filled" : "");
  const bool is_inline = link.transport().has_inline_sums() && std::count(all.begin(), all.end(), "") == 0;
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
                                                bool are_cores_filled, std::shared_ptr<RankLink> link) {
  require_transport_can_work(options, world);
  require_nccl_can_work(options, gradients);
  if (world.size == 1) {
    if (!options.timeline.empty()) {
      log::warn("comm.timeline: one process exchanges nothing, so " + options.timeline + " is not written");
    }
    return std::make_unique<LocalCommunicator>(layout, gradients.data());
  }
  const WireType wire = wire_of(resolved_wire(options, world));
  if (options.transport == "nccl") {
    const auto non_finite = std::make_shared<NonFiniteLog>();
    link = std::make_shared<RankLink>(
        world, start_nccl_transport(options, world, layout, wire != WireType::kFp32, bootstrap, non_finite),
        watch_settings(options), non_finite);
  } else if (link == nullptr) {
    link = connect_ranks(options, world, bootstrap);
  }
  const auto timeline = make_timeline(options, layout, world, link->transport().lanes());
  const bool makes_batches = link->transport().has_batches() && !is_horovod(options) && !timeline;
  RankCommunicatorSettings settings{.wire = wire,
                                    .sums = sum_thread(options, *link, are_cores_filled),
                                    .fuses_by_copy = is_horovod(options),
                                    .sparse_rows = sparse_rule_of(options),
                                    .makes_batches = makes_batches};
  if (timeline) settings.observer = timeline;
  std::unique_ptr<Negotiator> negotiator = make_negotiator(options, layout, *link, timeline.get());
  return std::make_unique<RankCommunicator>(std::move(link), std::move(negotiator), layout, gradients, settings);
}

}  // namespace bertft
