#include "core/layout.h"

#include <algorithm>
#include <set>

#include "core/error.h"
#include "core/hash.h"

namespace bertft {
namespace {

int64_t align_up(int64_t elements) {
  return (elements + kAlignmentElements - 1) / kAlignmentElements * kAlignmentElements;
}

LayoutEntry place(const ParameterSpec& spec, int64_t offset) {
  LayoutEntry entry;
  entry.spec = spec;
  entry.offset = offset;
  entry.size = 1;
  for (const int64_t extent : spec.shape) entry.size *= extent;
  entry.norm_block = spec.is_lookup_table ? spec.shape.back() : kNormBlockElements;
  return entry;
}

// Cuts [begin, end) into equal aligned pieces of at most `unit_elements` (rounded up to the alignment).
void append_units(std::vector<LayoutUnit>& units, int64_t begin, int64_t end, int64_t unit_elements) {
  const int64_t pieces = std::max<int64_t>(1, (end - begin + unit_elements - 1) / unit_elements);
  const int64_t step = align_up((end - begin + pieces - 1) / pieces);
  for (int64_t at = begin; at < end; at += step) units.push_back({at, std::min(at + step, end)});
}

}  // namespace

int Layout::find(const std::string& name) const {
  for (size_t i = 0; i < entries.size(); ++i) {
    if (entries[i].spec.name == name) return static_cast<int>(i);
  }
  return -1;
}

int64_t Layout::parameter_count() const {
  int64_t count = 0;
  for (const LayoutEntry& entry : entries) count += entry.size;
  return count;
}

int64_t Layout::trainable_count() const {
  int64_t count = 0;
  for (const LayoutEntry& entry : entries) count += entry.spec.is_trainable ? entry.size : 0;
  return count;
}

uint64_t Layout::parameters_hash() const {
  uint64_t value = hash64("layout");
  const auto add = [&](int64_t number) { value = hash64(&number, sizeof number, value); };
  for (const LayoutEntry& entry : entries) {
    value = hash64(entry.spec.name, value);
    for (const int64_t extent : entry.spec.shape) add(extent);
    add(entry.offset);
  }
  return value;
}

uint64_t Layout::hash() const {
  uint64_t value = parameters_hash();
  for (const LayoutUnit& unit : units) {
    value = hash64(&unit.begin, sizeof unit.begin, value);
    value = hash64(&unit.end, sizeof unit.end, value);
  }
  return value;
}

Layout make_layout(const std::vector<ParameterSpec>& in_backward_order, int64_t unit_elements) {
  check(unit_elements >= 0, "units have at least one element");
  Layout layout;
  std::set<std::string> names;
  int64_t open_begin = 0;  // start of the unit that small parameters are being packed into
  const auto close_open_unit = [&](int64_t end) {
    if (end > open_begin) layout.units.push_back({open_begin, end});
    open_begin = end;
  };
  bool has_frozen = false;
  for (const ParameterSpec& spec : in_backward_order) {
    check(names.insert(spec.name).second, "two parameters of a layout have one name");
    const bool continues = spec.continues_previous && !layout.entries.empty();
    const int64_t offset = continues ? layout.entries.back().offset + layout.entries.back().size : layout.total;
    const LayoutEntry entry = place(spec, offset);
    layout.entries.push_back(entry);
    layout.total = align_up(offset + entry.size);
    if (!spec.is_trainable) {
      has_frozen = true;
      continue;
    }
    check(!has_frozen, "frozen parameters lie behind all trainable ones");
    layout.trainable_total = layout.total;
    if (unit_elements == kUnitPerParameter) {
      if (entry.offset % kAlignmentElements == 0) close_open_unit(entry.offset);
    } else if (entry.size >= unit_elements) {
      close_open_unit(align_up(entry.offset));
      append_units(layout.units, align_up(entry.offset), layout.total, unit_elements);
      open_begin = layout.total;
    } else if (layout.total - open_begin >= unit_elements) {
      close_open_unit(layout.total);
    }
  }
  close_open_unit(layout.trainable_total);
  for (LayoutEntry& entry : layout.entries) {
    if (!entry.spec.is_trainable) break;
    const auto holds = [&](int64_t element) {
      const auto after = std::upper_bound(layout.units.begin(), layout.units.end(), element,
                                          [](int64_t value, const LayoutUnit& unit) { return value < unit.begin; });
      return static_cast<int>(after - layout.units.begin()) - 1;
    };
    entry.first_unit = holds(entry.offset);
    entry.last_unit = holds(entry.offset + std::max<int64_t>(entry.size, 1) - 1);
  }
  return layout;
}

}  // namespace bertft
