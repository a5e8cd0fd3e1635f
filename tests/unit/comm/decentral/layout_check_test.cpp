// Ranks with different parameters: the first difference and the ranks, the same message on all of them.
#include "comm/decentral/layout_check.h"

#include <condition_variable>
#include <mutex>
#include <thread>

#include "core/error.h"
#include "tests/support/errors.h"

namespace bertft {
namespace {

using Catch::Contains;

std::vector<ParameterSpec> specs() {
  return {{.name = "head.weight", .shape = {2, 32}},
          {.name = "head.bias", .shape = {2}},
          {.name = "layer.weight", .shape = {32, 32}}};
}

Layout layout_of(const std::vector<ParameterSpec>& parameters, int64_t unit_elements = 256) {
  return make_layout(parameters, unit_elements);
}

// Ranks as threads: all_gather() waits for all of them.
class Gathering {
 public:
  explicit Gathering(size_t ranks) : texts_(ranks) {}
  std::vector<std::string> all_gather(size_t rank, const std::string& mine) {
    std::unique_lock lock(mutex_);
    texts_[rank] = mine;
    const int turn = turn_;
    if (++arrived_ == texts_.size()) {
      arrived_ = 0;
      ++turn_;
      result_ = texts_;
      changed_.notify_all();
    }
    changed_.wait(lock, [&] { return turn_ != turn; });
    ++calls_;
    return result_;
  }
  size_t calls() const { return calls_; }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  std::vector<std::string> texts_, result_;
  size_t arrived_ = 0, calls_ = 0;
  int turn_ = 0;
};

struct Side {
  Layout layout;
  std::string dtype = "fp32";
};

// What each rank's check says; "" when it is content.
std::vector<std::string> check_all(const std::vector<Side>& sides, size_t expected_gathers) {
  Gathering gathering(sides.size());
  std::vector<std::string> messages(sides.size());
  std::vector<std::thread> threads;
  for (size_t rank = 0; rank < sides.size(); ++rank) {
    threads.emplace_back([&, rank] {
      try {
        check_layout(sides[rank].layout, sides[rank].dtype,
                     [&, rank](const std::string& mine) { return gathering.all_gather(rank, mine); });
      } catch (const CommError& error) {
        messages[rank] = error.what();
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  REQUIRE(gathering.calls() == expected_gathers * sides.size());
  for (const std::string& message : messages) REQUIRE(message == messages[0]);
  return messages;
}

TEST_CASE("Equal layouts are told by their hashes alone") {
  const Side side{layout_of(specs())};
  REQUIRE(check_all({side, side, side}, 1)[0] == "");
  REQUIRE(check_all({side}, 1)[0] == "");
}

TEST_CASE("The first difference is named with its ranks") {
  const Side good{layout_of(specs())};
  auto other = specs();
  other[1].shape = {3};
  REQUIRE_THAT(check_all({good, {layout_of(other)}, good, good}, 3)[0],
               Contains("ranks 0, 2-3: head.bias [2] fp32") && Contains("rank 1: head.bias [3] fp32") &&
                   Contains("line 2") && Contains("same program, configuration and checkpoint"));
  other = specs();
  std::swap(other[0], other[1]);
  REQUIRE_THAT(check_all({good, good, {layout_of(other)}}, 3)[0],
               Contains("ranks 0-1: head.weight [2, 32]") && Contains("rank 2: head.bias [2]"));
  other = specs();
  other[2].name = "layer.kernel";
  REQUIRE_THAT(check_all({{layout_of(other)}, good}, 3)[0],
               Contains("rank 0: layer.kernel") && Contains("rank 1: layer.weight"));
}

TEST_CASE("A parameter that some ranks lack, another type, another cut into units") {
  const Side good{layout_of(specs())};
  auto shorter = specs();
  shorter.pop_back();
  REQUIRE_THAT(check_all({good, {layout_of(shorter)}}, 3)[0], Contains("rank 0: layer.weight [32, 32]"));
  REQUIRE_THAT(check_all({good, {good.layout, "fp64"}}, 3)[0],
               Contains("rank 0: head.weight [2, 32] fp32") && Contains("rank 1: head.weight [2, 32] fp64"));
  REQUIRE_THAT(check_all({good, {layout_of(specs(), 512)}}, 3)[0], Contains("units"));
  Side frozen = good;
  frozen.layout.units.pop_back();
  REQUIRE_THAT(check_all({good, good, frozen}, 3)[0], Contains("ranks 0-1: unit") && Contains("rank 2: nothing more"));
}

TEST_CASE("Many kinds of ranks are summed up") {
  REQUIRE(describe_difference({"a", "a"}) == "");
  REQUIRE(describe_difference({"a", "b", "a", "c", "d", "e", "f"}) ==
          "ranks 0, 2: a; rank 1: b; rank 3: c; rank 4: d; and 2 more kinds");
  REQUIRE(describe_difference({"x", "a", "a", "a", "x", "a"}) == "ranks 0, 4: x; ranks 1-3, 5: a");
}

TEST_CASE("A table that is no table is refused") {
  const Layout layout = layout_of(specs());
  REQUIRE_THROWS_AS(check_layout(layout, "fp32",
                                 [](const std::string& mine) {
                                   return std::vector<std::string>{mine, "not a hash"};
                                 }),
                    CommError);
}

}  // namespace
}  // namespace bertft
