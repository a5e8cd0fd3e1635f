// The contract of a communicator, as the world of one checks it: each unit exactly once a step, all of them before the
// step is finished.
#include "comm/local_communicator.h"

#include <numeric>

#include "core/error.h"
#include "tests/support/errors.h"

namespace bertft {
namespace {

using Catch::Contains;
using test::error_text;

Layout layout_of_units(int count) {
  std::vector<ParameterSpec> specs;
  for (int i = 0; i < count; ++i) specs.push_back({.name = std::to_string(i), .shape = {kAlignmentElements}});
  Layout layout = make_layout(specs, kAlignmentElements);
  REQUIRE(layout.units.size() == static_cast<size_t>(count));
  return layout;
}

TEST_CASE("A world of one has one rank and nothing to combine") {
  LocalCommunicator comm(layout_of_units(2), nullptr);
  REQUIRE(comm.rank() == 0);
  REQUIRE(comm.size() == 1);
  REQUIRE(comm.local_rank() == 0);
  REQUIRE(comm.local_size() == 1);
  REQUIRE_FALSE(comm.description().empty());
  REQUIRE(comm.all_gather("mine") == std::vector<std::string>{"mine"});
  const Agreement agreed = comm.agree({.flags = 5, .min = -1.5, .max = 2.5});
  REQUIRE(agreed.flags == 5);
  REQUIRE(agreed.min == -1.5);
  REQUIRE(agreed.max == 2.5);
  int value = 7;
  comm.broadcast(&value, sizeof value, 0);
  REQUIRE(value == 7);
  comm.barrier();
  REQUIRE(comm.counters().bytes == 0);
  REQUIRE(comm.counters().exposed_s == 0.0);
  REQUIRE_THAT(error_text<InternalError>([&] { comm.broadcast(&value, sizeof value, 1); }), Contains("rank"));
}

TEST_CASE("Units are announced in any order, once in every step") {
  LocalCommunicator comm(layout_of_units(3), nullptr);
  for (const std::vector<int>& order : {std::vector<int>{0, 1, 2}, {2, 0, 1}, {1, 2, 0}}) {
    comm.step_begin(1);
    for (const int unit : order) comm.mark_ready(unit);
    comm.finish();
  }
}

TEST_CASE("A world without units has steps, too") {
  LocalCommunicator comm(layout_of_units(0), nullptr);
  comm.step_begin(1);
  comm.finish();
}

TEST_CASE("A broken contract is an internal error that says which") {
  LocalCommunicator comm(layout_of_units(3), nullptr);
  REQUIRE_THAT(error_text<InternalError>([&] { comm.mark_ready(0); }), Contains("outside a step"));
  REQUIRE_THAT(error_text<InternalError>([&] { comm.finish(); }), Contains("outside a step"));
  comm.step_begin(1);
  REQUIRE_THAT(error_text<InternalError>([&] { comm.step_begin(2); }), Contains("inside a step"));
  comm.mark_ready(1);
  REQUIRE_THAT(error_text<InternalError>([&] { comm.mark_ready(1); }), Contains("twice"));
  comm.mark_ready(0);
  REQUIRE_THAT(error_text<InternalError>([&] { comm.finish(); }), Contains("never ready"));
  for (const int wrong : {-1, 3}) {
    REQUIRE_THAT(error_text<InternalError>([&] { comm.mark_ready(wrong); }), Contains("not in the layout"));
  }
  comm.mark_ready(2);
  comm.finish();
}

}  // namespace
}  // namespace bertft
