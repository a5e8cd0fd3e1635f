// The trace: its events, validity at every moment, odd names, full disks, and the events of a coordinator.
#include "comm/timeline/timeline.h"

#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <nlohmann/json.hpp>
#include <thread>

#include "core/error.h"
#include "tests/support/temp_folder.h"
#include "tests/support/test.h"
#include "tests/support/trace_events.h"
#include "tests/unit/comm/coordinator/coordinator_world.h"

namespace bertft {
using nlohmann::json;

using test::read_trace;

namespace {

// The events of one tensor.
test::Story story(const std::string& path, const std::string& tensor) {
  return test::parse_trace(path).tensors[tensor];
}

using Lines = test::Story;

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
  CHECK(story(path, "w") == Lines{"B NEGOTIATE_ALLREDUCE", "X 1", "X 0", "E", "B ALLREDUCE", "B QUEUE", "E",
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
  CHECK(story(path, "w") == Lines{"B ALLREDUCE", "E"});
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
    CHECK(story(path, names[i]) == Lines{"B ALLREDUCE", "E"});
  }
  CHECK(story(path, "broken??") == Lines{"B ALLREDUCE", "E"});
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
    CHECK(story(path, "w").size() == static_cast<size_t>(2 * (i + 1)));
  }
  const std::string other = folder.path() + "/killed.json";
  const pid_t child = ::fork();
  if (child == 0) {
    Timeline killed(other, 0);
    for (int i = 0; i < 3000; ++i) {  // more than a block
      killed.start("w", i);
      killed.end("w", {}, i);
      if (i == 2000) killed.flush();
    }
    ::kill(::getpid(), SIGKILL);
  }
  int status = 0;
  REQUIRE(::waitpid(child, &status, 0) == child);
  CHECK(WIFSIGNALED(status));
  CHECK(read_trace(other).size() >= 2 * 2001);
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

TEST_CASE("the threads of a rank are nested in its own process, and an end without a begin is refused") {
  const test::TempFolder folder;
  const std::string path = folder.path() + "/timeline.json";
  {
    Timeline timeline(path, 0, "rank 3 (node \"b\")");
    timeline.name_thread(1, "steps");
    timeline.name_thread(2, "lane 0");
    timeline.begin_in_thread(1, "step 7", 0.1);
    timeline.begin_in_thread(2, "w", 0.2);
    timeline.begin_in_thread(1, "wait", 0.3);
    timeline.end_in_thread(2, 0.4);
    timeline.end_in_thread(1, 0.5);
    timeline.end_in_thread(1, 0.5);
    CHECK_THROWS_AS(timeline.end_in_thread(1, 0.6), InternalError);
    CHECK_THROWS_AS(timeline.end_in_thread(3, 0.6), InternalError);
  }
  test::Trace trace = test::parse_trace(path);
  CHECK(trace.threads["steps"] == Lines{"B step 7", "B wait", "E", "E"});
  CHECK(trace.threads["lane 0"] == Lines{"B w", "E"});
  CHECK(read_trace(path).at(0).at("args").at("name") == "rank 3 (node \"b\")");
}

TEST_CASE("several threads write one timeline, which stays whole") {
  const test::TempFolder folder;
  const std::string path = folder.path() + "/timeline.json";
  {
    Timeline timeline(path, 0);
    std::vector<std::thread> threads;
    for (int thread = 0; thread < 4; ++thread) {
      threads.emplace_back([&timeline, thread] {
        const std::string tensor = "tensor." + std::to_string(thread);
        for (int i = 0; i < 500; ++i) {
          timeline.start(tensor, i);
          timeline.next_activity(tensor, "QUEUE", i);
          timeline.next_activity(tensor, "NATIVE_ALLREDUCE", i);
          timeline.end(tensor, {}, i);
          if (i % 100 == 0) timeline.flush();
        }
      });
    }
    for (std::thread& thread : threads) thread.join();
  }
  const test::Trace trace = test::parse_trace(path);
  REQUIRE(trace.tensors.size() == 4);
  for (const auto& [tensor, lines] : trace.tensors) CHECK(lines.size() == 500 * 6);
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
  CHECK(story(path, "unit.0") ==
        Lines{"B NEGOTIATE_ALLREDUCE", "X 2", "X 0", "X 1", "E", "B NEGOTIATE_ALLREDUCE", "E"});
  CHECK(story(path, "unit.1") == Lines{"B NEGOTIATE_ALLREDUCE", "X 0", "X 1", "X 2", "E"});
  CHECK(test::parse_trace(path).cycles == 5);
}

}  // namespace bertft
