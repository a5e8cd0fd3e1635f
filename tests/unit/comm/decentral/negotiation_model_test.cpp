// The negotiation under every order in which anything can happen: what it promises, and that each of its rules is
// needed, since without it the exploration finds an order that breaks a promise (docs/communicator.md tells them).
#include "tests/unit/comm/decentral/negotiation_model.h"

#include <algorithm>
#include <string>
#include <vector>

#include "tests/support/test.h"

namespace bertft::test {
namespace {

using Catch::Contains;

void require_all_orders_keep_promises(const std::vector<ModelOptions>& models) {
  for (const ModelOptions& options : models) {
    const Exploration found = explore(NegotiationModel(options));
    INFO(options.nodes << " nodes of " << options.local_size << ", " << options.units << " units, " << options.steps
                       << " steps, " << options.flags << " flags, " << options.deaths << " deaths: " << found.states
                       << " states");
    REQUIRE(found.counterexample == "");
    REQUIRE(found.is_complete);
    REQUIRE(found.final_states > 0);
  }
}

TEST_CASE("Nodes agree in every order of deliveries, marks and flags") {
  require_all_orders_keep_promises({
      {.nodes = 1, .units = 3, .steps = 2, .flags = 2},
      {.nodes = 2, .units = 3, .flags = 1},
      {.nodes = 2, .units = 2, .steps = 2, .flags = 2},
      {.nodes = 2, .units = 1, .steps = 3, .flags = 2},
      {.nodes = 3, .units = 2},
      {.nodes = 3, .units = 2, .flags = 1, .any_order = false},
      {.nodes = 3, .units = 3, .any_order = false},
      {.nodes = 3, .units = 2, .steps = 2, .any_order = false},
      {.nodes = 3, .units = 1, .steps = 2, .flags = 1},
      {.nodes = 4, .units = 1, .flags = 1},
  });
}

TEST_CASE("Ranks of a node agree through shared words in every order") {
  require_all_orders_keep_promises({
      {.nodes = 1, .local_size = 2, .units = 2, .steps = 2, .flags = 2},
      {.nodes = 1, .local_size = 3, .units = 1, .steps = 3, .flags = 2},
      {.nodes = 2, .local_size = 2, .units = 1, .steps = 2, .flags = 1},
      {.nodes = 2, .local_size = 2, .units = 2},
  });
}

TEST_CASE("Survivors of one and two deaths come to their end and name one that died") {
  require_all_orders_keep_promises({
      {.nodes = 2, .units = 2, .steps = 2, .deaths = 1},
      {.nodes = 2, .units = 1, .steps = 2, .flags = 1, .deaths = 2},
      {.nodes = 3, .units = 1, .steps = 2, .deaths = 1},
      {.nodes = 3, .units = 1, .deaths = 2},
      {.nodes = 3, .units = 2, .deaths = 1, .any_order = false},
  });
}

TEST_CASE("Links of one message are enough, also when a sender reads nothing until it has sent") {
  require_all_orders_keep_promises({
      {.nodes = 2, .units = 2, .steps = 2, .flags = 1, .sends_block = true},
      {.nodes = 3, .units = 2, .any_order = false, .sends_block = true},
      {.nodes = 3, .units = 1, .steps = 2, .sends_block = true},
      {.nodes = 3, .units = 1, .deaths = 2, .sends_block = true},
      {.nodes = 4, .units = 1, .sends_block = true},
      {.nodes = 2, .units = 2, .steps = 2, .flags = 1, .capacity = 2},
      {.nodes = 3, .units = 2, .any_order = false, .capacity = 2},
  });
}

// Minutes and gigabytes: run by hand, unit_comm "[.explore]".
TEST_CASE("Larger jobs in every order", "[.explore]") {
  require_all_orders_keep_promises({
      {.nodes = 2, .units = 3, .flags = 2},
      {.nodes = 3, .units = 1, .steps = 2, .flags = 2},
      {.nodes = 3, .units = 2, .flags = 1},
      {.nodes = 3, .units = 2, .flags = 2, .any_order = false},
      {.nodes = 3, .units = 1, .flags = 1, .deaths = 2},
      {.nodes = 4, .units = 2, .any_order = false},
      {.nodes = 4, .units = 1, .flags = 2},
      {.nodes = 4, .units = 1, .deaths = 1},
      {.nodes = 4, .units = 1, .steps = 2},
      {.nodes = 2, .local_size = 2, .units = 2, .steps = 2},
  });
}

struct Mutation {
  const char* rule;
  ModelOptions options;
  const char* broken_promise;
  size_t most_actions;  // of the shortest counterexample
};

ModelOptions without(bool DecentralRules::*rule, ModelOptions options) {
  options.rules.*rule = false;
  return options;
}

TEST_CASE("Each rule is needed: without it some order breaks a promise") {
  using R = DecentralRules;
  const Mutation mutations[] = {
      {"growth is tested again after every round", without(&R::growth_is_tested_after_rounds, {.nodes = 2, .units = 2}),
       "rank 0 is not stuck", 8},
      {"word and flags are read once, on joining", without(&R::snapshot_is_taken_once, {.nodes = 2, .units = 2}),
       "all nodes agree on the same units", 8},
      {"messages of later rounds wait", without(&R::later_rounds_wait, {.nodes = 2, .units = 1, .steps = 2}),
       "is not stuck", 10},
      {"messages of the next step wait until it begins here",
       without(&R::later_steps_wait, {.nodes = 2, .units = 1, .steps = 2}), "agreed only when rank 1 has it ready", 11},
      {"flags start no rounds", without(&R::flags_start_no_rounds, {.nodes = 2, .units = 1, .flags = 2}),
       "at most nodes x units rounds", 10},
      {"the verdict is what was agreed, not what a rank knows",
       without(&R::verdict_is_what_was_agreed, {.nodes = 2, .units = 1, .flags = 1}), "at the same step on all", 9},
      {"a flag is cleared when it has acted",
       without(&R::acted_flags_are_cleared, {.nodes = 2, .units = 1, .steps = 2, .flags = 1}), "once for each time",
       15},
      {"a flag that has not acted stays", without(&R::unacted_flags_stay, {.nodes = 2, .steps = 2, .flags = 1}),
       "at the end of the step after it was raised", 15},
      {"shared words carry the step",
       without(&R::shared_words_carry_the_step, {.nodes = 1, .local_size = 2, .steps = 2}),
       "agreed only when rank 1 has it ready", 7},
      {"there are two result slots", without(&R::two_result_slots, {.nodes = 1, .local_size = 2, .steps = 2}),
       "is not stuck", 8},
      {"a failing rank tells the cause before it closes",
       {.nodes = 3, .deaths = 1, .causes_go_first = false},
       "names one that died, not node 0",
       6},
      {"a failing rank reads until its cause is out",
       {.nodes = 4, .deaths = 1, .failing_ranks_read = false},
       "comes to its end",
       12},
  };
  for (const Mutation& mutation : mutations) {
    const Exploration found = explore(NegotiationModel(mutation.options), {.shortest = true});
    INFO("without the rule that " << mutation.rule << ", " << found.states << " states:\n" << found.counterexample);
    REQUIRE_THAT(found.counterexample, Contains(mutation.broken_promise));
    const auto lines = std::count(found.counterexample.begin(), found.counterexample.end(), '\n');
    REQUIRE(static_cast<size_t>(lines) - 1 <= mutation.most_actions);
  }
}

}  // namespace
}  // namespace bertft::test
