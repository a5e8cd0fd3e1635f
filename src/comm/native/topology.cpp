#include "comm/native/topology.h"

#include <fmt/format.h>

#include <algorithm>

#include "core/error.h"
#include "core/layout.h"

namespace bertft::native {
namespace {

int64_t aligned_part(int64_t size, int index, int count) {
  if (index == count) return size;
  return size * index / count / kAlignmentElements * kAlignmentElements;
}

}  // namespace

std::string Topology::name_of(int other) const {
  const std::string& name = names[static_cast<size_t>(node_of[static_cast<size_t>(other)])];
  return fmt::format("rank {} ({})", other, name.substr(0, name.find(" [")));  // the host, without what tells boots
}

Topology make_topology(int rank, const std::vector<std::string>& node_of_rank) {
  check(rank >= 0 && static_cast<size_t>(rank) < node_of_rank.size(), "a rank outside its world");
  Topology result;
  result.rank = rank;
  result.size = static_cast<int>(node_of_rank.size());
  for (int other = 0; other < result.size; ++other) {
    const std::string& name = node_of_rank[static_cast<size_t>(other)];
    const auto at = std::find(result.names.begin(), result.names.end(), name) - result.names.begin();
    if (static_cast<size_t>(at) == result.names.size()) {
      result.names.push_back(name);
      result.members.emplace_back();
    }
    result.node_of.push_back(static_cast<int>(at));
    result.members[static_cast<size_t>(at)].push_back(other);
  }
  result.node = result.node_of[static_cast<size_t>(rank)];
  const std::vector<int>& locals = result.locals();
  result.local_rank = static_cast<int>(std::find(locals.begin(), locals.end(), rank) - locals.begin());
  result.local_slices = result.size;
  for (const std::vector<int>& ranks : result.members) {
    result.local_slices = std::min(result.local_slices, static_cast<int>(ranks.size()));
    result.canonical.insert(result.canonical.end(), ranks.begin(), ranks.end());
  }
  return result;
}

ElementRange slice_of(ElementRange whole, int index, int count) {
  check(index >= 0 && index < count, "a slice that is not there");
  return {whole.begin + aligned_part(whole.size(), index, count),
          whole.begin + aligned_part(whole.size(), index + 1, count)};
}

std::vector<Link> tcp_links(const Topology& topology, int lanes, bool is_hierarchical) {
  std::vector<Link> links;
  for (int peer = 0; peer < topology.size; ++peer) {
    if (topology.is_local(peer)) continue;
    const std::vector<int>& there = topology.members[static_cast<size_t>(topology.node_of[static_cast<size_t>(peer)])];
    const auto place = std::find(there.begin(), there.end(), peer) - there.begin();
    links.push_back({peer, 0});
    const bool is_rail = place == topology.local_rank && topology.local_rank < topology.local_slices;
    for (int lane = 0; lane < lanes && (is_rail || !is_hierarchical); ++lane) {
      links.push_back({peer, 1 + lane});
    }
    if (lanes > 0 && place == 0 && topology.local_rank == 0) links.push_back({peer, lanes + 1});
  }
  std::sort(links.begin(), links.end());
  return links;
}

}  // namespace bertft::native
