// Jobs too large for every order: random orders in which some ranks and links are much slower than others, with the
// same promises checked after each action.
#include <fmt/format.h>

#include <random>

#include "tests/support/test.h"
#include "tests/unit/comm/decentral/negotiation_model.h"

namespace bertft::test {
namespace {

// Lets random actions happen until none is left; returns the model at its end. Each walk has its own idea of which
// actions are slow: with two candidates it mostly takes the one with the higher rank in that order.
NegotiationModel walk(const ModelOptions& options, uint64_t seed) {
  NegotiationModel model(options);
  std::mt19937_64 random(seed);
  const uint64_t salt = random();
  const auto urgency = [&](int action) { return hash64(&action, sizeof action, salt); };
  for (std::vector<int> actions = model.actions(); !actions.empty(); actions = model.actions()) {
    int chosen = actions[random() % actions.size()];
    const int other = actions[random() % actions.size()];
    if (random() % 4 != 0 && urgency(other) > urgency(chosen)) chosen = other;
    if (NegotiationModel::is_death(chosen) && random() % 30 != 0) continue;
    model.apply(chosen);
  }
  model.check_stuck();
  return model;
}

TEST_CASE("Every flag on each rank at each unit acts once, on all ranks, whatever the delays") {
  constexpr int kUnits = 3, kSteps = 3;
  for (int nodes = 2; nodes <= 9; ++nodes) {
    for (int raiser = 0; raiser < nodes; ++raiser) {
      for (int flag = 0; flag < kStatusFlagCount; ++flag) {
        for (int after = 0; after <= kUnits; ++after) {
          ModelOptions options{.nodes = nodes, .units = kUnits, .steps = kSteps};
          options.raiser = raiser;
          options.raised_flag = 1u << flag;
          options.raised_after = after;
          const auto seed = static_cast<uint64_t>(((nodes * 16 + raiser) * 8 + flag) * 8 + after);
          const std::vector<int64_t> verdicts = walk(options, seed).verdicts();
          INFO(nodes << " nodes, rank " << raiser << ", flag " << flag << " after " << after << " units");
          const bool now = verdicts[0] == options.raised_flag && verdicts[1] == 0;
          const bool next = verdicts[0] == 0 && verdicts[1] == options.raised_flag;
          REQUIRE((now || next));
          // Raised with the last unit unmarked, it is in time for the step: that unit is agreed after it.
          REQUIRE((now || after == kUnits));
          REQUIRE(verdicts[2] == 0);
        }
      }
    }
  }
}

TEST_CASE("Flags raised by several ranks of several nodes act as promised, whatever the delays") {
  for (uint64_t seed = 0; seed < 300; ++seed) {
    ModelOptions options{.nodes = 1 + static_cast<int>(seed % 5), .local_size = 1 + static_cast<int>(seed % 3)};
    options.units = 1 + static_cast<int>(seed % 7);
    options.steps = 4;
    options.flags = 8;
    options.capacity = 1 + seed % 2;
    options.sends_block = seed % 4 < 2;
    INFO("seed " << seed);
    REQUIRE_NOTHROW(walk(options, seed));
  }
}

TEST_CASE("Up to nine nodes end well when two of them die, whatever the delays") {
  for (uint64_t seed = 0; seed < 600; ++seed) {
    ModelOptions options{.nodes = 2 + static_cast<int>(seed % 8), .units = 2, .steps = 2, .flags = 2};
    options.deaths = 1 + static_cast<int>(seed / 8 % 2);
    options.sends_block = seed % 3 == 0;
    INFO("seed " << seed);
    REQUIRE_NOTHROW(walk(options, seed));
  }
}

TEST_CASE("A walk can fail: without a rule some random order breaks a promise") {
  int broken = 0;
  for (uint64_t seed = 0; seed < 50; ++seed) {
    ModelOptions options{.nodes = 4, .units = 3, .steps = 2};
    options.rules.growth_is_tested_after_rounds = false;
    try {
      walk(options, seed);
    } catch (const Violation&) {
      ++broken;
    }
  }
  REQUIRE(broken > 0);
}

}  // namespace
}  // namespace bertft::test
