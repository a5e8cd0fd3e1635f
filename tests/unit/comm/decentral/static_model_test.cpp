// The frozen schedule under every order in which ranks, lanes and flag words can move, and that its rules are needed.
#include "tests/unit/comm/decentral/static_model.h"

#include <algorithm>

#include "tests/support/test.h"

namespace bertft::test {
namespace {

using Catch::Contains;

TEST_CASE("With a frozen schedule flags act together and a surprise ends it on all ranks, in every order") {
  const uint32_t surprise = kFlagSurprise, save = kFlagSave;
  for (const StaticOptions& options : {
           StaticOptions{.ranks = 2, .units = 1, .steps = 3, .raises = {surprise, save}},
           StaticOptions{.ranks = 2, .units = 1, .steps = 3, .raises = {surprise, surprise}},
           StaticOptions{.ranks = 2, .units = 2, .steps = 2, .raises = {save, surprise}},
           StaticOptions{.ranks = 2, .units = 2, .lanes = 2, .steps = 2, .raises = {surprise}},
           StaticOptions{.ranks = 2, .units = 3, .lanes = 2, .steps = 1, .raises = {surprise}},
           StaticOptions{.ranks = 3, .units = 1, .steps = 2, .raises = {surprise}},
       }) {
    const Exploration found = explore(StaticModel(options));
    INFO(options.ranks << " ranks, " << options.units << " units, " << options.lanes << " lanes, " << options.steps
                       << " steps: " << found.states << " states");
    REQUIRE(found.counterexample == "");
    REQUIRE(found.is_complete);
    REQUIRE(found.final_states > 0);
  }
}

// Minutes: run by hand, unit_comm "[.explore]".
TEST_CASE("Larger frozen schedules in every order", "[.explore]") {
  for (const StaticOptions& options : {
           StaticOptions{.ranks = 3, .units = 2, .steps = 1, .raises = {kFlagSurprise}},
           StaticOptions{.ranks = 3, .units = 1, .steps = 2, .raises = {kFlagSurprise, kFlagSave}},
           StaticOptions{.ranks = 2, .units = 3, .lanes = 2, .steps = 2, .raises = {kFlagSurprise}},
       }) {
    const Exploration found = explore(StaticModel(options));
    INFO(options.ranks << " ranks, " << options.units << " units: " << found.states << " states");
    REQUIRE(found.counterexample == "");
    REQUIRE(found.is_complete);
  }
}

TEST_CASE("Each rule of the frozen schedule is needed") {
  struct Mutation {
    const char* rule;
    const char* broken_promise;
    StaticOptions options;
  };
  StaticOptions options{.ranks = 2, .units = 1, .steps = 2, .raises = {kFlagSurprise}};
  std::vector<Mutation> mutations;
  mutations.push_back({"the verdict is what came back, never a rank's own flags", "at the same step on all", options});
  mutations.back().options.rules.verdict_is_what_was_agreed = false;
  mutations.push_back({"the owner of a slice closes its word once", "at the same step on all", options});
  mutations.back().options.words_close_once = false;
  mutations.push_back({"a flag that came too late stays", "at the end of the step after it was raised", options});
  mutations.back().options.rules.unacted_flags_stay = false;
  mutations.push_back({"a flag is cleared when it has acted", "once for each time", options});
  mutations.back().options.rules.acted_flags_are_cleared = false;
  for (const Mutation& mutation : mutations) {
    const Exploration found = explore(StaticModel(mutation.options), {.shortest = true});
    INFO("without the rule that " << mutation.rule << ":\n" << found.counterexample);
    REQUIRE_THAT(found.counterexample, Contains(mutation.broken_promise));
  }
}

}  // namespace
}  // namespace bertft::test
