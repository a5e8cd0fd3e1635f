#include "optim/param_groups.h"

namespace bertft {

std::vector<ParamGroup> param_groups(const Layout& layout, double weight_decay) {
  std::vector<ParamGroup> groups;
  for (const LayoutEntry& entry : layout.entries) {
    const double decay = entry.spec.has_weight_decay ? weight_decay : 0.0;
    if (!groups.empty()) groups.back().end = entry.offset;
    if (groups.empty() || groups.back().weight_decay != decay) groups.push_back({entry.offset, 0, decay});
  }
  if (!groups.empty()) groups.back().end = layout.total;
  return groups;
}

}  // namespace bertft
