#include "bench/bench_run.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <map>
#include <nlohmann/json.hpp>
#include <utility>

#include "bench/sum_pattern.h"
#include "core/error.h"
#include "core/timer.h"

namespace bertft {
namespace {

using Json = nlohmann::json;

constexpr int64_t Counters::*kCounts[] = {&Counters::messages,     &Counters::bytes,  &Counters::payload_bytes,
                                          &Counters::sum_messages, &Counters::rounds, &Counters::copies};
constexpr double Counters::*kTimes[] = {&Counters::exposed_s, &Counters::total_s};

void add_difference(Counters& to, const Counters& after, const Counters& before) {
  for (const auto count : kCounts) to.*count += after.*count - before.*count;
  for (const auto time : kTimes) to.*time += after.*time - before.*time;
}

std::string packed(const RankMeasure& measure) {
  Json json = {{"step_s", measure.step_s}, {"exposed_s", measure.exposed_s}};
  for (const auto count : kCounts) json["counts"].push_back(measure.counted.*count);
  for (const auto time : kTimes) json["times"].push_back(measure.counted.*time);
  return json.dump();
}

RankMeasure unpacked(const std::string& text) {
  const Json json = Json::parse(text);
  RankMeasure measure{.step_s = json["step_s"], .exposed_s = json["exposed_s"], .counted = {}};
  for (size_t i = 0; i < std::size(kCounts); ++i) measure.counted.*kCounts[i] = json["counts"][i];
  for (size_t i = 0; i < std::size(kTimes); ++i) measure.counted.*kTimes[i] = json["times"][i];
  return measure;
}

// One payload on one rank.
class Bench {
 public:
  Bench(const Payload& payload, const BenchSettings& settings, const World& world, Bootstrap& bootstrap,
        int64_t elements)
      : payload_(payload),
        settings_(settings),
        world_(world),
        bootstrap_(bootstrap),
        gradients_(elements, sizeof(float), world.local_size > 1 ? GradientMemory::kShared : GradientMemory::kPrivate) {
  }

  // Opens the mode, measures and closes it; adds to what was measured before.
  void measure(const BenchMode& mode, const OpenExchange& open, ModeResult& result) {
    const SumPattern pattern(world_.size, wire_of(mode, world_));
    const Layout layout = layout_of(mode, payload_);
    const BackwardClock clock(layout, settings_.compute_s, settings_.compute);
    const std::unique_ptr<Exchange> exchange = open(mode, layout, gradients_);
    result.units = static_cast<int>(layout.units.size());
    result.description = exchange->description();
    result.has_counts = exchange->has_counts();
    try {
      for (int step = 1; step <= kWarmUpSteps + settings_.steps; ++step) {
        pattern.fill(static_cast<float*>(gradients_.data()), layout.trainable_total, world_.rank, ++round_);
        make_step(*exchange, step, clock, step > kWarmUpSteps ? &mine_[mode.name] : nullptr);
        check_sums(*exchange, step, pattern, layout, mode.name);
      }
    } catch (const SharedError&) {
      exchange->close();
      throw;
    } catch (const std::exception& failure) {
      exchange->abort(failure.what());
      throw;
    }
    exchange->close();
  }

  std::vector<RankMeasure> of_all_ranks(const std::string& mode) {
    std::vector<RankMeasure> ranks;
    for (const std::string& text : bootstrap_.all_gather(packed(mine_[mode]))) ranks.push_back(unpacked(text));
    return ranks;
  }

 private:
  static void make_step(Exchange& exchange, int64_t step, const BackwardClock& clock, RankMeasure* measure) {
    exchange.barrier();
    const Counters before = exchange.counters();
    const Timer timer;
    exchange.step_begin(step);
    clock.run([&](int unit) { exchange.mark_ready(unit); });
    exchange.finish();
    const double seconds = timer.seconds();
    if (measure == nullptr) return;
    const Counters after = exchange.counters();
    measure->step_s.push_back(seconds);
    measure->exposed_s.push_back(after.exposed_s - before.exposed_s);
    add_difference(measure->counted, after, before);
  }

  // All ranks learn what any of them found, so that they end together.
  void check_sums(const Exchange& exchange, int64_t step, const SumPattern& pattern, const Layout& layout,
                  const std::string& mode) {
    const int64_t elements = layout.trainable_total;
    const auto wrong = pattern.find_wrong(exchange.sums(), elements, round_);
    std::string mine;
    if (wrong) {
      mine = fmt::format(
          "comm-bench: a wrong sum in mode {}, {}, step {}, on {}: element {}{} is {} instead of {}; {} of {} elements "
          "are wrong",
          mode, payload_.name, step, world_.name_of(world_.rank), wrong->element, place_of(wrong->element, layout),
          wrong->found, wrong->expected, wrong->count, elements);
    }
    for (const std::string& text : bootstrap_.all_gather(mine)) {
      if (text.empty()) continue;
      if (world_.rank == 0) throw SharedError(ExitCode::kComm, text);
      throw ReportedElsewhere(ExitCode::kComm, text);
    }
  }

  // " (encoder.layer.0.output.dense.weight, unit 3)"
  static std::string place_of(int64_t element, const Layout& layout) {
    std::string place;
    for (const LayoutEntry& entry : layout.entries) {
      if (element >= entry.offset && element < entry.offset + entry.size) place = entry.spec.name + ", ";
    }
    for (size_t unit = 0; unit < layout.units.size(); ++unit) {
      if (element < layout.units[unit].end) return fmt::format(" ({}unit {})", place, unit);
    }
    return "";
  }

  const Payload& payload_;
  const BenchSettings settings_;
  const World& world_;
  Bootstrap& bootstrap_;
  GradientBuffer gradients_;
  int64_t round_ = 0;  // of all modes
  std::map<std::string, RankMeasure> mine_;
};

}  // namespace

std::vector<double> ModeResult::step_s() const {
  std::vector<double> slowest(static_cast<size_t>(steps()), 0.0);
  for (const RankMeasure& rank : ranks) {
    for (size_t step = 0; step < slowest.size(); ++step) slowest[step] = std::max(slowest[step], rank.step_s[step]);
  }
  return slowest;
}

std::vector<double> ModeResult::exposed_s() const {
  std::vector<double> longest(static_cast<size_t>(steps()), 0.0);
  for (const RankMeasure& rank : ranks) {
    for (size_t step = 0; step < longest.size(); ++step) longest[step] = std::max(longest[step], rank.exposed_s[step]);
  }
  return longest;
}

double ModeResult::most_per_step(int64_t Counters::*counter) const {
  int64_t most = 0;
  for (const RankMeasure& rank : ranks) most = std::max(most, rank.counted.*counter);
  return static_cast<double>(most) / steps();
}

double ModeResult::most_per_step_s(double Counters::*seconds) const {
  double most = 0.0;
  for (const RankMeasure& rank : ranks) most = std::max(most, rank.counted.*seconds);
  return most / steps();
}

std::vector<ModeResult> run_bench(const Payload& payload, const std::vector<BenchMode>& modes,
                                  const BenchSettings& settings, const World& world, Bootstrap& bootstrap,
                                  const OpenExchange& open) {
  Bench bench(payload, settings, world, bootstrap, elements_for(modes, payload, world));
  std::vector<ModeResult> results;
  for (const BenchMode& mode : modes) {
    results.push_back({.name = mode.name, .wire = wire_type_name(wire_of(mode, world))});
  }
  for (int repeat = 0; repeat < settings.repeats; ++repeat) {
    for (size_t i = 0; i < modes.size(); ++i) {
      const size_t at = repeat % 2 == 0 ? i : modes.size() - 1 - i;  // there and back, so that no mode is always first
      bench.measure(modes[at], open, results[at]);
    }
  }
  for (ModeResult& result : results) result.ranks = bench.of_all_ranks(result.name);
  return results;
}

}  // namespace bertft
