#include "comm/coordinator/coordinator_stall.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <set>

namespace bertft {

namespace {

constexpr size_t kMostNames = 6;
constexpr double kNotWaiting = std::numeric_limits<double>::quiet_NaN();

std::string text_of(const CoordinatorStallReport& report, const std::set<int>& overdue,
                    const CoordinatorStallOptions& options) {
  std::string text = fmt::format(
      "some ranks have waited for more than {} s for tensors that others have not announced; a rank is late, or the "
      "ranks "
      "do not announce the same tensors. Missing (rank: tensors):",
      options.warn_s);
  for (const auto& [rank, names] : report.missing) {
    const size_t shown = std::min(names.size(), kMostNames);
    text += fmt::format("\n  {}{}: {}{}", rank, overdue.count(rank) > 0 ? "!" : "",
                        fmt::join(names.begin(), names.begin() + static_cast<std::ptrdiff_t>(shown), ", "),
                        names.size() > shown ? fmt::format(" and {} more", names.size() - shown) : "");
  }
  if (report.is_shutdown) {
    text += fmt::format("\nranks marked with ! are missing for more than {} s: shutting down", options.shutdown_s);
  }
  return text;
}

}  // namespace

CoordinatorStall::CoordinatorStall(int size, const CoordinatorStallOptions& options) : size_(size), options_(options) {
  if (options_.shutdown_s < options_.warn_s) {
    options_.shutdown_s = 0.0;
  }
}

void CoordinatorStall::announced(int tensor, int rank, double now_s) {
  Waiting& waiting = announced_.try_emplace(tensor, Waiting{{}, now_s}).first->second;
  waiting.has_announced.resize(static_cast<size_t>(size_), false);
  waiting.has_announced[static_cast<size_t>(rank)] = true;
}

void CoordinatorStall::answered(int tensor) { announced_.erase(tensor); }

void CoordinatorStall::hit_waits(int tensor, double now_s) {
  const auto place = static_cast<size_t>(tensor);
  if (place >= hit_since_s_.size()) {
    hit_since_s_.resize(place + 1, kNotWaiting);
  }
  if (std::isnan(hit_since_s_[place])) {
    hit_since_s_[place] = now_s;
  }
}

void CoordinatorStall::hit_ends(int tensor) {
  const auto place = static_cast<size_t>(tensor);
  if (place < hit_since_s_.size()) {
    hit_since_s_[place] = kNotWaiting;
  }
}

bool CoordinatorStall::is_due(double now_s) {
  if (options_.warn_s <= 0.0) {
    return false;
  }
  if (!last_check_s_) {
    last_check_s_ = now_s;
  }
  return now_s - *last_check_s_ > options_.warn_s;
}

std::optional<CoordinatorStallReport> CoordinatorStall::report(double now_s, const TensorNames& names) const {
  CoordinatorStallReport report;
  std::set<int> overdue;
  for (const auto& [tensor, waiting] : announced_) {
    const double waited_s = now_s - waiting.since_s;
    if (waited_s <= options_.warn_s) {
      continue;
    }
    for (int rank = 0; rank < size_; ++rank) {
      if (waiting.has_announced[static_cast<size_t>(rank)]) {
        continue;
      }
      report.missing[rank].push_back(names.name(tensor));
      if (options_.shutdown_s > 0.0 && waited_s > options_.shutdown_s) {
        overdue.insert(rank);
      }
    }
  }
  if (report.missing.empty()) {
    return std::nullopt;
  }
  for (auto& [rank, missing] : report.missing) {
    std::sort(missing.begin(), missing.end());
  }
  report.is_shutdown = !overdue.empty();
  report.text = text_of(report, overdue, options_);
  return report;
}

std::vector<int> CoordinatorStall::overdue_hits(double now_s) const {
  std::vector<int> tensors;
  for (size_t i = 0; i < hit_since_s_.size(); ++i) {
    if (now_s - hit_since_s_[i] > options_.warn_s) {  // never true of NaN
      tensors.push_back(static_cast<int>(i));
    }
  }
  return tensors;
}

}  // namespace bertft
