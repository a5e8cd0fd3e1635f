#include "comm/mpi/mpi_lane.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "comm/mpi/mpi_calls.h"
#include "core/error.h"

namespace bertft::mpi {
namespace {

// Elements of a window: so many for each rank that a slice is worth a message, and not more than this in all.
constexpr int64_t kSliceElements = 4 * kWireBlockElements;
constexpr int64_t kWindowElements = 256 * kWireBlockElements;
// So many windows on their way that a rank finds something to do while another is late, within so much memory.
constexpr int64_t kMostWindows = 32;
constexpr int64_t kWindowsElements = 4 * kWindowElements;

// What a window waits for before its next step.
enum FlatStage { kFlatAdd, kFlatTake, kFlatStages };
enum HierarchicalStage { kNodeAdd, kRailAdd, kRailTake, kNodeTake, kHierarchicalStages };

}  // namespace

MpiLane::MpiLane(const Setup& setup) : setup_(setup), wait_(setup.topology, setup.gate, record_, setup.wait_limit_s) {
  const native::Topology& topology = setup_.topology;
  const auto place = std::find(topology.canonical.begin(), topology.canonical.end(), topology.rank);
  const auto split = [](MPI_Comm from, int color, int key, MPI_Comm& made) {
    require(MPI_Comm_split(from, color, key, &made), "MPI_Comm_split");
    if (made != MPI_COMM_NULL) require(MPI_Comm_set_errhandler(made, MPI_ERRORS_RETURN), "MPI_Comm_set_errhandler");
  };
  const auto split_both = [&](int color, int key, OwnerExchange::Comms& made) {
    split(headers_, color, key, made.contributions);
    split(headers_, color, key, made.results);
  };
  const int own = static_cast<int>(place - topology.canonical.begin());
  split(MPI_COMM_WORLD, 0, own, headers_);
  if (!setup_.is_hierarchical) {
    split_both(0, own, all_);
    return;
  }
  split_both(topology.node, topology.local_rank, node_);
  const bool has_rail = topology.local_rank < topology.local_slices;
  split_both(has_rail ? topology.local_rank : MPI_UNDEFINED, topology.node, rail_);
}

void MpiLane::free_communicators() {
  for (OwnerExchange::Comms* comms : {&rail_, &node_, &all_}) {
    for (MPI_Comm* comm : {&comms->results, &comms->contributions}) {
      if (*comm != MPI_COMM_NULL) require(MPI_Comm_free(comm), "MPI_Comm_free");
    }
  }
  require(MPI_Comm_free(&headers_), "MPI_Comm_free");
}

void MpiLane::attach(const Buffer& buffer) {
  const native::Topology& topology = setup_.topology;
  const int64_t most = std::min(kMostWindows, kWindowsElements / window_elements());
  const int slots = std::max(static_cast<int>(most), stages() + 1);
  for (int slot = 0; slot < slots; ++slot) free_slots_.push_back(slot);
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
                                            topology.size, slots);
    return;
  }
  in_node_ = std::make_unique<OwnerExchange>(context, node_, here, topology.local_rank, topology.local_slices, slots);
  if (rail_.results == MPI_COMM_NULL) return;
  // What comes from a node is the sum of its ranks, whose values were looked at when it was made.
  context.on_wrong = [](const ReduceJob&, int, int64_t, int64_t, const void*) {};
  between_nodes_ = std::make_unique<OwnerExchange>(context, rail_, rail, topology.node, topology.nodes(), slots);
}

int MpiLane::stages() const { return setup_.is_hierarchical ? int{kHierarchicalStages} : int{kFlatStages}; }

int64_t MpiLane::window_elements() const { return std::min(kSliceElements * setup_.topology.size, kWindowElements); }

// Borders lie on a grid of the flat buffer, so that blocks are whole where they can be.
std::vector<ElementRange> MpiLane::windows_of(ElementRange range) const {
  const int64_t size = window_elements();
  std::vector<ElementRange> windows;
  for (int64_t at = range.begin; at < range.end; at = windows.back().end) {
    windows.push_back({at, std::min(range.end, (at / size + 1) * size)});
  }
  return windows;
}

// Every rank gives its flags once and all combine the same words. Nobody's data leaves before all are here, so a rank
// that waits for late ones sleeps, and one that waits for data knows that it is on its way.
void MpiLane::post(const ReduceJob& job) {
  Job& posted = jobs_.emplace_back();
  posted.what = posted.inside = job;
  posted.inside.wire = WireType::kFp32;
  posted.mine = {++sequence_, job.step, job.range.begin, job.range.end, static_cast<int32_t>(job.wire), job.flags};
  posted.windows = windows_of(job.range);
  posted.all.resize(static_cast<size_t>(setup_.topology.size));
  wait_.start("MPI_Iallgather", [&] {
    return MPI_Iallgather(&posted.mine, sizeof posted.mine, MPI_BYTE, posted.all.data(), sizeof posted.mine, MPI_BYTE,
                          headers_, &posted.header.emplace_back());
  });
}

uint32_t MpiLane::wait_posted() {
  wait_.until_done([this] { return look(); }, [this] { return waits_for(); });
  return std::exchange(flags_, 0u);
}

// New contributions first, since others wait for them.
Progress MpiLane::look() {
  bool is_further = agree();
  while (start_window()) is_further = true;
  for (int stage = stages() - 1; stage >= 0; --stage) {
    while (advance(stage)) is_further = true;
  }
  while (!jobs_.empty() && jobs_.front().is_agreed && jobs_.front().ended == jobs_.front().windows.size()) {
    jobs_.pop_front();
    is_further = true;
  }
  if (jobs_.empty()) return Progress::kDone;
  return is_further ? Progress::kSome : Progress::kNone;
}

// Compares what the ranks say of the next jobs.
bool MpiLane::agree() {
  const native::Topology& topology = setup_.topology;
  bool is_further = false;
  for (Job& job : jobs_) {
    if (job.is_agreed) continue;
    if (!wait_.is_done(job.header)) break;
    for (size_t place = 0; place < job.all.size(); ++place) {
      refuse(job.all[place], job.mine, topology.canonical[place]);
      flags_ |= job.all[place].flags;
      if (topology.canonical[place] == topology.rank) continue;
      meter_.message_sent();
      meter_.sent(sizeof job.mine, 0);
      meter_.message_received();
      meter_.received(sizeof job.mine, 0);
    }
    job.is_agreed = is_further = true;
  }
  return is_further;
}

bool MpiLane::start_window() {
  if (free_slots_.empty()) return false;
  const auto is_started = [](const Job& job) { return job.is_agreed && job.started == job.windows.size(); };
  const auto job = std::find_if_not(jobs_.begin(), jobs_.end(), is_started);
  if (job == jobs_.end() || !job->is_agreed) return false;
  const Window& window = windows_.emplace_back(Window{&*job, job->windows[job->started++], free_slots_.back(), 0});
  free_slots_.pop_back();
  if (flat_) {
    flat_->send_contributions(window.slot, job->what, window.range);
  } else {
    in_node_->send_contributions(window.slot, job->inside, window.range);
  }
  return true;
}

bool MpiLane::advance(int stage) {
  const auto window =
      std::find_if(windows_.begin(), windows_.end(), [&](const Window& at) { return at.stage <= stage; });
  if (window == windows_.end() || window->stage != stage || !has_come(*window)) return false;
  take_step(*window);
  if (++window->stage < stages()) return true;
  ++window->job->ended;
  free_slots_.push_back(window->slot);
  windows_.erase(window);  // the first: nobody is in a later stage
  return true;
}

bool MpiLane::has_come(const Window& window) {
  const int slot = window.slot;
  if (flat_) {
    return window.stage == kFlatAdd ? flat_->have_contributions_come(slot) : flat_->have_results_come(slot);
  }
  if (window.stage == kNodeAdd) return in_node_->have_contributions_come(slot);
  if (window.stage == kNodeTake) return in_node_->have_results_come(slot);
  if (!between_nodes_) return true;
  return window.stage == kRailAdd ? between_nodes_->have_contributions_come(slot)
                                  : between_nodes_->have_results_come(slot);
}

void MpiLane::take_step(const Window& window) {
  const int slot = window.slot;
  if (flat_) {
    if (window.stage == kFlatTake) return flat_->take_results(slot);
    flat_->add_contributions(slot);
    return flat_->send_results(slot);
  }
  if (window.stage == kNodeAdd) {
    in_node_->add_contributions(slot);
    if (between_nodes_) {
      between_nodes_->send_contributions(slot, window.job->what, in_node_->own_slice(window.range));
    }
  } else if (window.stage == kRailAdd && between_nodes_) {
    between_nodes_->add_contributions(slot);
    between_nodes_->send_results(slot);
  } else if (window.stage == kRailTake) {
    if (between_nodes_) between_nodes_->take_results(slot);
    in_node_->send_results(slot);
  } else if (window.stage == kNodeTake) {
    in_node_->take_results(slot);
  }
}

TransportWait MpiLane::waits_for() const {
  const Job& job = jobs_.front();
  const char* what = "the other ranks";
  if (job.is_agreed && !windows_.empty()) {
    const bool is_result = windows_.front().stage == stages() - 1 || (!flat_ && windows_.front().stage == kRailTake);
    what = is_result ? "results" : "contributions";
  }
  return {setup_.lane, what, job.what.step, job.what.unit, {}};
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
