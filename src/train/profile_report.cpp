#include "train/profile_report.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>
#include <vector>

namespace bertft {
namespace {

constexpr double kLeastShare = 0.0005;  // of a step: smaller remainders are not shown

struct Totals {
  int64_t steps = 0;
  double seconds = 0.0;
};

Totals totals_of(const Profile& profile) {
  Totals totals;
  for (const Profile::Node& node : profile.nodes()) {
    if (node.parent >= 0) continue;
    totals.steps += node.calls;
    totals.seconds += node.seconds;
  }
  return totals;
}

std::string line(std::string_view what, double calls, double seconds, const Totals& totals, const ProfileWork& work) {
  const double ms = 1e3 * seconds / static_cast<double>(totals.steps);
  std::string text =
      fmt::format("  {:<58}{:>8.1f}{:>10.2f}{:>8.1f} %", what, calls, ms, 100.0 * seconds / totals.seconds);
  text += work.flops > 0.0 ? fmt::format("{:>10.1f}", 1e-9 * work.flops / seconds) : std::string(10, ' ');
  text += work.bytes > 0.0 ? fmt::format("{:>8.1f}", 1e-9 * work.bytes / seconds) : "";
  return text.substr(0, text.find_last_not_of(' ') + 1) + "\n";
}

std::string header(std::string_view what) {
  return fmt::format("  {:<58}{:>8}{:>10}{:>10}{:>10}{:>8}\n", what, "calls", "ms", "share", "GFLOP/s", "GB/s");
}

std::vector<int> by_time(const Profile& profile, std::vector<int> nodes) {
  std::stable_sort(nodes.begin(), nodes.end(), [&](int a, int b) {
    return profile.nodes()[static_cast<size_t>(a)].seconds > profile.nodes()[static_cast<size_t>(b)].seconds;
  });
  return nodes;
}

// A node and what lies below it. Phases stay in their order; operations within them, the longest first.
void append_tree(std::string& text, const Profile& profile, int index, size_t depth, const Totals& totals) {
  const Profile::Node& node = profile.nodes()[static_cast<size_t>(index)];
  const std::string indent(2 * depth, ' ');
  const auto calls = [&](int64_t all) { return static_cast<double>(all) / static_cast<double>(totals.steps); };
  text += line(indent + std::string(node.name), calls(node.calls), node.seconds, totals, node.work);
  for (const int child : depth == 0 ? node.children : by_time(profile, node.children)) {
    append_tree(text, profile, child, depth + 1, totals);
  }
  const double own = profile.own_seconds(index);
  if (!node.children.empty() && own > kLeastShare * totals.seconds) {
    text += line(indent + "  (other)", calls(node.calls), own, totals, {});
  }
}

struct Operation {
  std::string_view name;
  int64_t calls = 0;
  double seconds = 0.0;
  ProfileWork work;
};

// Leaves of the tree by name, wherever they lie, the longest first; what is no leaf's time comes last.
std::vector<Operation> operations_of(const Profile& profile) {
  std::map<std::string_view, Operation> by_name;
  Operation rest{.name = "(other)", .calls = 0, .seconds = 0.0, .work = {}};
  for (size_t i = 0; i < profile.nodes().size(); ++i) {
    const Profile::Node& node = profile.nodes()[i];
    if (!node.children.empty()) {
      rest.seconds += profile.own_seconds(static_cast<int>(i));
      continue;
    }
    Operation& operation = by_name[node.name];
    operation.name = node.name;
    operation.calls += node.calls;
    operation.seconds += node.seconds;
    operation.work.flops += node.work.flops;
    operation.work.bytes += node.work.bytes;
  }
  std::vector<Operation> operations;
  for (const auto& [name, operation] : by_name) operations.push_back(operation);
  std::stable_sort(operations.begin(), operations.end(),
                   [](const Operation& a, const Operation& b) { return a.seconds > b.seconds; });
  operations.push_back(rest);
  return operations;
}

}  // namespace

std::string profile_text(const Profile& profile) {
  const Totals totals = totals_of(profile);
  if (totals.steps == 0) {
    return fmt::format("profile: no step was measured; the first {} are left out", kProfileWarmUpSteps);
  }
  std::string text = fmt::format("profile: {} steps, {:.2f} ms each; calls and ms are per step\n", totals.steps,
                                 1e3 * totals.seconds / static_cast<double>(totals.steps));
  text += header("part");
  for (size_t i = 0; i < profile.nodes().size(); ++i) {
    if (profile.nodes()[i].parent < 0) append_tree(text, profile, static_cast<int>(i), 0, totals);
  }
  text += "\n" + header("operation");
  for (const Operation& operation : operations_of(profile)) {
    text += line(operation.name, static_cast<double>(operation.calls) / static_cast<double>(totals.steps),
                 operation.seconds, totals, operation.work);
  }
  text.pop_back();  // the last line's end
  return text;
}

std::string profile_trace(const Profile& profile) {
  std::string text = "[\n";
  for (const Profile::Event& event : profile.events()) {
    const nlohmann::json record = {{"name", std::string(profile.nodes()[static_cast<size_t>(event.node)].name)},
                                   {"ph", "X"},
                                   {"pid", 0},
                                   {"tid", 0},
                                   {"ts", 1e6 * event.begin_s},
                                   {"dur", 1e6 * (event.end_s - event.begin_s)}};
    text += record.dump() + (&event == &profile.events().back() ? "\n" : ",\n");
  }
  return text + "]\n";
}

}  // namespace bertft
