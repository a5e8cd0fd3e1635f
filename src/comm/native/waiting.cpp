#include "comm/native/waiting.h"

#include <fmt/format.h>

namespace bertft::native {

std::string late_text(const TransportWait& wait, double seconds, const Topology& topology) {
  std::string ranks;
  for (const int rank : wait.ranks) {
    ranks += (ranks.empty() ? "" : ", ") + topology.name_of(rank);
  }
  const std::string place = wait.lane < 0 ? "a collective operation"
                                          : fmt::format("lane {}, step {}, unit {}", wait.lane, wait.step, wait.unit);
  if (!ranks.empty()) ranks = " of " + ranks;
  return fmt::format("{}: waited {:g} s for {}{}", place, seconds, wait.what, ranks);
}

}  // namespace bertft::native
