#include "train/non_finite_step.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <span>

#include "comm/wire/non_finite.h"
#include "core/error.h"
#include "core/fault.h"
#include "core/log.h"

namespace bertft {
namespace {

std::string bytes_of(const std::vector<NonFinite>& found) {
  std::string bytes(found.size() * sizeof(NonFinite), '\0');
  if (!found.empty()) std::memcpy(bytes.data(), found.data(), bytes.size());
  return bytes;
}

std::vector<NonFinite> found_in(const std::string& bytes) {
  std::vector<NonFinite> found(bytes.size() / sizeof(NonFinite));
  if (!found.empty()) std::memcpy(found.data(), bytes.data(), found.size() * sizeof(NonFinite));
  return found;
}

const LayoutEntry& entry_at(const Layout& layout, int64_t index) {
  const auto found = std::find_if(layout.entries.begin(), layout.entries.end(), [&](const LayoutEntry& entry) {
    return index >= entry.offset && index < entry.offset + entry.size;
  });
  check(found != layout.entries.end(), "an element of the gradient belongs to a parameter");
  return *found;
}

std::string line_of(const NonFinite& found, const Layout& layout, const std::string& whose) {
  const LayoutEntry& entry = entry_at(layout, found.index);
  return fmt::format("{} at flat index {} ({} NaN, {} infinite, finite values {:.3g} to {:.3g}), {}", entry.spec.name,
                     found.index - entry.offset, found.nan_count, found.inf_count, found.min, found.max, whose);
}

std::optional<NonFiniteScan> scan(const at::Tensor& values) {
  return values.scalar_type() == at::kDouble ? scan_non_finite(values.const_data_ptr<double>(), values.numel())
                                             : scan_non_finite(values.const_data_ptr<float>(), values.numel());
}

// Parameter by parameter, in the sum.
std::vector<std::string> lines_of_sums(const Layout& layout, const at::Tensor& sums, const std::string& whose) {
  std::vector<std::string> lines;
  for (const LayoutEntry& entry : layout.entries) {
    if (!entry.spec.is_trainable) break;
    const auto found = scan(sums.narrow(0, entry.offset, entry.size));
    if (!found) continue;
    lines.push_back(
        line_of({0, entry.offset + found->first, 0, 0, found->nan_count, found->inf_count, found->min, found->max},
                layout, whose));
  }
  return lines;
}

}  // namespace

std::vector<std::string> describe_non_finite(Communicator& communicator, const World& world, const Layout& layout,
                                             const at::Tensor& sums) {
  if (world.size == 1) return lines_of_sums(layout, sums, world.name_of(0));
  std::vector<NonFinite> all;
  for (const std::string& bytes : communicator.all_gather(bytes_of(communicator.take_non_finite()))) {
    const std::vector<NonFinite> theirs = found_in(bytes);
    all.insert(all.end(), theirs.begin(), theirs.end());
  }
  std::sort(all.begin(), all.end(), [](const NonFinite& a, const NonFinite& b) {
    return a.rank != b.rank ? a.rank < b.rank : a.index < b.index;
  });
  std::vector<std::string> lines;
  for (const NonFinite& found : all) {
    std::string line = line_of(found, layout, world.name_of(found.rank));
    if (lines.empty() || lines.back() != line) lines.push_back(std::move(line));
  }
  if (lines.empty()) return lines_of_sums(layout, sums, "in the sum over the ranks: each rank's own part is finite");
  return lines;
}

std::optional<GradientFault> GradientFault::wanted(const Layout& layout, const World& world) {
  const std::optional<WantedFault> asked = wanted_fault();
  if (!asked || asked->kind == "slow") return std::nullopt;
  const int64_t rank = asked->number("rank");
  const std::string name = asked->text("param");
  const int found = layout.find(name);
  if (found < 0 || !layout.entries[static_cast<size_t>(found)].spec.is_trainable) {
    throw ConfigError("BERTFT_FAULT: there is no trained parameter '" + name +
                      "'; write a published name without prefix, such as encoder.layer.0.attention.self.query.weight");
  }
  const LayoutEntry& entry = layout.entries[static_cast<size_t>(found)];
  const int64_t index = asked->number("index");
  if (rank >= world.size || index >= entry.size) {
    throw ConfigError(fmt::format("BERTFT_FAULT: rank {} of {} ranks, index {} of {} elements: not there", rank,
                                  world.size, index, entry.size));
  }
  GradientFault fault;
  fault.step_ = asked->number("step");
  fault.steps_ = asked->values.count("steps") > 0 ? asked->number("steps") : 1;
  fault.value_ = asked->kind == "nan" ? std::nan("") : std::numeric_limits<double>::infinity();
  fault.index_ = rank == world.rank ? entry.offset + index : -1;
  for (int unit = entry.first_unit; unit <= entry.last_unit; ++unit) {
    const LayoutUnit& range = layout.units[static_cast<size_t>(unit)];
    if (entry.offset + index >= range.begin && entry.offset + index < range.end) fault.unit_ = unit;
  }
  if (entry.spec.is_lookup_table) {
    fault.unit_ = entry.first_unit;  // with it its rows may move
    fault.table_row_ = index / entry.spec.shape.back();
  }
  log::warn(fmt::format("BERTFT_FAULT: rank {} gets one {} in the gradient of {} in step {}, as asked for", rank,
                        asked->kind, name, fault.step_));
  return fault;
}

void GradientFault::strike(int64_t step, int unit, const at::Tensor& gradients,
                           const std::vector<int32_t>& used_rows) const {
  if (index_ < 0 || step < step_ || step >= step_ + steps_ || unit != unit_) return;
  if (table_row_ >= 0 && !std::binary_search(used_rows.begin(), used_rows.end(), table_row_)) {
    log::warn(
        fmt::format("BERTFT_FAULT: no text of this rank in step {} uses row {} of the table, so there is no "
                    "gradient to spoil. Take an index in the row of a token that all texts have, such as [CLS]",
                    step, table_row_));
    return;
  }
  gradients.narrow(0, index_, 1).fill_(value_);
}

}  // namespace bertft
