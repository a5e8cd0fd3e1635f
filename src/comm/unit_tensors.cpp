#include "comm/unit_tensors.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "core/error.h"

namespace bertft {

std::vector<TensorSpec> tensors_of_units(const Layout& layout) {
  std::vector<TensorSpec> tensors;
  for (size_t unit = 0; unit < layout.units.size(); ++unit) {
    const LayoutUnit& range = layout.units[unit];
    const auto first = std::find_if(layout.entries.begin(), layout.entries.end(), [&](const LayoutEntry& entry) {
      return entry.last_unit >= static_cast<int>(unit);
    });
    check(first != layout.entries.end(), "a unit holds a parameter");
    std::string name = first->spec.name;
    if (first->first_unit < static_cast<int>(unit))
      name += fmt::format("[{}]", static_cast<int>(unit) - first->first_unit);
    tensors.push_back({std::move(name), {.shape = {range.end - range.begin}}});
  }
  return tensors;
}

}  // namespace bertft
