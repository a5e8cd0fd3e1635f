#include "model/gradient_ledger.h"

#include <algorithm>

#include "core/error.h"

namespace bertft {
namespace {

int& at(std::vector<int>& values, int index) { return values.at(static_cast<size_t>(index)); }
int at(const std::vector<int>& values, int index) { return values.at(static_cast<size_t>(index)); }

}  // namespace

GradientLedger::GradientLedger(const Layout& layout)
    : layout_(layout), uses_(layout.entries.size(), 0), contributions_(layout.entries.size(), 0) {}

void GradientLedger::declare_use(const std::vector<int>& entries) {
  for (const int entry : entries) ++at(uses_, entry);
}

void GradientLedger::begin_step() {
  std::fill(contributions_.begin(), contributions_.end(), 0);
  pending_ = uses_;
  unit_pending_.assign(layout_.units.size(), 0);
  is_announced_.assign(layout_.units.size(), 0);
  is_last_micro_batch_ = false;
  for (size_t e = 0; e < layout_.entries.size(); ++e) {
    if (uses_[e] == 0) continue;
    for (int unit = layout_.entries[e].first_unit; unit <= layout_.entries[e].last_unit; ++unit)
      ++at(unit_pending_, unit);
  }
}

double GradientLedger::beta(const std::vector<int>& entries) const {
  const bool is_first = at(contributions_, entries.front()) == 0;
  for (const int entry : entries) {
    check((at(contributions_, entry) == 0) == is_first, "parameters of one contribution are in different states");
  }
  return is_first ? 0.0 : 1.0;
}

void GradientLedger::contributed(const std::vector<int>& entries) {
  for (const int entry : entries) {
    ++at(contributions_, entry);
    if (!is_last_micro_batch_) continue;
    check(at(pending_, entry) > 0, "a parameter contributed more often than it was declared to be used");
    if (--at(pending_, entry) > 0) continue;
    const LayoutEntry& placed = layout_.entries[static_cast<size_t>(entry)];
    for (int unit = placed.first_unit; unit <= placed.last_unit; ++unit) {
      if (--at(unit_pending_, unit) == 0) announce(unit);
    }
  }
}

std::vector<int> GradientLedger::missing() const {
  std::vector<int> entries;
  for (size_t e = 0; e < contributions_.size(); ++e) {
    if (contributions_[e] == 0 && layout_.entries[e].spec.is_trainable) entries.push_back(static_cast<int>(e));
  }
  return entries;
}

void GradientLedger::release() {
  for (size_t unit = 0; unit < layout_.units.size(); ++unit) {
    if (is_announced_[unit] == 0) announce(static_cast<int>(unit));
  }
}

void GradientLedger::announce(int unit) {
  is_announced_.at(static_cast<size_t>(unit)) = 1;
  if (listener_) listener_(unit);
}

}  // namespace bertft
