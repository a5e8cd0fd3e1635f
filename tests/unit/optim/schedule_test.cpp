// The linear schedule, step by step, against transformers (tests/golden/optim).
#include "optim/schedule.h"

#include <nlohmann/json.hpp>

#include "core/error.h"
#include "core/files.h"
#include "tests/support/errors.h"

namespace bertft {
namespace {

TEST_CASE("Every step's factor equals that of get_linear_schedule_with_warmup") {
  const auto golden = nlohmann::json::parse(read_file("tests/golden/optim/optim.json"));
  REQUIRE(golden["schedules"].size() == 8);
  for (const auto& one : golden["schedules"]) {
    const auto total = one["total"].get<int64_t>();
    const auto warmup = one["warmup"].get<int64_t>();
    for (int64_t step = 1; step <= total; ++step) {
      INFO("step " << step << " of " << total << ", warm-up " << warmup);
      const double expected = one["factors"][static_cast<size_t>(step - 1)];
      REQUIRE(linear_factor(step, warmup, total) == Approx(expected).epsilon(1e-15).margin(1e-300));
    }
  }
}

TEST_CASE("The corners of the schedule") {
  REQUIRE(linear_factor(1, 0, 10) == 1.0);         // no warm-up: at the peak at once
  REQUIRE(linear_factor(1, 4, 10) == 0.0);         // the first warm-up step does not move
  REQUIRE(linear_factor(4, 4, 10) == 0.75);        // the last one
  REQUIRE(linear_factor(5, 4, 10) == 1.0);         // the peak follows it
  REQUIRE(linear_factor(10, 4, 10) == 1.0 / 6.0);  // the last step still moves
  REQUIRE(linear_factor(11, 4, 10) == 0.0);
  REQUIRE(linear_factor(1000, 4, 10) == 0.0);
  REQUIRE(linear_factor(10, 10, 10) == 0.9);  // nothing but warm-up
  REQUIRE(linear_factor(1, 1, 1) == 0.0);
  test::error_text<InternalError>([] { linear_factor(0, 1, 10); });
}

TEST_CASE("Warm-up steps are rounded up, and a given number wins") {
  const auto golden = nlohmann::json::parse(read_file("tests/golden/optim/optim.json"));
  REQUIRE(golden["warmup"].size() == 8);
  for (const auto& one : golden["warmup"]) {
    ScheduleOptions options;
    options.warmup_ratio = one["ratio"];
    REQUIRE(warmup_steps(options, one["total"].get<int64_t>()) == one["steps"].get<int64_t>());
    options.warmup_steps = 5;
    REQUIRE(warmup_steps(options, one["total"].get<int64_t>()) == 5);
    options.warmup_steps = 0;
    REQUIRE(warmup_steps(options, one["total"].get<int64_t>()) == 0);
  }
}

}  // namespace
}  // namespace bertft
