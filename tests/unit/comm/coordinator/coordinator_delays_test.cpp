// Random orders of readiness, delays and flags on 2 to 9 ranks: all agree on the same, and nothing hangs.
#include <algorithm>
#include <numeric>
#include <optional>
#include <random>
#include <set>

#include "tests/support/test.h"
#include "tests/unit/comm/coordinator/coordinator_world.h"

namespace bertft {

namespace {

constexpr int kFusionBytes[] = {0, 64, 1 << 20};

struct Raise {
  int rank;
  int64_t step;
  int before_unit;  // raised right before the rank marks its unit of this place in its order
  uint32_t flag;
};

// Runs steps with every order and delay that the seed picks: each rank marks the units in an order of its own, cycles
// begin whenever the rank is idle, each message takes its time.
class Storm {
 public:
  Storm(const CoordinatorOptions& options, const std::vector<TensorSpec>& units, int64_t steps, uint64_t seed,
        std::optional<Raise> raise = std::nullopt)
      : world_(options, units),
        units_(static_cast<int>(units.size())),
        steps_(steps),
        random_(seed),
        raise_(raise),
        ranks_(static_cast<size_t>(options.size)),
        caches_(static_cast<size_t>(options.size)) {}

  // False when it has not come to its end: a deadlock or a livelock.
  bool run() {
    for (int event = 0; event < 400000; ++event) {
      if (std::all_of(ranks_.begin(), ranks_.end(), [&](const Rank& rank) { return rank.steps_done == steps_; })) {
        return true;
      }
      any_event();
    }
    return false;
  }

  CoordinatorWorld& world() { return world_; }
  // What a rank was told at the end of each of its steps.
  const std::vector<uint32_t>& flags(int rank) const { return ranks_[static_cast<size_t>(rank)].flags; }
  // By cycle: the names of the cache after it.
  const std::vector<std::vector<std::string>>& caches(int rank) const { return caches_[static_cast<size_t>(rank)]; }

 private:
  struct Rank {
    int64_t steps_done = 0;
    bool is_in_step = false;
    std::vector<int> order;
    size_t marked = 0;
    std::vector<uint32_t> flags;
  };

  void any_event() {
    const auto open = world_.open_channels();
    const auto rank = static_cast<int>(random_() % ranks_.size());
    switch (random_() % 4) {
      case 0:
        proceed(rank);
        break;
      case 1:
        if (!world_.rank(rank).is_running()) {
          world_.tick(rank, 0.0);
          note(rank);
        }
        break;
      default:
        if (!open.empty()) {
          const auto [from, to] = open[random_() % open.size()];
          const bool was_running = world_.rank(to).is_running();
          world_.deliver(from, to, 0.0);
          if (was_running) {
            note(to);
          }
        }
    }
  }

  void note(int rank) {
    if (!world_.rank(rank).is_running()) {
      caches_[static_cast<size_t>(rank)].push_back(world_.cached(rank));
    }
  }

  // The compute thread of a rank: begins a step, marks its next unit, or sees that the step is agreed.
  void proceed(int number) {
    Rank& rank = ranks_[static_cast<size_t>(number)];
    CoordinatorController& controller = world_.rank(number);
    if (!rank.is_in_step && rank.steps_done < steps_) {
      controller.step_begin(1000 + rank.steps_done);
      rank.is_in_step = true;
      rank.marked = 0;
      rank.order.resize(static_cast<size_t>(units_));
      std::iota(rank.order.begin(), rank.order.end(), 0);
      std::shuffle(rank.order.begin(), rank.order.end(), random_);
    } else if (rank.is_in_step && rank.marked < rank.order.size()) {
      if (raise_ && raise_->rank == number && raise_->step == rank.steps_done &&
          raise_->before_unit == static_cast<int>(rank.marked)) {
        controller.raise(raise_->flag);
      }
      controller.mark_ready(rank.order[rank.marked++]);
    } else if (rank.is_in_step && controller.step_done()) {
      rank.flags.push_back(controller.step_end());
      rank.is_in_step = false;
      ++rank.steps_done;
    }
  }

  CoordinatorWorld world_;
  int units_;
  int64_t steps_;
  std::mt19937_64 random_;
  std::optional<Raise> raise_;
  std::vector<Rank> ranks_;
  std::vector<std::vector<std::vector<std::string>>> caches_;
};

std::vector<TensorSpec> mixed_units(int count, std::mt19937_64& random) {
  std::vector<TensorSpec> units = plain_units(count);
  for (TensorSpec& unit : units) {
    unit.traits.type = random() % 3 == 0 ? TensorType::kFloat16 : TensorType::kFloat32;
    unit.traits.shape = {static_cast<int64_t>(random() % 9), static_cast<int64_t>(random() % 4)};
  }
  return units;
}

// Each step's groups hold each unit once, and all ranks have the same rounds.
void check_rounds(CoordinatorWorld& world, int units, int64_t steps) {
  const std::vector<AgreedRound>& rounds = world.rounds(0);
  for (int rank = 1; rank < world.size(); ++rank) {
    REQUIRE(world.rounds(rank) == rounds);
  }
  std::vector<std::multiset<int>> seen(static_cast<size_t>(steps));
  int64_t step = 1000;
  int64_t number = 0;
  for (const AgreedRound& round : rounds) {
    if (round.step != step) {
      REQUIRE(round.step == step + 1);
      ++step;
      number = 0;
    }
    REQUIRE(round.round == number++);
    for (const auto& group : round.groups) {
      REQUIRE_FALSE(group.empty());
      seen[static_cast<size_t>(round.step - 1000)].insert(group.begin(), group.end());
    }
  }
  for (const auto& of_step : seen) {
    CHECK(of_step.size() == static_cast<size_t>(units));
    CHECK(std::set<int>(of_step.begin(), of_step.end()).size() == static_cast<size_t>(units));
  }
}

}  // namespace

TEST_CASE("with any order and delay all ranks agree on the same rounds and their caches never differ") {
  for (int n = 2; n <= 9; ++n) {
    for (uint64_t seed = 0; seed < 24; ++seed) {
      std::mt19937_64 random(seed * 31 + static_cast<uint64_t>(n));
      const int units = 1 + static_cast<int>(random() % 10);
      CoordinatorOptions options{.size = n};
      options.cache_capacity = seed % 4 == 0 ? 0 : 1 + static_cast<int>(random() % 12);
      options.fusion.threshold_bytes = kFusionBytes[random() % 3];
      options.tree = seed % 2 == 0 ? CycleTree::kBinomial : CycleTree::kLinear;
      options.has_timeline = random() % 2 == 0;
      Storm storm(options, mixed_units(units, random), 5, seed);
      CAPTURE(n, seed, units, options.cache_capacity, options.fusion.threshold_bytes);
      REQUIRE(storm.run());
      check_rounds(storm.world(), units, 5);
      for (int rank = 1; rank < n; ++rank) {
        const size_t common = std::min(storm.caches(rank).size(), storm.caches(0).size());
        REQUIRE(common > 0);
        for (size_t cycle = 0; cycle < common; ++cycle) {
          REQUIRE(storm.caches(rank)[cycle] == storm.caches(0)[cycle]);
        }
      }
    }
  }
}

TEST_CASE("each flag raised on each rank at each unit reaches all ranks within the same step") {
  for (int n = 2; n <= 9; ++n) {
    for (int rank = 0; rank < n; ++rank) {
      for (int flag = 0; flag < kStatusFlagCount; ++flag) {
        for (int place = 0; place < 3; ++place) {
          const uint32_t bit = 1u << flag;
          const auto seed = static_cast<uint64_t>(((n * 10 + rank) * 10 + flag) * 10 + place);
          const CoordinatorOptions options{.size = n, .cache_capacity = seed % 3 == 0 ? 0 : 8};
          Storm storm(options, plain_units(3), 3, seed, Raise{rank, 1, place, bit});
          CAPTURE(n, rank, flag, place);
          REQUIRE(storm.run());
          check_rounds(storm.world(), 3, 3);
          for (int other = 0; other < n; ++other) {
            CHECK(storm.flags(other) == std::vector<uint32_t>{0, bit, 0});
          }
        }
      }
    }
  }
}

}  // namespace bertft
