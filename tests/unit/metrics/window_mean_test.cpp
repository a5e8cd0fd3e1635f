// The smoothed loss: exactly the mean of the last N values.
#include "metrics/window_mean.h"

#include "core/error.h"
#include "tests/support/test.h"

namespace bertft {
namespace {

TEST_CASE("The window mean is the mean of the last values") {
  WindowMean window(3);
  REQUIRE(window.mean() == 0.0);
  const std::vector<std::pair<double, double>> value_and_mean = {{3, 3}, {5, 4}, {1, 3}, {9, 5},
                                                                 {2, 4}, {1, 4}, {0, 1}};
  for (const auto& [value, mean] : value_and_mean) {
    window.add(value);
    REQUIRE(window.mean() == mean);
  }
  REQUIRE(window.values() == std::vector<double>{2, 1, 0});
}

TEST_CASE("The window mean keeps no trace of what has left it") {
  WindowMean fresh(4);
  WindowMean used(4);
  for (int i = 0; i < 1001; ++i) used.add(1e18);
  for (const double value : {0.1, 0.2, 0.3, 0.7}) {
    fresh.add(value);
    used.add(value);
  }
  REQUIRE(used.mean() == fresh.mean());
  WindowMean restored(4);
  for (const double value : used.values()) restored.add(value);
  REQUIRE(restored.mean() == used.mean());
}

TEST_CASE("A window of no values is a broken invariant") { REQUIRE_THROWS_AS(WindowMean(0), InternalError); }

}  // namespace
}  // namespace bertft
