// The NCCL communicators of all lanes: how they are connected, watched and ended. Used by the launch thread alone.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "comm/native/topology.h"
#include "comm/nccl/nccl_functions.h"

namespace bertft::nccl {

// One communicator. Ranks of it are numbered as their global numbers ascend.
struct Group {
  Comm comm = nullptr;
  std::string name;  // "lane 0", "lane 1, between nodes": for messages
  int opener = 0;    // the global rank that makes the id
  std::vector<int> members;
  std::vector<Registration> registrations = {};
};

// Flat: `world`. Hierarchical: `node` (the ranks of this node) and `rail` (those with this local rank).
struct LaneGroups {
  Group* world = nullptr;
  Group* node = nullptr;
  Group* rail = nullptr;
};

struct CommunicatorsSettings {
  int lanes = 1;
  bool is_hierarchical = false;  // REQUIRES several nodes, all with the same number of ranks
  double timeout_s = 120.0;      // of one call that NCCL has not finished
  // Called while NCCL has not finished a call; throws when there is no use in waiting.
  std::function<void()> throw_if_failed;
};

class Communicators {
 public:
  Communicators(Functions& functions, const native::Topology& topology, CommunicatorsSettings settings);

  // One id for each group, made where this rank opens it and zero elsewhere, to be told to all; then, with everybody's
  // in rank order, the groups are connected, one after the other in one order. Throws CommError.
  std::string opened_ids();
  void connect(const std::vector<std::string>& ids_of_rank);

  LaneGroups lane(int lane);
  // With every communicator, for direct access by the network or by other devices.
  void register_buffer(void* memory, size_t bytes);

  void group_start();
  // Also waits until NCCL has launched what was in the group; that is no wait for the device.
  void group_end(const Group& group);
  void require(const Result& result, const char* what, const Group& group) const;
  // Throws CommError with the first asynchronous error.
  void check_errors();

  // In order: after all ranks' last sum.
  void finish();
  // Ends everything that is on its way; errors are of no interest any more.
  void abort_all() noexcept;

 private:
  Group make_group(const std::string& name, std::vector<int> members);
  void settle(const Group& group, const char* what);

  Functions& functions_;
  const int rank_;
  const CommunicatorsSettings settings_;
  const size_t groups_of_lane_;
  std::vector<Group> groups_;  // lane by lane: world, or node and rail
};

}  // namespace bertft::nccl
