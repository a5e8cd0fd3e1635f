// The trace: its events, validity at every moment, odd names, full disks, and the events of a coordinator.
#include "comm/coordinator/timeline.h"

#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <fstream>
#include <map>
#include <nlohmann/json.hpp>
#include <sstream>

#include "core/error.h"
#include "tests/support/temp_folder.h"
#include "tests/support/test.h"
#include "tests/unit/comm/coordinator/coordinator_world.h"

namespace bertft {
using nlohmann::json;

namespace {

json read_trace(const std::string& path) {
  std::ifstream file(path);
  std::stringstream text;
  text << file.rdbuf();
  return json::parse(text.str());
}

std::string name_of_process(const json& trace, int process) {
  for (const json& event : trace) {
    if (event.at("ph") == "M" && event.at("name") == "process_name" && event.at("pid") == process) {
      return event.at("args").value("name", "");
    }
  }
  return {};
}

// The events of one tensor as "B NEGOTIATE_ALLREDUCE", "X 2", "E"; checks that its begins and ends match and that time
// goes on.
std::vector<std::string> story(const json& trace, const std::string& tensor) {
  std::vector<std::string> lines;
  int depth = 0;
  int64_t last = 0;
  for (const json& event : trace) {
    if (event.at("ph") == "M" || event.at("ph") == "i" || name_of_process(trace, event.at("pid")) != tensor) {
      continue;
    }
    const std::string phase = event.at("ph");
    lines.push_back(phase + (event.contains("name") ? " " + event.at("name").get<std::string>() : ""));
    depth += phase == "B" ? 1 : phase == "E" ? -1 : 0;
    CHECK(depth >= 0);
    CHECK(event.at("ts").get<int64_t>() >= last);
    last = event.at("ts").get<int64_t>();
  }
  CHECK(depth == 0);
  return lines;
}

using Lines = std::vector<std::string>;

}  // namespace

TEST_CASE("a timeline has Horovod's events: negotiation with the ranks, the reduction and what happens in it") {
  const test::TempFolder folder;
  const std::string path = folder.path() + "/timeline.json";
  {
    Timeline timeline(path, 1234567);
    timeline.mark_cycle(0.5);
    timeline.negotiate_start("w", 1.0);
    timeline.negotiate_rank_ready("w", 1, 1.0);
    timeline.negotiate_start("w", 1.1);  // again, which changes nothing
    timeline.negotiate_rank_ready("w", 0, 1.1);
    timeline.negotiate_end("w", 1.1);
    timeline.start("w", 1.2);
    timeline.activity_start("w", timeline_activity::kQueue, 1.2);
    timeline.activity_end("w", 1.3);
    timeline.activity_start("w", timeline_activity::kMemcpyIn, 1.3);
    timeline.activity_end("w", 1.4);
    timeline.activity_start("w", "NATIVE_ALLREDUCE", 1.4);
    timeline.activity_end("w", 2.0);
    timeline.activity_start("w", timeline_activity::kMemcpyOut, 2.0);
    timeline.end("w", {.shape = {2, 3}}, 2.25);  // ends the activity as well
  }
  const json trace = read_trace(path);
  CHECK(trace.at(0).at("args").at("start_time_since_epoch_in_micros") == 1234567);
  CHECK(story(trace, "w") == Lines{"B NEGOTIATE_ALLREDUCE", "X 1", "X 0", "E", "B ALLREDUCE", "B QUEUE", "E",
                                   "B MEMCPY_IN_FUSION_BUFFER", "E", "B NATIVE_ALLREDUCE", "E",
                                   "B MEMCPY_OUT_FUSION_BUFFER", "E", "E"});
  const json& last = trace.back();
  CHECK(last.at("ts") == 2250000);
  CHECK(last.at("args") == json{{"dtype", "float32"}, {"shape", "[2, 3]"}});
  bool has_mark = false;
  for (const json& event : trace) {
    has_mark = has_mark || (event.at("ph") == "i" && event.at("name") == "CYCLE_START" && event.at("s") == "g");
    CHECK((event.at("ph") != "X" || event.at("dur") == 0));
  }
  CHECK(has_mark);
}

TEST_CASE("events of a reduction that do not fit are refused, negotiations during one are left out") {
  const test::TempFolder folder;
  const std::string path = folder.path() + "/timeline.json";
  {
    Timeline timeline(path, 0);
    CHECK_THROWS_AS(timeline.activity_start("w", "QUEUE", 0.0), InternalError);
    CHECK_THROWS_AS(timeline.end("w", {}, 0.0), InternalError);
    timeline.negotiate_end("w", 0.0);
    timeline.start("w", 0.0);
    CHECK_THROWS_AS(timeline.start("w", 0.0), InternalError);
    CHECK_THROWS_AS(timeline.activity_end("w", 0.0), InternalError);
    timeline.negotiate_start("w", 0.1);
    timeline.negotiate_rank_ready("w", 1, 0.1);
    timeline.negotiate_end("w", 0.1);
    timeline.end("w", {}, 0.2);
  }
  CHECK(story(read_trace(path), "w") == Lines{"B ALLREDUCE", "E"});
}

TEST_CASE("names of any bytes make a valid timeline") {
  const test::TempFolder folder;
  const std::string path = folder.path() + "/timeline.json";
  const std::string names[] = {"with \"quotes\" and \\", "line\nend\tand\x01", "\xE7\xBC\x96\xE7\xA0\x81",
                               "broken\xE7\xBC", "\xFF\xC0"};
  {
    Timeline timeline(path, 0);
    for (const std::string& name : names) {
      timeline.start(name, 0.0);
      timeline.end(name, {}, 0.0);
    }
  }
  const json trace = read_trace(path);
  for (int i = 0; i < 3; ++i) {
    CHECK(story(trace, names[i]) == Lines{"B ALLREDUCE", "E"});
  }
  CHECK(story(trace, "broken??") == Lines{"B ALLREDUCE", "E"});
}

TEST_CASE("a timeline is a whole JSON array after each flush, and what a killed process leaves is one, too") {
  const test::TempFolder folder;
  const std::string path = folder.path() + "/timeline.json";
  Timeline timeline(path, 0);
  CHECK(read_trace(path).size() == 2);
  for (int i = 0; i < 5; ++i) {
    timeline.start("w", i);
    timeline.end("w", {}, i);
    timeline.flush();
    CHECK(story(read_trace(path), "w").size() == static_cast<size_t>(2 * (i + 1)));
  }
  const std::string other = folder.path() + "/killed.json";
  const pid_t child = ::fork();
  if (child == 0) {
    Timeline killed(other, 0);
    for (int i = 0; i < 3000; ++i) {  // more than a block
      killed.start("w", i);
      killed.end("w", {}, i);
    }
    ::kill(::getpid(), SIGKILL);
  }
  int status = 0;
  REQUIRE(::waitpid(child, &status, 0) == child);
  CHECK(WIFSIGNALED(status));
  CHECK(read_trace(other).size() > 1000);
}

TEST_CASE("a timeline that cannot be written is refused at the start and ends quietly later") {
  const test::TempFolder folder;
  CHECK_THROWS_AS(Timeline(folder.path() + "/no/such/folder.json", 0), ResourceError);
  if (::access("/dev/full", W_OK) == 0) {
    Timeline full("/dev/full", 0);
    for (int i = 0; i < 3000; ++i) {
      full.start("w", i);
      full.end("w", {}, i);
    }
    CHECK_NOTHROW(full.flush());
  }
}

TEST_CASE("the coordinator writes its negotiations: per rank when uncached, begin and end when cached") {
  const test::TempFolder folder;
  const std::string path = folder.path() + "/timeline.json";
  {
    Timeline timeline(path, 0);
    CoordinatorWorld world({.size = 3, .has_timeline = true}, plain_units(2), nullptr, &timeline);
    world.step_begin(0);
    world.mark(0, {2});
    world.cycle(0.1);
    world.mark(0, {0, 1});
    world.mark(1);
    world.cycle(0.2);
    world.step_begin(1);
    world.mark(0, {1});
    world.cycle(0.3);
    world.cycle(0.4);
    world.mark(0, {0, 2});
    world.cycle(0.5);
  }
  const json trace = read_trace(path);
  CHECK(story(trace, "unit.0") ==
        Lines{"B NEGOTIATE_ALLREDUCE", "X 2", "X 0", "X 1", "E", "B NEGOTIATE_ALLREDUCE", "E"});
  CHECK(story(trace, "unit.1") == Lines{"B NEGOTIATE_ALLREDUCE", "X 0", "X 1", "X 2", "E"});
  int marks = 0;
  for (const json& event : trace) {
    marks += event.at("ph") == "i" ? 1 : 0;
  }
  CHECK(marks == 5);
}

}  // namespace bertft
