#include "bench/bench_report.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "core/error.h"
#include "core/text.h"
#include "core/version.h"

namespace bertft {
namespace {

using Json = nlohmann::ordered_json;

// A row of the table; every column is wide enough for what these numbers can be.
constexpr const char* kRow = "{:<17}{:>6}{:>7}{:>10}{:>10}{:>10}{:>8}{:>8}{:>10}{:>10}{:>10}{:>14}{:>8}{:>14}\n";

std::string milliseconds(double seconds) { return fmt::format("{:.3f}", seconds * 1e3); }
std::string gigabytes(double bytes_per_s) { return fmt::format("{:.2f}", bytes_per_s * 1e-9); }

// A mean over steps: whole where it is.
std::string count_text(double count) {
  const auto whole = static_cast<int64_t>(count);
  return static_cast<double>(whole) == count ? with_thousands(whole) : fmt::format("{:.1f}", count);
}

std::string row_of(const ModeResult& mode, int64_t bytes, int ranks, const BenchSettings& settings) {
  const Spread time = spread_of(mode.step_s());
  const bool has_bandwidth = settings.compute_s == 0.0;
  const auto count = [&](int64_t Counters::*of) {
    return mode.has_counts ? count_text(mode.most_per_step(of)) : std::string("-");
  };
  return fmt::format(
      fmt::runtime(kRow), mode.name, mode.wire, mode.has_counts ? with_thousands(mode.units) : std::string("-"),
      milliseconds(time.median), milliseconds(time.min), milliseconds(time.max),
      has_bandwidth ? gigabytes(algorithm_bandwidth(bytes, time.median)) : "-",
      has_bandwidth ? gigabytes(bus_bandwidth(bytes, time.median, ranks)) : "-",
      milliseconds(spread_of(mode.exposed_s()).median), milliseconds(mode.most_per_step_s(&Counters::total_s)),
      count(&Counters::messages), count(&Counters::payload_bytes), count(&Counters::rounds), count(&Counters::copies));
}

Json json_of(const Spread& spread) { return {{"median", spread.median}, {"min", spread.min}, {"max", spread.max}}; }

Json json_of(const RankMeasure& measure, int rank, bool has_counts) {
  const Counters& counted = measure.counted;
  Json json = {{"rank", rank},
               {"step_s", measure.step_s},
               {"exposed_s", measure.exposed_s},
               {"exposed_sum_s", counted.exposed_s},
               {"on_way_sum_s", counted.total_s}};
  if (!has_counts) return json;
  json["messages"] = counted.messages;
  json["bytes"] = counted.bytes;
  json["sum_messages"] = counted.sum_messages;
  json["payload_bytes"] = counted.payload_bytes;
  json["rounds"] = counted.rounds;
  json["copies"] = counted.copies;
  return json;
}

Json json_of(const ModeResult& mode, int64_t bytes, int ranks, const BenchSettings& settings) {
  const Spread time = spread_of(mode.step_s());
  Json json = {{"mode", mode.name},       {"description", mode.description},
               {"wire", mode.wire},       {"steps", mode.steps()},
               {"time_s", json_of(time)}, {"algbw", nullptr},
               {"busbw", nullptr},        {"exposed_s", json_of(spread_of(mode.exposed_s()))}};
  if (mode.has_counts) json["units"] = mode.units;
  if (settings.compute_s == 0.0) {
    json["algbw"] = algorithm_bandwidth(bytes, time.median);
    json["busbw"] = bus_bandwidth(bytes, time.median, ranks);
  }
  for (size_t rank = 0; rank < mode.ranks.size(); ++rank) {
    json["ranks"].push_back(json_of(mode.ranks[rank], static_cast<int>(rank), mode.has_counts));
  }
  return json;
}

const char* compute_text(ComputeKind kind) { return kind == ComputeKind::kBusy ? "busy" : "sleep"; }

}  // namespace

Spread spread_of(std::vector<double> values) {
  check(!values.empty(), "a spread of at least one value");
  std::sort(values.begin(), values.end());
  const size_t middle = values.size() / 2;
  const double median = values.size() % 2 == 1 ? values[middle] : (values[middle - 1] + values[middle]) / 2;
  return {median, values.front(), values.back()};
}

double algorithm_bandwidth(int64_t bytes, double seconds) { return static_cast<double>(bytes) / seconds; }

double bus_bandwidth(int64_t bytes, double seconds, int ranks) {
  return algorithm_bandwidth(bytes, seconds) * 2.0 * (ranks - 1) / ranks;
}

std::string bench_headline(const World& world, const BenchSettings& settings) {
  std::string text = fmt::format("comm-bench: {} ranks on {} node{}, {} x {} steps a mode", world.size, world.nodes,
                                 world.nodes == 1 ? "" : "s", settings.repeats, settings.steps);
  if (settings.compute_s > 0.0) {
    text += fmt::format(", {} ms of emulated backward ({})", settings.compute_s * 1e3, compute_text(settings.compute));
  }
  return text + "; every sum verified\n";
}

std::string bench_table(const Payload& payload, const std::vector<ModeResult>& modes, const World& world,
                        const BenchSettings& settings) {
  std::string text = fmt::format("\n{}: {} tensor{}, {} parameters, {} bytes\n", payload.name, payload.tensors.size(),
                                 payload.tensors.size() == 1 ? "" : "s", with_thousands(payload.parameters()),
                                 with_thousands(payload.bytes()));
  for (const ModeResult& mode : modes) text += fmt::format("  {}: {}\n", mode.name, mode.description);
  text += fmt::format(fmt::runtime(kRow), "", "", "", "time ms", "", "", "algbw", "busbw", "exposed", "on way",
                      "messages", "payload", "rounds", "copied");
  text += fmt::format(fmt::runtime(kRow), "mode", "wire", "units", "median", "min", "max", "GB/s", "GB/s", "ms", "ms",
                      "a step", "bytes", "", "bytes");
  for (const ModeResult& mode : modes) text += row_of(mode, payload.bytes(), world.size, settings);
  return text;
}

std::string bench_json(const std::vector<BenchResult>& results, const World& world, const BenchSettings& settings) {
  Json json = {{"program", "bert_finetune comm-bench"},
               {"version", version()},
               {"ranks", world.size},
               {"nodes", world.nodes},
               {"hosts", world.hosts},
               {"node_of", world.node_of},
               {"repeats", settings.repeats},
               {"steps_per_repeat", settings.steps},
               {"warm_up_steps", kWarmUpSteps},
               {"compute_s", settings.compute_s},
               {"compute", compute_text(settings.compute)},
               {"verified", true},
               {"payloads", Json::array()}};
  for (const BenchResult& result : results) {
    Json payload = {{"name", result.payload.name},
                    {"bytes", result.payload.bytes()},
                    {"summed_bytes", result.payload.summed_bytes()},
                    {"tensors", result.payload.tensors.size()},
                    {"parameters", result.payload.parameters()},
                    {"modes", Json::array()}};
    for (const ModeResult& mode : result.modes) {
      payload["modes"].push_back(json_of(mode, result.payload.bytes(), world.size, settings));
    }
    json["payloads"].push_back(std::move(payload));
  }
  return json.dump(1, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace bertft
