#include "comm/timeline/timeline_observer.h"

#include <fmt/format.h>

#include <chrono>

#include "comm/unit_tensors.h"

namespace bertft {
namespace {

constexpr int kComputeThread = 1;  // of process 0; cycle marks have thread 0
constexpr int kFirstLane = 2;

int64_t now_since_epoch_us() {
  const auto now = std::chrono::system_clock::now().time_since_epoch();
  return std::chrono::duration_cast<std::chrono::microseconds>(now).count();
}

}  // namespace

std::string timeline_path(const std::string& option, int rank) {
  const size_t at = option.find("%r");
  if (at == std::string::npos) return rank == 0 ? option : std::string();
  return option.substr(0, at) + fmt::format("{:04}", rank) + option.substr(at + 2);
}

TimelineObserver::TimelineObserver(const TimelineSettings& settings, const Layout& layout, const World& world)
    : settings_(settings),
      tensors_(tensors_of_units(layout)),
      timeline_(settings.path, now_since_epoch_us(), world.name_of(world.rank)) {
  timeline_.name_thread(kComputeThread, "steps");
  for (int lane = 0; lane < settings_.lanes; ++lane) {
    timeline_.name_thread(kFirstLane + lane, fmt::format("sums, lane {}", lane));
  }
}

void TimelineObserver::step_begins(int64_t step, double now_s) {
  timeline_.begin_in_thread(kComputeThread, fmt::format("step {}", step), now_s);
}

void TimelineObserver::unit_is_ready(int unit, double now_s) {
  if (settings_.shows_negotiation) timeline_.negotiate_start(tensor(unit).name, now_s);
}

void TimelineObserver::units_are_agreed(const std::vector<int>& units, double now_s) {
  for (const int unit : units) {
    const std::string& name = tensor(unit).name;
    if (settings_.shows_negotiation) timeline_.negotiate_end(name, now_s);
    timeline_.start(name, now_s);
    timeline_.activity_start(name, timeline_activity::kQueue, now_s);
  }
}

void TimelineObserver::sum_begins(int lane, const std::vector<int>& units, double now_s) {
  for (const int unit : units) timeline_.activity_end(tensor(unit).name, now_s);
  std::string what = tensor(units.front()).name;
  if (units.size() > 1) what += fmt::format(" and {} more", units.size() - 1);
  timeline_.begin_in_thread(kFirstLane + lane, what, now_s);
}

void TimelineObserver::sum_enters(const std::vector<int>& units, SumPhase phase, double now_s) {
  const std::string activity = phase == SumPhase::kCopyIn    ? timeline_activity::kMemcpyIn
                               : phase == SumPhase::kCopyOut ? timeline_activity::kMemcpyOut
                                                             : settings_.reduce_activity;
  for (const int unit : units) timeline_.next_activity(tensor(unit).name, activity, now_s);
}

void TimelineObserver::sum_ends(int lane, const std::vector<int>& units, double now_s) {
  for (const int unit : units) timeline_.end(tensor(unit).name, tensor(unit).traits, now_s);
  timeline_.end_in_thread(kFirstLane + lane, now_s);
}

void TimelineObserver::wait_begins(double now_s) { timeline_.begin_in_thread(kComputeThread, "wait for sums", now_s); }

void TimelineObserver::step_ends(double now_s) {
  timeline_.end_in_thread(kComputeThread, now_s);  // the wait
  timeline_.end_in_thread(kComputeThread, now_s);
}

}  // namespace bertft
