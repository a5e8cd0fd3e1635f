#include "optim/param_groups.h"

#include <cmath>

namespace bertft {

std::vector<ParamGroup> param_groups(const Layout& layout, double weight_decay, double layer_decay) {
  std::vector<ParamGroup> groups;
  for (const LayoutEntry& entry : layout.entries) {
    if (!entry.spec.is_trainable) break;  // all behind it are frozen, too
    const double decay = entry.spec.has_weight_decay ? weight_decay : 0.0;
    const double scale = std::pow(layer_decay, static_cast<double>(entry.spec.depth));
    if (!groups.empty()) groups.back().end = entry.offset;
    if (groups.empty() || groups.back().weight_decay != decay || groups.back().rate_scale != scale) {
      groups.push_back({entry.offset, 0, decay, scale});
    }
  }
  if (!groups.empty()) groups.back().end = layout.trainable_total;
  return groups;
}

}  // namespace bertft
