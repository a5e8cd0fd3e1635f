// Order, numbers and faults of class labels.
#include "data/labels.h"

#include <set>

#include "core/error.h"
#include "tests/support/errors.h"

namespace bertft {
namespace {

using Catch::Contains;
using Names = std::vector<std::string>;

TEST_CASE("Discovered labels have one order") {
  const std::vector<std::pair<Names, Names>> seen_and_order = {
      {{"pos", "neg", "pos"}, {"neg", "pos"}},
      {{"1", "0", "1"}, {"0", "1"}},
      {{"10", "9", "2"}, {"2", "9", "10"}},
      {{"1.50", "1.5", "7", "07", "-1", "0", "10"}, {"-1", "0", "1.5", "1.50", "07", "7", "10"}},
      {{"2e1", "3", "+4"}, {"3", "+4", "2e1"}},
      {{"b", "10", "a", "9"}, {"9", "10", "a", "b"}},
      {{"inf", "nan", "5", "-", "0x10", "1,5"}, {"5", "-", "0x10", "1,5", "inf", "nan"}},
      {{"b", "B", "\xC3\xA4", "\xE4\xBD\xA0"}, {"B", "b", "\xC3\xA4", "\xE4\xBD\xA0"}},
      {{"a b", "a", " a"}, {" a", "a", "a b"}},
      {{".5", "-.5", "0.25"}, {"-.5", "0.25", ".5"}},
  };
  for (const auto& [seen, order] : seen_and_order) {
    REQUIRE(in_label_order(seen) == order);
    REQUIRE(in_label_order(Names(seen.rbegin(), seen.rend())) == order);
    const LabelTable labels(order);
    for (int32_t id = 0; id < labels.size(); ++id) REQUIRE(labels.find(labels.name(id)) == id);
    REQUIRE(labels.find("no such label") == -1);
    const LabelTable copy = labels;  // NOLINT: a copy must find its own names
    REQUIRE(copy.find(order[1]) == 1);
  }
  REQUIRE(LabelTable().find("x") == -1);
}

TEST_CASE("Lists of labels that cannot be are refused") {
  for (const Names& bad : {Names{"one"}, {"a", "a"}, {"a", ""}, {"a", "  "}}) {
    REQUIRE_THROWS_AS(LabelTable(bad), ConfigError);
  }
  REQUIRE(LabelTable({"one"}, 1).size() == 1);
  REQUIRE_THROWS_AS(LabelTable(Names{}, 1), ConfigError);
}

TEST_CASE("Labels that look alike are warned of") {
  REQUIRE(LabelTable({"a", "b", "7", "8"}).warnings().empty());
  const Names warnings = LabelTable({"07", "7", "7.0", "a", " a"}).warnings();
  REQUIRE(warnings.size() == 2);
  REQUIRE_THAT(warnings[0], Contains("'07' and '7' and '7.0'") && Contains("as numbers"));
  REQUIRE_THAT(warnings[1], Contains("'a' and ' a'") && Contains("blanks"));
}

TEST_CASE("A hundred thousand classes") {
  Names names;
  for (int i = 0; i < 100'000; ++i) names.push_back("class " + std::to_string(i));
  const LabelTable labels(in_label_order(names));
  REQUIRE(labels.size() == 100'000);
  REQUIRE(labels.warnings().empty());
  std::set<int32_t> ids;
  for (const std::string& name : names) ids.insert(labels.find(name));
  REQUIRE(ids.size() == 100'000);
  REQUIRE(*ids.begin() == 0);
}

}  // namespace
}  // namespace bertft
