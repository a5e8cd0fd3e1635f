#include "comm/mpi/mpi_lane.h"

#include <fmt/format.h>

#include <algorithm>

#include "comm/mpi/mpi_calls.h"
#include "core/error.h"

namespace bertft::mpi {
namespace {

// Elements of a window: so many for each rank that a slice is worth a message, and not more than this in all.
constexpr int64_t kSliceElements = 4 * kWireBlockElements;
constexpr int64_t kWindowElements = 256 * kWireBlockElements;

// Each window passes through these, one step per turn of the loop; while it waits in one, others are on their way.
enum FlatStage { kFlatSend, kFlatAdd, kFlatTake, kFlatStages };
enum HierarchicalStage { kNodeSend, kNodeAdd, kRailAdd, kRailTake, kNodeTake, kHierarchicalStages };

}  // namespace

MpiLane::MpiLane(const Setup& setup) : setup_(setup), wait_(setup.topology, setup.gate, record_, setup.wait_limit_s) {
  const native::Topology& topology = setup_.topology;
  const auto place = std::find(topology.canonical.begin(), topology.canonical.end(), topology.rank);
  const auto split = [](MPI_Comm from, int color, int key, MPI_Comm& made) {
    require(MPI_Comm_split(from, color, key, &made), "MPI_Comm_split");
    if (made != MPI_COMM_NULL) require(MPI_Comm_set_errhandler(made, MPI_ERRORS_RETURN), "MPI_Comm_set_errhandler");
  };
  split(MPI_COMM_WORLD, 0, static_cast<int>(place - topology.canonical.begin()), all_);
  if (!setup_.is_hierarchical) return;
  split(all_, topology.node, topology.local_rank, node_);
  const bool has_rail = topology.local_rank < topology.local_slices;
  split(all_, has_rail ? topology.local_rank : MPI_UNDEFINED, topology.node, rail_);
}

void MpiLane::free_communicators() {
  for (MPI_Comm* comm : {&rail_, &node_, &all_}) {
    if (*comm != MPI_COMM_NULL) require(MPI_Comm_free(comm), "MPI_Comm_free");
  }
}

void MpiLane::attach(const Buffer& buffer) {
  const native::Topology& topology = setup_.topology;
  OwnerExchange::Context context{buffer.gradients, setup_.lane, wait_, meter_, buffer.on_wrong};
  std::vector<Member> all, here, rail;
  for (const int rank : topology.canonical) {
    const int node = topology.node_of[static_cast<size_t>(rank)];
    const std::vector<int>& members = topology.members[static_cast<size_t>(node)];
    all.push_back({rank, node});
    if (node == topology.node) here.push_back({rank, 0});
    const auto local = std::find(members.begin(), members.end(), rank) - members.begin();
    if (local == topology.local_rank) rail.push_back({rank, node});
  }
  if (!setup_.is_hierarchical) {
    const auto own = std::find(topology.canonical.begin(), topology.canonical.end(), topology.rank);
    flat_ = std::make_unique<OwnerExchange>(context, all_, all, static_cast<int>(own - topology.canonical.begin()),
                                            topology.size, kFlatStages);
    return;
  }
  in_node_ = std::make_unique<OwnerExchange>(context, node_, here, topology.local_rank, topology.local_slices,
                                             kHierarchicalStages);
  if (rail_ == MPI_COMM_NULL) return;
  // What comes from a node is the sum of its ranks, whose values were looked at when it was made.
  context.on_wrong = [](const ReduceJob&, int, int64_t, int64_t, const void*) {};
  between_nodes_ =
      std::make_unique<OwnerExchange>(context, rail_, rail, topology.node, topology.nodes(), kHierarchicalStages);
}

// Borders lie on a grid of the flat buffer, so that blocks are whole where they can be.
std::vector<ElementRange> MpiLane::windows_of(ElementRange range) const {
  const int64_t size = std::min(kSliceElements * setup_.topology.size, kWindowElements);
  std::vector<ElementRange> windows;
  for (int64_t at = range.begin; at < range.end; at = windows.back().end) {
    windows.push_back({at, std::min(range.end, (at / size + 1) * size)});
  }
  return windows;
}

uint32_t MpiLane::all_reduce(const ReduceJob& job) {
  const uint32_t flags = agree_on(job);
  ReduceJob inside = job;
  inside.wire = WireType::kFp32;
  const std::vector<ElementRange> windows = windows_of(job.range);
  const int count = static_cast<int>(windows.size());
  const int stages = setup_.is_hierarchical ? int{kHierarchicalStages} : int{kFlatStages};
  // The order of calls on a communicator is the same on all ranks, as MPI demands.
  for (int turn = 0; turn < count + stages - 1; ++turn) {
    for (int stage = 0; stage < stages; ++stage) {
      const int window = turn - stage;
      if (window < 0 || window >= count) continue;
      step(stage, window % stages, job, inside, windows[static_cast<size_t>(window)]);
    }
  }
  return flags;
}

void MpiLane::step(int stage, int slot, const ReduceJob& job, const ReduceJob& inside, ElementRange window) {
  if (flat_) {
    if (stage == kFlatSend) flat_->send_contributions(slot, job, window);
    if (stage == kFlatAdd) {
      flat_->add_contributions(slot);
      flat_->send_results(slot);
    }
    if (stage == kFlatTake) flat_->take_results(slot);
    return;
  }
  if (stage == kNodeSend) in_node_->send_contributions(slot, inside, window);
  if (stage == kNodeAdd) {
    in_node_->add_contributions(slot);
    if (between_nodes_) between_nodes_->send_contributions(slot, job, in_node_->own_slice(window));
  }
  if (stage == kRailAdd && between_nodes_) {
    between_nodes_->add_contributions(slot);
    between_nodes_->send_results(slot);
  }
  if (stage == kRailTake) {
    if (between_nodes_) between_nodes_->take_results(slot);
    in_node_->send_results(slot);
  }
  if (stage == kNodeTake) in_node_->take_results(slot);
}

// Every rank gives its flags once and all combine the same words. Nobody's data leaves before all are here, so a rank
// that waits for late ones sleeps, and one that waits for data knows that it is on its way.
uint32_t MpiLane::agree_on(const ReduceJob& job) {
  const native::Topology& topology = setup_.topology;
  const JobHeader mine{++sequence_, job.step, job.range.begin, job.range.end, static_cast<int32_t>(job.wire),
                       job.flags};
  std::vector<JobHeader> all(static_cast<size_t>(topology.size));
  std::vector<MPI_Request> requests(1);
  wait_.start("MPI_Iallgather", [&] {
    return MPI_Iallgather(&mine, sizeof mine, MPI_BYTE, all.data(), sizeof mine, MPI_BYTE, all_, requests.data());
  });
  wait_.until_done(requests, {setup_.lane, "the other ranks", job.step, job.unit, {}});
  uint32_t flags = 0;
  for (size_t place = 0; place < all.size(); ++place) {
    refuse(all[place], mine, topology.canonical[place]);
    flags |= all[place].flags;
    if (topology.canonical[place] == topology.rank) continue;
    meter_.message_sent();
    meter_.sent(sizeof mine, 0);
    meter_.message_received();
    meter_.received(sizeof mine, 0);
  }
  return flags;
}

void MpiLane::refuse(const JobHeader& theirs, const JobHeader& mine, int rank) const {
  if (theirs.sequence == mine.sequence && theirs.step == mine.step && theirs.begin == mine.begin &&
      theirs.end == mine.end && theirs.wire == mine.wire) {
    return;
  }
  const auto text = [](const JobHeader& job) {
    return fmt::format("elements {}..{} as {} (step {}, job {})", job.begin, job.end,
                       wire_type_name(static_cast<WireType>(job.wire)), job.step, job.sequence);
  };
  throw CommError(
      fmt::format("lane {}: {} sums {}, but {} are due. The ranks disagree about their units or rows: do all read the "
                  "same data with the same program?",
                  setup_.lane, setup_.topology.name_of(rank), text(theirs), text(mine)));
}

}  // namespace bertft::mpi
