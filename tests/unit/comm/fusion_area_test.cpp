// The fusion area: what is copied in comes back to the same places, and it holds every group that the threshold allows.
#include "comm/fusion_area.h"

#include <algorithm>
#include <numeric>

#include "core/error.h"
#include "tests/support/test.h"

namespace bertft {
namespace {

Layout layout_of(const std::vector<int64_t>& sizes) {
  std::vector<ParameterSpec> specs;
  for (size_t i = 0; i < sizes.size(); ++i) specs.push_back({.name = std::to_string(i), .shape = {sizes[i]}});
  return make_layout(specs, kAlignmentElements);
}

TEST_CASE("Units are packed one behind the other, and their sums come back to where they lie") {
  const Layout layout = layout_of({16, 32, 5, 48});
  REQUIRE(layout.units.size() > 2);
  const int64_t elements = layout.trainable_total + FusionArea::elements_for(layout, 1 << 10);
  const GradientBuffer buffer(elements, sizeof(float));
  auto* values = static_cast<float*>(buffer.data());
  std::iota(values, values + layout.trainable_total, 1.0f);
  FusionArea area(layout, buffer);
  std::vector<int> units;
  for (int unit = static_cast<int>(layout.units.size()) - 1; unit >= 0; unit -= 2) units.push_back(unit);
  const ElementRange range = area.pack(units);
  CHECK(range.begin >= layout.trainable_total);
  CHECK(range.end <= elements);
  for (int64_t i = range.begin; i < range.end; ++i) values[i] *= 2.0f;
  area.unpack(units, values);
  for (size_t unit = 0; unit < layout.units.size(); ++unit) {
    const bool is_packed = std::find(units.begin(), units.end(), static_cast<int>(unit)) != units.end();
    for (int64_t i = layout.units[unit].begin; i < layout.units[unit].end; ++i) {
      REQUIRE(values[i] == static_cast<float>(i + 1) * (is_packed ? 2.0f : 1.0f));
    }
  }
  int64_t packed_elements = 0;
  for (const int unit : units)
    packed_elements += layout.units[static_cast<size_t>(unit)].end - layout.units[static_cast<size_t>(unit)].begin;
  CHECK(area.copied_bytes() == 2 * packed_elements * static_cast<int64_t>(sizeof(float)));
}

TEST_CASE("A group that is larger than the area is an internal error") {
  const Layout layout = layout_of({64, 64});
  const GradientBuffer buffer(layout.trainable_total + 64, sizeof(float));
  FusionArea area(layout, buffer);
  std::vector<int> all(layout.units.size());
  std::iota(all.begin(), all.end(), 0);
  REQUIRE_THROWS_AS(area.pack(all), InternalError);
}

}  // namespace
}  // namespace bertft
