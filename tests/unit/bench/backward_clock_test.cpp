#include "bench/backward_clock.h"

#include "core/timer.h"
#include "tests/support/test.h"

namespace bertft {
namespace {

TEST_CASE("units become ready in order, none before its share of the time") {
  const Layout layout = make_layout({{.name = "a", .shape = {160}}, {.name = "b", .shape = {480}}}, 160);
  REQUIRE(layout.units.size() == 4);
  for (const ComputeKind kind : {ComputeKind::kBusy, ComputeKind::kSleep}) {
    const BackwardClock clock(layout, 0.04, kind);
    CHECK(clock.ready_s(0) == Approx(0.01));
    CHECK(clock.ready_s(3) == Approx(0.04));
    std::vector<int> order;
    bool is_early = false;
    const Timer timer;
    clock.run([&](int unit) {
      is_early = is_early || timer.seconds() < clock.ready_s(unit) - 1e-6;
      order.push_back(unit);
    });
    CHECK(order == std::vector<int>{0, 1, 2, 3});
    CHECK_FALSE(is_early);
  }
}

}  // namespace
}  // namespace bertft
