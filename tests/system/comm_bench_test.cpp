// comm-bench through the executable, under mpirun: every mode's sums are verified, and what it counts is what the
// protocols promise.
#include <cstdlib>
#include <iostream>
#include <nlohmann/json.hpp>

#include "core/files.h"
#include "tests/support/temp_folder.h"
#include "tests/support/test.h"
#include "tests/system/rank_runs.h"

namespace bertft::test {
namespace {

using Json = nlohmann::json;

constexpr int64_t kSteps = 8;
constexpr const char* kShapes = "head.weight 4x64\nlayer.weight 300x64\ntable 5000x64\n";

// Two flat buffers and three tensors, in units of 16 Ki elements.
std::vector<std::string> small_payloads(const TempFolder& folder) {
  folder.write("shapes.txt", kShapes);
  return {"comm-bench",
          "--sizes",
          "1K,400KB",
          "--shapes",
          folder.path() + "/shapes.txt",
          "--unit-mb",
          "0.0625",
          "--steps",
          "4",
          "--repeats",
          "2",
          "--json",
          folder.path() + "/bench.json"};
}
// What a mode cuts these payloads into: horovod whole tensors, aiacc parts of them and small ones together.
const std::vector<int64_t> kHorovodUnits = {1, 1, 3};
const std::vector<int64_t> kAiaccUnits = {1, 7, 23};

std::vector<std::string> with(std::vector<std::string> arguments, const std::vector<std::string>& more) {
  arguments.insert(arguments.end(), more.begin(), more.end());
  return arguments;
}

bool is_horovod(const Json& mode) { return mode["mode"].get<std::string>().starts_with("horovod"); }

// What holds of every payload, mode and rank, on any number of nodes.
void check_counts(const Json& report, int ranks) {
  CHECK(report["ranks"] == ranks);
  REQUIRE(report["payloads"].size() == kAiaccUnits.size());
  for (size_t i = 0; i < kAiaccUnits.size(); ++i) {
    const Json& payload = report["payloads"][i];
    const int64_t summed = payload["summed_bytes"];
    for (const Json& mode : payload["modes"]) {
      CAPTURE(payload["name"], mode["mode"]);
      CHECK(mode["steps"] == kSteps);
      CHECK(mode["time_s"]["min"] <= mode["time_s"]["median"]);
      CHECK(mode["time_s"]["median"] <= mode["time_s"]["max"]);
      CHECK(mode["busbw"].get<double>() > 0.0);
      REQUIRE(mode["ranks"].size() == static_cast<size_t>(ranks));
      for (const Json& rank : mode["ranks"]) {
        CHECK(rank["step_s"].size() == kSteps);
        if (mode["mode"] == "mpi-allreduce") continue;
        const int64_t units = mode["units"];
        CHECK(units == (is_horovod(mode) ? kHorovodUnits : kAiaccUnits)[i]);
        const int64_t copies = rank["copies"];
        const int64_t control = rank["messages"].get<int64_t>() - rank["sum_messages"].get<int64_t>();
        CHECK(rank["rounds"] >= kSteps);
        if (is_horovod(mode)) {
          // What travels together is copied in and out, and from three ranks on the result of a node is copied back.
          CHECK((copies > 0) == (units > 1 || ranks > 2));
          CHECK(copies <= 2 * summed * kSteps);
        } else {
          CHECK(copies == 0);
          CHECK(control <= (ranks == 2 ? 1 : 2) * ranks * units * kSteps);
        }
        if (mode["mode"] == "aiacc-static") CHECK(control == 0);
      }
    }
  }
}

TEST_CASE("comm-bench verifies and counts all modes with two and three ranks") {
  if (!has_mpirun()) return;
  const TempFolder folder;
  for (const int ranks : {2, 3}) {
    CAPTURE(ranks);
    const RunResult result = run_ranks(ranks, small_payloads(folder));
    CAPTURE(result.err);
    REQUIRE(result.exit_code == 0);
    const Json report = Json::parse(read_file(folder.path() + "/bench.json"));
    check_counts(report, ranks);
    CHECK(report["payloads"][1]["modes"].size() >= 4);
    for (const Json& mode : report["payloads"][1]["modes"]) {
      CHECK(result.out.find("\n" + mode["mode"].get<std::string>() + " ") != std::string::npos);
      if (mode["mode"] == "mpi-allreduce") continue;
      for (const Json& rank : mode["ranks"]) CHECK(rank["payload_bytes"] == 0);  // shared memory
    }
  }
}

// Two ranks with host names of their own, so that they are two nodes, over loopback.
RunRequest two_nodes_request(const std::vector<std::string>& arguments) {
  RunRequest request = ranks_request(1, {});
  request.arguments.clear();
  for (const std::string node : {"node-a", "node-b"}) {
    if (node == "node-b") request.arguments.emplace_back(":");
    const std::vector<std::string> enter = {
        "-np", "1", "unshare", "-u", "sh", "-c", "hostname " + node + " && exec \"$@\"", "sh", binary_path()};
    request.arguments.insert(request.arguments.end(), enter.begin(), enter.end());
    request.arguments.insert(request.arguments.end(), arguments.begin(), arguments.end());
  }
  return request;
}

TEST_CASE("between two nodes comm-bench counts the bytes and messages of the formulas") {
  if (!has_mpirun()) return;
  if (std::system("unshare -u true 2>/dev/null") != 0) {
    std::cout << "SKIPPED: host names of one's own need root\n";
    return;
  }
  const TempFolder folder;
  const RunResult result =
      run_program("mpirun", two_nodes_request(with(small_payloads(folder),
                                                   {"--set", "comm.interface=lo", "--modes",
                                                    "horovod-uncached,horovod-cached,aiacc-bitvector,aiacc-static"})));
  CAPTURE(result.err);
  REQUIRE(result.exit_code == 0);
  const Json report = Json::parse(read_file(folder.path() + "/bench.json"));
  CHECK(report["nodes"] == 2);
  check_counts(report, 2);
  for (const Json& payload : report["payloads"]) {
    for (const Json& mode : payload["modes"]) {
      CAPTURE(payload["name"], mode["mode"]);
      const int64_t units = mode["units"];
      for (const Json& rank : mode["ranks"]) {
        const int64_t sums = rank["sum_messages"];
        const int64_t control = rank["messages"].get<int64_t>() - sums;
        if (is_horovod(mode)) {
          CHECK(rank["payload_bytes"] >= payload["summed_bytes"].get<int64_t>() * kSteps);  // and what fills gaps
          CHECK(sums <= 2 * units * kSteps);
        } else {
          CHECK(rank["payload_bytes"] == payload["summed_bytes"].get<int64_t>() * kSteps);  // 2 S (N - 1) / N
          CHECK(sums == 2 * units * kSteps);  // contribution and result of each unit
        }
        if (mode["mode"] == "aiacc-bitvector") CHECK(control >= kSteps);  // at least one round a step
      }
    }
  }
}

TEST_CASE("comm-bench takes a file of shapes, emulates compute, and gives JSON to a pipe") {
  if (!has_mpirun()) return;
  const TempFolder folder;
  folder.write("shapes.txt", kShapes);
  const RunResult result =
      run_ranks(2, {"comm-bench", "--shapes", folder.path() + "/shapes.txt", "--compute-ms", "5", "--compute", "sleep",
                    "--steps", "2", "--repeats", "1", "--modes", "aiacc-bitvector", "--lanes", "2", "--json", "-"});
  CAPTURE(result.err);
  REQUIRE(result.exit_code == 0);
  const Json report = Json::parse(result.out);
  const Json& payload = report["payloads"][0];
  CHECK(payload["tensors"] == 3);
  CHECK(payload["parameters"] == 256 + 19200 + 320000);
  const Json& mode = payload["modes"][0];
  CHECK(mode["time_s"]["min"].get<double>() >= 0.005);
  CHECK(mode["busbw"].is_null());
  CHECK(result.err.find("ms of emulated backward (sleep)") != std::string::npos);
}

TEST_CASE("comm-bench refuses what it cannot measure") {
  const RunResult alone = run_binary({"comm-bench"});
  CHECK(alone.exit_code == 2);
  CHECK(alone.err.find("mpirun -np 2 bert_finetune comm-bench") != std::string::npos);
  if (!has_mpirun()) return;
  const std::vector<std::pair<std::vector<std::string>, std::string>> faults = {
      {{"--simulate", "64"}, "--simulate: not in this build"},
      {{"--modes", "aiac-static"}, "did you mean aiacc-static?"},
      {{"--sizes", "1Q"}, "--sizes: '1Q' is not an amount of bytes"},
      {{"--shapes", "bert-huge"}, "--shapes: 'bert-huge' is neither"},
      {{"--wire", "fp7"}, "--wire: comm.wire: 'fp7'"},
      {{"--wire", "mixed"}, "--wire mixed"},
      {{"--unit-mb", "0"}, "--unit-mb: comm.unit_mb"},
      {{"--set", "comm.mode=aiacc"}, "name modes by --modes"},
      {{"--json", "/no/such/folder/x.json"}, "--json: there is no folder"}};
  for (const auto& [arguments, message] : faults) {
    CAPTURE(arguments);
    const RunResult result = run_ranks(2, with({"comm-bench"}, arguments));
    CAPTURE(result.err);
    CHECK(result.exit_code == 2);
    CHECK(result.err.find(message) != std::string::npos);
    CHECK(result.err.find(message) == result.err.rfind(message));
  }
  const RunResult differ =
      run_program("mpirun", ranks_request({{"comm-bench", "--sizes", "1K"}, {"comm-bench", "--sizes", "2K"}}));
  CAPTURE(differ.err);
  CHECK(differ.exit_code == 4);
  CHECK(differ.err.find("the layout of a payload differs") != std::string::npos);
}

}  // namespace
}  // namespace bertft::test
