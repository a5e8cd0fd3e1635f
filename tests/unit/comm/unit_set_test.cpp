// Sets of units: the bits that go over the wire, and that nothing outside the layout can get in.
#include "comm/unit_set.h"

#include <cstdint>
#include <set>
#include <vector>

#include "comm/agreed.h"
#include "core/error.h"
#include "tests/support/errors.h"

namespace bertft {
namespace {

using Catch::Contains;
using test::error_text;

UnitSet set_of(int units, const std::vector<int>& members) {
  UnitSet set(units);
  for (const int unit : members) set.add(unit);
  return set;
}

TEST_CASE("Unit u is bit u % 64 of word u / 64") {
  REQUIRE(set_of(130, {0, 63, 64, 129}).words() == std::vector<uint64_t>{(uint64_t{1} << 63) | 1, 1, 2});
  for (const int units : {0, 1, 63, 64, 65, 128, 201}) {
    REQUIRE(UnitSet(units).words().size() == UnitSet::word_count(units));
    const UnitSet all = UnitSet::all(units);
    REQUIRE(all.count() == units);
    REQUIRE(UnitSet::from_words(units, all.words()) == all);
    REQUIRE(UnitSet(units).empty());
    REQUIRE(all.empty() == (units == 0));
  }
}

TEST_CASE("Set operations agree with those of a set of numbers") {
  uint64_t random = 12345;
  const auto draw = [&](int units) {
    std::set<int> members;
    for (int unit = 0; unit < units; ++unit) {
      random = random * 6364136223846793005u + 1442695040888963407u;
      if ((random >> 60) < 6) members.insert(unit);
    }
    return members;
  };
  for (const int units : {1, 7, 64, 65, 200}) {
    const std::set<int> a = draw(units), b = draw(units);
    std::vector<int> both, either, only_a;
    for (int unit = 0; unit < units; ++unit) {
      if (a.count(unit) && b.count(unit)) both.push_back(unit);
      if (a.count(unit) || b.count(unit)) either.push_back(unit);
      if (a.count(unit) && !b.count(unit)) only_a.push_back(unit);
    }
    const UnitSet sa = set_of(units, {a.begin(), a.end()}), sb = set_of(units, {b.begin(), b.end()});
    REQUIRE((sa & sb).to_vector() == both);
    REQUIRE((sa | sb).to_vector() == either);
    REQUIRE((sa - sb).to_vector() == only_a);
    REQUIRE((sa | sb).count() == static_cast<int>(either.size()));
    REQUIRE(sa.includes(sa & sb));
    REQUIRE(sa.includes(sb) == (both.size() == b.size()));
  }
}

TEST_CASE("A unit is removed and the set cleared") {
  UnitSet set = set_of(70, {3, 69});
  set.remove(3);
  REQUIRE_FALSE(set.contains(3));
  REQUIRE(set.contains(69));
  REQUIRE(set.to_vector() == std::vector<int>{69});
  set.clear();
  REQUIRE(set == UnitSet(70));
}

TEST_CASE("Words from a peer that fit no layout are refused") {
  REQUIRE_THAT(error_text<CommError>([] { UnitSet::from_words(65, {0}); }), Contains("65 units has 2 words"));
  REQUIRE_THAT(error_text<CommError>([] { UnitSet::from_words(64, {0, 0}); }), Contains("1 words, not the 2"));
  REQUIRE_THAT(error_text<CommError>([] { UnitSet::from_words(3, {8}); }), Contains("beyond the last of 3 units"));
  REQUIRE_NOTHROW(UnitSet::from_words(3, {7}));
}

TEST_CASE("A unit outside the layout is a bug that is caught") {
  UnitSet set(2);
  REQUIRE_THROWS_AS(set.add(2), InternalError);
  REQUIRE_THROWS_AS(set.add(-1), InternalError);
  REQUIRE_THROWS_AS(set.contains(2), InternalError);
  REQUIRE_THROWS_AS(set &= UnitSet(3), InternalError);
}

}  // namespace
}  // namespace bertft
