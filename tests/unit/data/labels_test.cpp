// Order, numbers and faults of class labels.
#include "data/labels.h"

#include <set>

#include "core/error.h"
#include "tests/unit/data/table_helpers.h"

namespace bertft {
namespace {

using Catch::Contains;
using test::error_text;
using test::labelled_table;
using Names = std::vector<std::string>;

Table table_of(const Names& labels, const std::string& path = "train.tsv") {
  std::string content = "text\tlabel\n";
  for (const std::string& label : labels) content += "some words\t" + label + "\n";
  return labelled_table(content, path);
}

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
  };
  for (const auto& [seen, order] : seen_and_order) {
    const LabelTable labels = LabelTable::discover(table_of(seen));
    REQUIRE(labels.names() == order);
    const Names reversed(seen.rbegin(), seen.rend());
    REQUIRE(LabelTable::discover(table_of(reversed)).names() == order);
    for (int32_t id = 0; id < labels.size(); ++id) {
      REQUIRE(labels.find(labels.name(id)) == id);
    }
    REQUIRE(labels.find("no such label") == -1);
  }
}

TEST_CASE("Given labels keep their order") {
  const LabelTable labels = make_label_table({"pos", "neg", "other"}, table_of({"neg", "pos"}));
  REQUIRE(labels.names() == Names{"pos", "neg", "other"});
  REQUIRE(label_ids(table_of({"neg", "pos", "neg"}), labels) == std::vector<int32_t>{1, 0, 1});
  REQUIRE(make_label_table({}, table_of({"b", "a"})).names() == Names{"a", "b"});
  REQUIRE(make_label_table({"auto"}, table_of({"b", "a"})).names() == Names{"a", "b"});
  for (const Names& bad : {Names{"one"}, {"a", "a"}, {"a", ""}, {"a", "  "}}) {
    REQUIRE_THROWS_AS(LabelTable(bad), ConfigError);
  }
}

TEST_CASE("Training needs two classes") {
  const std::string message = error_text<DataError>([] { LabelTable::discover(table_of({"x", "x"})); });
  REQUIRE_THAT(message, Contains("train.tsv") && Contains("all 2 rows have the label 'x'"));
}

TEST_CASE("Missing labels are gathered") {
  const Table table = table_of({"a", "", "b", "  "});
  for (const std::string& message :
       {error_text<DataError>([&] { LabelTable::discover(table); }), error_text<DataError>([&] {
          label_ids(table, LabelTable({"a", "b"}));
        })}) {
    REQUIRE_THAT(message, Contains("2 of 4 rows have no label") && Contains("train.tsv:3: the label is missing") &&
                              Contains("train.tsv:5:") && Contains("column 'label'"));
  }
}

TEST_CASE("Unknown labels are gathered, with what was probably meant") {
  const LabelTable labels({"sports", "politics", "health"});
  const Table dev = table_of({"sports", "sport", "x", "health", "x"}, "dev.tsv");
  const std::string message = error_text<DataError>([&] { label_ids(dev, labels); });
  REQUIRE_THAT(message,
               Contains("dev.tsv: 3 of 5 rows have a label that training lacks: 'x' (2 rows), 'sport' (1 row)"));
  REQUIRE_THAT(message, Contains("dev.tsv:3: label 'sport' is not among the 3 labels of training (nearest: 'sports')"));
  REQUIRE_THAT(message, Contains("dev.tsv:4: label 'x' is not among the 3 labels of training\n"));
  REQUIRE_THAT(message, Contains("dev.tsv:6:"));
}

TEST_CASE("Labels that look alike are warned of") {
  REQUIRE(LabelTable({"a", "b", "7", "8"}).warnings().empty());
  const Names warnings = LabelTable({"07", "7", "7.0", "a", " a"}).warnings();
  REQUIRE(warnings.size() == 2);
  REQUIRE_THAT(warnings[0], Contains("'07' and '7' and '7.0'") && Contains("as numbers"));
  REQUIRE_THAT(warnings[1], Contains("'a' and ' a'") && Contains("blanks"));
}

TEST_CASE("A hundred thousand classes and huge labels") {
  Names names;
  for (int i = 0; i < 100'000; ++i) names.push_back("class " + std::to_string(i));
  const Table table = table_of(names);
  const LabelTable labels = LabelTable::discover(table);
  REQUIRE(labels.size() == 100'000);
  const std::vector<int32_t> ids = label_ids(table, labels);
  REQUIRE(std::set<int32_t>(ids.begin(), ids.end()).size() == 100'000);
  const Table bad = table_of(Names(1000, "klass 17"), "dev.tsv");
  REQUIRE_THAT(error_text<DataError>([&] { label_ids(bad, labels); }), Contains("and 980 more"));
  const Table huge = table_of({std::string(1'000'000, 'y')}, "dev.tsv");
  REQUIRE(error_text<DataError>([&] {
            label_ids(huge, LabelTable({std::string(1'000'000, 'z'), "b"}));
          }).size() < 1000);
}

}  // namespace
}  // namespace bertft
