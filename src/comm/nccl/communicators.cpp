#include "comm/nccl/communicators.h"

#include <fmt/format.h>

#include <algorithm>
#include <thread>

#include "comm/nccl/backoff.h"
#include "core/error.h"
#include "core/timer.h"

namespace bertft::nccl {

Communicators::Communicators(Functions& functions, const native::Topology& topology, CommunicatorsSettings settings)
    : functions_(functions),
      rank_(topology.rank),
      settings_(std::move(settings)),
      groups_of_lane_(settings_.is_hierarchical ? 2 : 1) {
  std::vector<int> everybody;
  std::vector<int> rail;
  for (int rank = 0; rank < topology.size; ++rank) everybody.push_back(rank);
  for (const std::vector<int>& members : topology.members) {
    const auto place = static_cast<size_t>(topology.local_rank);
    if (place < members.size()) rail.push_back(members[place]);
  }
  std::sort(rail.begin(), rail.end());
  for (int lane = 0; lane < settings_.lanes; ++lane) {
    const std::string name = fmt::format("lane {}", lane);
    if (!settings_.is_hierarchical) {
      groups_.push_back(make_group(name, everybody));
      continue;
    }
    groups_.push_back(make_group(name + ", inside the node", topology.locals()));
    groups_.push_back(make_group(name + ", between nodes", rail));
  }
}

Group Communicators::make_group(const std::string& name, std::vector<int> members) {
  Group group;
  group.name = name;
  group.opener = members.front();
  group.members = std::move(members);
  return group;
}

LaneGroups Communicators::lane(int lane) {
  Group* first = &groups_[static_cast<size_t>(lane) * groups_of_lane_];
  if (settings_.is_hierarchical) return {nullptr, first, first + 1};
  return {first, nullptr, nullptr};
}

std::string Communicators::opened_ids() {
  std::string ids;
  for (const Group& group : groups_) {
    UniqueId id;
    if (group.opener == rank_) require(functions_.unique_id(id), "making an id", group);
    ids.append(id.bytes.data(), id.bytes.size());
  }
  return ids;
}

void Communicators::connect(const std::vector<std::string>& ids_of_rank) {
  size_t at = 0;
  for (Group& group : groups_) {
    UniqueId id;
    const std::string& ids = ids_of_rank[static_cast<size_t>(group.opener)];
    check(at + id.bytes.size() <= ids.size(), "every rank tells an id for each group, its own or none");
    std::copy_n(ids.begin() + static_cast<std::ptrdiff_t>(at), id.bytes.size(), id.bytes.begin());
    at += id.bytes.size();
    const auto place = std::find(group.members.begin(), group.members.end(), rank_) - group.members.begin();
    const int size = static_cast<int>(group.members.size());
    require(functions_.init_rank(group.comm, size, id, static_cast<int>(place)), "connecting", group);
    settle(group, "connecting");
    int seen_rank = -1;
    int seen_size = -1;
    require(functions_.user_rank(group.comm, seen_rank), "asking for the rank", group);
    require(functions_.count(group.comm, seen_size), "asking for the size", group);
    if (seen_rank != place || seen_size != size) {
      throw CommError(
          fmt::format("NCCL: {}: is rank {} of {}, not {} of {}", group.name, seen_rank, seen_size, place, size));
    }
  }
}

void Communicators::register_buffer(void* memory, size_t bytes) {
  for (Group& group : groups_) {
    Registration registration = nullptr;
    require(functions_.register_buffer(group.comm, memory, bytes, registration), "registering memory", group);
    settle(group, "registering memory");
    if (registration != nullptr) group.registrations.push_back(registration);
  }
}

void Communicators::require(const Result& result, const char* what, const Group& group) const {
  if (result.state != State::kFailed) return;
  throw CommError(fmt::format("NCCL: {}: {} failed: {}", group.name, what, result.error));
}

void Communicators::settle(const Group& group, const char* what) {
  const Timer waited;
  Backoff backoff;
  while (true) {
    const Result result = functions_.async_error(group.comm);
    require(result, what, group);
    if (result.state == State::kDone) return;
    settings_.throw_if_failed();
    if (waited.seconds() > settings_.timeout_s) {
      throw CommError(fmt::format("NCCL: {}: {} has not ended within {:g} s. Set NCCL_DEBUG=INFO to see why",
                                  group.name, what, settings_.timeout_s));
    }
    std::this_thread::sleep_for(backoff.next());
  }
}

void Communicators::group_start() { require(functions_.group_start(), "beginning a group", groups_.front()); }

void Communicators::group_end(const Group& group) {
  require(functions_.group_end(), "launching", group);
  settle(group, "launching");
}

void Communicators::check_errors() {
  for (const Group& group : groups_) {
    if (group.comm != nullptr) require(functions_.async_error(group.comm), "a sum", group);
  }
}

void Communicators::finish() {
  for (Group& group : groups_) {
    for (Registration registration : group.registrations) {
      require(functions_.deregister_buffer(group.comm, registration), "giving memory up", group);
    }
    group.registrations.clear();
    require(functions_.finalize(group.comm), "ending", group);
    settle(group, "ending");
    require(functions_.destroy(group.comm), "ending", group);
    group.comm = nullptr;
  }
}

void Communicators::abort_all() noexcept {
  for (Group& group : groups_) {
    if (group.comm == nullptr) continue;
    try {
      functions_.abort(group.comm);
    } catch (...) {  // the job has failed already, and its cause is known
    }
    group.comm = nullptr;
    group.registrations.clear();
  }
}

}  // namespace bertft::nccl
