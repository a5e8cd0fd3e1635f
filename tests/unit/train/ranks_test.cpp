// Ranks fail together, say once what differs, and add up in the same order. The texts of other ranks are given here:
// each case looks at the job through the eyes of one rank at a time.
#include "train/ranks.h"

#include <cstring>
#include <nlohmann/json.hpp>

#include "core/error.h"
#include "tests/support/errors.h"

namespace bertft {
namespace {

using Catch::Contains;
using test::error_text;

World world_of(int rank) { return make_world(rank, {"x", "x", "y"}, {"node-a", "node-a", "node-b"}); }

// A gather in which the other ranks say `others`.
GatherTexts gather_with(int rank, std::vector<std::string> others) {
  return [rank, others = std::move(others)](const std::string& mine) mutable {
    others[static_cast<size_t>(rank)] = mine;
    return others;
  };
}

std::string failure(ExitCode code, const char* message) {
  return nlohmann::json{static_cast<int>(code), message}.dump();
}

TEST_CASE("Nothing happens when no rank fails") {
  int runs = 0;
  all_or_none(world_of(1), gather_with(1, {"", "", ""}), [&] { ++runs; });
  REQUIRE(runs == 1);
}

TEST_CASE("A failure of one rank is thrown on all of them, and told by rank 0 with the name of the one") {
  const std::string theirs = failure(ExitCode::kData, "no such file");
  try {
    all_or_none(world_of(0), gather_with(0, {"", "", theirs}), [] {});
    FAIL("nothing was thrown");
  } catch (const ReportedElsewhere&) {
    FAIL("rank 0 has to tell it");
  } catch (const Error& error) {
    CHECK(error.code() == ExitCode::kData);
    CHECK(std::string(error.what()) == "rank 2 (node-b): no such file");
  }
  REQUIRE_THROWS_AS(all_or_none(world_of(1), gather_with(1, {"", "", theirs}), [] {}), ReportedElsewhere);
  REQUIRE_THROWS_AS(all_or_none(world_of(2), gather_with(2, {"", "", ""}), [] { throw DataError("no such file"); }),
                    ReportedElsewhere);
}

TEST_CASE("A failure that all ranks share is told once without names, different ones with the ranks of each") {
  const std::string same = failure(ExitCode::kConfig, "unknown key");
  const auto fail = [] { throw ConfigError("unknown key"); };
  CHECK(error_text<Error>([&] { all_or_none(world_of(0), gather_with(0, {"", same, same}), fail); }) == "unknown key");
  const std::string other = failure(ExitCode::kData, "no data");
  CHECK(error_text<Error>([&] {
          all_or_none(world_of(0), gather_with(0, {"", same, other}), fail);
        }) == "rank 0 (node-a), rank 1 (node-a): unknown key\nrank 2 (node-b): no data");
}

TEST_CASE("The first fact that differs is named with its values and ranks") {
  const Facts mine = {{"version", "1"}, {"data.train", "abc"}, {"seed", "3"}};
  Facts theirs = mine;
  const auto text = [](const Facts& facts) {
    nlohmann::json json = nlohmann::json::array();
    for (const Fact& fact : facts) json.push_back({fact.name, fact.value, fact.origin});
    return json.dump();
  };
  require_equal_facts(world_of(0), gather_with(0, {"", text(mine), text(theirs)}), mine);
  theirs[1] = {"data.train", "xyz", "--set"};
  theirs[2].value = "4";
  const std::string message = error_text<Error>([&] {
    require_equal_facts(world_of(0), gather_with(0, {"", text(mine), text(theirs)}), mine);
  });
  CHECK_THAT(message,
             Contains("data.train differs:\n  rank 0 (node-a), rank 1 (node-a): abc\n  rank 2 (node-b): xyz (--set)"));
  CHECK_THAT(message, !Contains("seed"));
  theirs = mine;
  theirs[0].origin = "another place";  // is no difference
  require_equal_facts(world_of(0), gather_with(0, {"", text(mine), text(theirs)}), mine);
  theirs[2].value = "";
  CHECK_THAT(error_text<Error>([&] {
               require_equal_facts(world_of(0), gather_with(0, {"", text(mine), text(theirs)}), mine);
             }),
             Contains("rank 2 (node-b): not set"));
  theirs = {{"version", "1"}};
  CHECK_THAT(error_text<Error>([&] {
               require_equal_facts(world_of(0), gather_with(0, {"", text(mine), text(theirs)}), mine);
             }),
             Contains("data.train differs") && Contains("rank 2 (node-b): not known there"));
}

TEST_CASE("Sums are taken in rank order") {
  const auto bytes = [](double value) {
    std::string text(sizeof value, '\0');
    std::memcpy(text.data(), &value, sizeof value);
    return text;
  };
  CHECK(sum_over_ranks(gather_with(0, {"", bytes(1e16), bytes(-1e16)}), 1.0) == 1.0 + 1e16 - 1e16);
  CHECK(sum_over_ranks(gather_with(2, {bytes(1e16), bytes(-1e16), ""}), 1.0) == 1.0);
  REQUIRE_THROWS_AS(sum_over_ranks(gather_with(0, {"", "x", bytes(1.0)}), 1.0), InternalError);
}

}  // namespace
}  // namespace bertft
