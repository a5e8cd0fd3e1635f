// Schedules, step by step, against transformers (tests/golden/optim), and the rules between their options.
#include "optim/schedule.h"

#include <nlohmann/json.hpp>

#include "core/error.h"
#include "core/files.h"
#include "tests/support/errors.h"

namespace bertft {
namespace {

TEST_CASE("Every step's factor equals that of the reference's schedule") {
  const auto golden = nlohmann::json::parse(read_file("tests/golden/optim/optim.json"));
  REQUIRE(golden["schedules"].size() == 48);
  for (const auto& one : golden["schedules"]) {
    ScheduleOptions options;
    options.type = one["type"];
    options.power = one.value("power", options.power);
    options.end_learning_rate = one.value("end_learning_rate", options.end_learning_rate);
    const auto total = one["total"].get<int64_t>();
    const auto warmup = one["warmup"].get<int64_t>();
    for (int64_t step = 1; step <= total; ++step) {
      INFO(options.type << ": step " << step << " of " << total << ", warm-up " << warmup);
      const double expected = one["factors"][static_cast<size_t>(step - 1)];
      REQUIRE(schedule_factor(options, step, warmup, total, one["peak"]) ==
              Approx(expected).epsilon(1e-14).margin(1e-300));
    }
  }
}

double linear_factor(int64_t step, int64_t warmup, int64_t total) {
  return schedule_factor({}, step, warmup, total, 5e-5);
}

TEST_CASE("The corners of the linear schedule") {
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

TEST_CASE("Behind the last step cosine and polynomial schedules stay at their end") {
  REQUIRE(schedule_factor({.type = "cosine"}, 11, 4, 10, 5e-5) == Approx(0.0).margin(1e-16));
  const ScheduleOptions polynomial = {.type = "polynomial", .end_learning_rate = 1e-5};
  for (const int64_t step : {11, 12, 1000}) REQUIRE(schedule_factor(polynomial, step, 4, 10, 5e-5) == 1e-5 / 5e-5);
  REQUIRE(schedule_factor(polynomial, 11, 10, 10, 5e-5) == 1e-5 / 5e-5);  // nothing but warm-up
}

TEST_CASE("Options that only another type takes are refused, and defaults never are") {
  for (const char* type : {"adamw", "lamb", "adam", "sgd"}) check_optimizer_options({.type = type}, {});
  for (const char* type : {"linear", "cosine", "constant", "polynomial"}) check_optimizer_options({}, {.type = type});
  const auto refused = [](const OptimizerOptions& optimizer, const ScheduleOptions& schedule, const char* part) {
    REQUIRE_THAT(test::error_text<ConfigError>([&] { check_optimizer_options(optimizer, schedule); }),
                 Catch::Contains(part));
  };
  refused({.momentum = 0.9}, {}, "optimizer.momentum");
  refused({.type = "sgd", .betas = {0.8, 0.9}}, {}, "optimizer.betas");
  refused({.type = "sgd", .epsilon = 1e-6}, {}, "optimizer.eps");
  refused({.type = "sgd", .bias_correction = false}, {}, "optimizer.bias_correction");
  refused({}, {.power = 2.0}, "schedule.power");
  refused({}, {.type = "cosine", .end_learning_rate = 1e-6}, "schedule.end_learning_rate");
  refused({}, {.type = "polynomial", .end_learning_rate = 1e-3}, "must be below optimizer.learning_rate");
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
