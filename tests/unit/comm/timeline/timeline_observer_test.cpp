// The timeline of a communicator in both modes: what happened to every unit, in its order, on threads as ranks.
#include "comm/timeline/timeline_observer.h"

#include <algorithm>

#include "comm/make_communicator.h"
#include "core/error.h"
#include "tests/support/errors.h"
#include "tests/support/rank_threads.h"
#include "tests/support/temp_folder.h"
#include "tests/support/test.h"
#include "tests/support/trace_events.h"

namespace bertft {
namespace {

constexpr int kSteps = 6;
constexpr int kRanks = 2;

Layout small_layout() {
  return make_layout({{.name = "head", .shape = {64}},
                      {.name = "layer", .shape = {40, 160}},
                      {.name = "table", .shape = {1000, 16}, .is_lookup_table = true}},
                     4096);
}

std::vector<std::string> run_job(const CommOptions& options) {
  const Layout layout = small_layout();
  return test::run_ranks(kRanks, [&](Bootstrap& bootstrap) {
    const World world = find_world(bootstrap);
    const GradientBuffer gradients(gradient_elements(options, layout, world), sizeof(float), GradientMemory::kShared);
    const auto communicator = make_communicator(options, layout, world, bootstrap, gradients, true);
    for (int step = 1; step <= kSteps; ++step) {
      communicator->step_begin(step);
      for (int unit = 0; unit < static_cast<int>(layout.units.size()); ++unit) communicator->mark_ready(unit);
      communicator->finish();
    }
    communicator->close();
  });
}

// One step of a unit, without what is marked in between: copies where it travelled with others, or summed elsewhere.
void check_reduction(test::Story& story, bool may_copy) {
  const auto take = [&](const std::string& wanted) {
    const std::string found = story.empty() ? "nothing" : story.front();
    CHECK(found == wanted);
    if (!story.empty()) story.erase(story.begin());
  };
  take("B ALLREDUCE");
  take("B QUEUE");
  take("E");
  const bool is_copied = may_copy && !story.empty() && story.front() == "B MEMCPY_IN_FUSION_BUFFER";
  if (is_copied) {
    take("B MEMCPY_IN_FUSION_BUFFER");
    take("E");
  }
  take("B NATIVE_ALLREDUCE");
  take("E");
  if (is_copied) {
    take("B MEMCPY_OUT_FUSION_BUFFER");
    take("E");
  }
  take("E");
}

void check_steps(const test::Trace& trace) {
  test::Story expected;
  for (int step = 1; step <= kSteps; ++step) {
    for (const std::string& line :
         {"B step " + std::to_string(step), std::string("B wait for sums"), std::string("E"), std::string("E")}) {
      expected.push_back(line);
    }
  }
  CHECK(trace.threads.at("steps") == expected);
}

TEST_CASE("in mode aiacc every rank writes when each unit was ready, agreed on and summed") {
  for (const char* negotiate : {"bitvector", "static"}) {
    CAPTURE(negotiate);
    const test::TempFolder folder;
    CommOptions options;
    options.negotiate = negotiate;
    options.timeline = folder.path() + "/timeline_%r.json";
    REQUIRE(run_job(options) == std::vector<std::string>(kRanks));
    for (const std::string rank : {"0000", "0001"}) {
      test::Trace trace = test::parse_trace(folder.path() + "/timeline_" + rank + ".json");
      check_steps(trace);
      CHECK(trace.cycles == 0);
      CHECK(trace.tensors.size() == small_layout().units.size());
      CHECK(trace.tensors.count("table[1]") == 1);
      size_t sums = 0;
      for (auto& [unit, story] : trace.tensors) {
        CAPTURE(unit);
        for (int step = 0; step < kSteps; ++step, ++sums) {
          REQUIRE(story.size() >= 2);
          CHECK(story[0] == "B NEGOTIATE_ALLREDUCE");
          CHECK(story[1] == "E");
          story.erase(story.begin(), story.begin() + 2);
          check_reduction(story, false);
        }
        CHECK(story.empty());
      }
      CHECK(trace.threads.at("sums, lane 0").size() == 2 * sums);
    }
  }
}

TEST_CASE("in mode horovod rank 0 writes what HOROVOD_TIMELINE would, with and without the cache") {
  for (const int64_t capacity : {0, 1024}) {
    CAPTURE(capacity);
    const test::TempFolder folder;
    CommOptions options;
    options.mode = "horovod";
    options.horovod.cache_capacity = capacity;
    options.timeline = folder.path() + "/timeline.json";
    REQUIRE(run_job(options) == std::vector<std::string>(kRanks));
    CHECK(test::read_trace(options.timeline).size() > 10);
    test::Trace trace = test::parse_trace(options.timeline);
    check_steps(trace);
    CHECK(trace.cycles >= kSteps);
    CHECK(trace.tensors.size() == small_layout().units.size());
    for (auto& [unit, story] : trace.tensors) {
      CAPTURE(unit);
      CHECK(std::count(story.begin(), story.end(), "X 0") == (capacity == 0 ? kSteps : 1));
      CHECK(std::count(story.begin(), story.end(), "X 1") == (capacity == 0 ? kSteps : 1));
      std::erase_if(story, [](const std::string& line) { return line.starts_with("X"); });
      for (int step = 0; step < kSteps; ++step) {
        REQUIRE(story.size() >= 2);
        CHECK(story[0] == "B NEGOTIATE_ALLREDUCE");
        CHECK(story[1] == "E");
        story.erase(story.begin(), story.begin() + 2);
        check_reduction(story, true);
      }
      CHECK(story.empty());
    }
  }
}

TEST_CASE("the file of a rank is named by the option") {
  CHECK(timeline_path("t.json", 0) == "t.json");
  CHECK(timeline_path("t.json", 1).empty());
  CHECK(timeline_path("a/t_%r.json", 12) == "a/t_0012.json");
  CHECK(timeline_path("", 0).empty());
}

TEST_CASE("a timeline that cannot be written is refused when the ranks are joined") {
  CommOptions options;
  options.timeline = "/no/such/folder/timeline.json";
  const std::vector<std::string> errors = run_job(options);
  CHECK_THAT(errors[0], Catch::Contains("cannot write the timeline /no/such/folder/timeline.json"));
}

}  // namespace
}  // namespace bertft
