#include "bench/bench_report.h"

#include <nlohmann/json.hpp>

#include "tests/support/test.h"

namespace bertft {
namespace {

const Payload kPayload = flat_payload(1 << 20);

ModeResult mode_of(const std::string& name, bool has_counts) {
  ModeResult mode{.name = name, .wire = "fp32", .description = "how it works", .units = 4, .has_counts = has_counts};
  mode.ranks.push_back({{0.001, 0.002, 0.004}, {0.0005, 0.0, 0.0}, {.messages = 6, .payload_bytes = 30, .copies = 7}});
  mode.ranks.push_back(
      {{0.003, 0.001, 0.001}, {0.0001, 0.001, 0.0}, {.messages = 9, .payload_bytes = 12, .rounds = 3}});
  mode.ranks.back().counted.exposed_s = 0.0011;
  return mode;
}

World two_ranks() { return make_world(0, {"a", "b"}, {"node-a", "node-b"}); }

TEST_CASE("a step is as long as on its slowest rank, and counts are those of the busiest") {
  const ModeResult mode = mode_of("m", true);
  CHECK(mode.step_s() == std::vector<double>{0.003, 0.002, 0.004});
  CHECK(mode.exposed_s() == std::vector<double>{0.0005, 0.001, 0.0});
  CHECK(mode.most_per_step(&Counters::messages) == 3.0);
  CHECK(mode.most_per_step(&Counters::payload_bytes) == 10.0);
  CHECK(mode.most_per_step(&Counters::rounds) == 1.0);
  const Spread spread = spread_of(mode.step_s());
  CHECK(spread.median == 0.003);
  CHECK(spread.min == 0.002);
  CHECK(spread.max == 0.004);
  CHECK(spread_of({4.0, 1.0, 2.0, 9.0}).median == 3.0);
}

TEST_CASE("bandwidths are those of nccl-tests") {
  CHECK(algorithm_bandwidth(1000, 0.5) == 2000.0);
  CHECK(bus_bandwidth(1000, 0.5, 2) == 2000.0);
  CHECK(bus_bandwidth(1000, 0.5, 4) == 3000.0);
  CHECK(bus_bandwidth(1000, 0.5, 1) == 0.0);
}

TEST_CASE("the table has a row for each mode, and leaves out what is not known") {
  const std::string text = bench_table(kPayload, {mode_of("aiacc-static", true), mode_of("mpi-allreduce", false)},
                                       two_ranks(), {.repeats = 1, .steps = 3});
  CHECK_THAT(text, Catch::Contains("1M: 1 tensor, 262,144 parameters, 1,048,576 bytes\n"));
  CHECK_THAT(text, Catch::Contains("aiacc-static       fp32      4     3.000     2.000     4.000    0.35    0.35"));
  const std::string plain = text.substr(text.rfind("mpi-allreduce"));
  CHECK(std::count(plain.begin(), plain.end(), '-') == 6);  // its name's, units, and four counts
  const std::string emulated =
      bench_table(kPayload, {mode_of("aiacc-static", true)}, two_ranks(), {.repeats = 1, .steps = 3, .compute_s = 0.1});
  CHECK_THAT(emulated, Catch::Contains("       -       -     0.500"));
  CHECK_THAT(bench_headline(two_ranks(), {.repeats = 1, .steps = 3, .compute_s = 0.1}),
             Catch::Contains("2 ranks on 2 nodes, 1 x 3 steps a mode, 100 ms of emulated backward (busy)"));
}

TEST_CASE("the JSON holds every figure of every rank") {
  const std::string text = bench_json({{kPayload, {mode_of("aiacc-static", true), mode_of("mpi-allreduce", false)}}},
                                      two_ranks(), {.repeats = 1, .steps = 3});
  const auto json = nlohmann::json::parse(text);
  CHECK(json["ranks"] == 2);
  CHECK(json["hosts"] == nlohmann::json{"node-a", "node-b"});
  const auto& payload = json["payloads"][0];
  CHECK(payload["name"] == "1M");
  const auto& mode = payload["modes"][0];
  CHECK(mode["mode"] == "aiacc-static");
  CHECK(mode["units"] == 4);
  CHECK_FALSE(payload["modes"][1].contains("units"));
  CHECK(mode["time_s"]["median"] == 0.003);
  CHECK(mode["busbw"].get<double>() == Approx((1 << 20) / 0.003));
  CHECK(mode["ranks"][1]["messages"] == 9);
  CHECK(mode["ranks"][0]["step_s"] == nlohmann::json{0.001, 0.002, 0.004});
  CHECK(mode["ranks"][1]["exposed_sum_s"] == 0.0011);
  CHECK_FALSE(payload["modes"][1]["ranks"][0].contains("messages"));
}

}  // namespace
}  // namespace bertft
