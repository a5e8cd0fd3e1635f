// From label cells to classes, sets of classes and numbers; faults, and rows that are left out.
#include "data/targets.h"

#include "core/error.h"
#include "tests/support/temp_folder.h"
#include "tests/unit/data/table_helpers.h"

namespace bertft {
namespace {

using Catch::Contains;
using test::copied;
using test::error_text;
using test::labelled_table;
using test::tiny_dataset;
using Ids = std::vector<int32_t>;
using Names = std::vector<std::string>;

Dataset rows_with(const Names& labels, const std::string& path = "train.tsv") {
  std::string content = "text\tlabel\n";
  for (const std::string& label : labels) content += "a b\t" + label + "\n";
  return tiny_dataset(labelled_table(content, path));
}

Names found(const Names& cells, const LabelSettings& settings) {
  return find_labels(rows_with(cells), LabelReader(settings)).names();
}

Ids classes_of(const Names& cells, const LabelSettings& settings, const LabelTable& labels) {
  Dataset rows = rows_with(cells);
  attach_targets(rows, LabelReader(settings), labels);
  return copied(rows.labels());
}

TEST_CASE("Given labels keep their order, found ones are sorted") {
  REQUIRE(found({"neg", "pos"}, {.given = {"pos", "neg", "other"}}) == Names{"pos", "neg", "other"});
  REQUIRE(found({"b", "a"}, {}) == Names{"a", "b"});
  REQUIRE(found({"b", "a"}, {.given = {"auto"}}) == Names{"a", "b"});
  REQUIRE(classes_of({"neg", "pos", "neg"}, {}, LabelTable({"pos", "neg", "other"})) == Ids{1, 0, 1});
}

TEST_CASE("A single text in data.labels is a file with one label a line") {
  const test::TempFolder folder;
  const std::string path = folder.write("labels.txt", "\xEF\xBB\xBFsad\r\n very happy\r\n-");
  REQUIRE(found({"-", "sad"}, {.given = {path}}) == Names{"sad", " very happy", "-"});
  REQUIRE_THAT(error_text<ConfigError>([&] { given_labels({folder.write("one.txt", "only\n")}); }),
               Contains("one.txt has 1 label;"));
  REQUIRE_THAT(error_text<DataError>([&] { given_labels({folder / "none.txt"}); }), Contains("none.txt"));
  REQUIRE_THAT(error_text<DataError>([&] { given_labels({folder.write("bad.txt", "a\nb\xFF\n")}); }),
               Contains("bad.txt: data.labels: not valid UTF-8"));
  REQUIRE_THAT(error_text<ConfigError>([&] { found({"a"}, {.given = {folder.write("gap.txt", "a\n\nb\n")}}); }),
               Contains("label number 1 is empty"));
}

TEST_CASE("A map renames texts and leaves others as they are") {
  const LabelSettings settings{.map = {{"1", "World"}, {"2", "Sports"}, {"+", "World"}}};
  REQUIRE(found({"2", "1", "World", "Business"}, settings) == Names{"Business", "Sports", "World"});
  REQUIRE(classes_of({"2", "1", "World", "+"}, settings, LabelTable({"World", "Sports"})) == Ids{1, 0, 0, 0});
  REQUIRE_THROWS_AS(LabelReader({.map = {{"1", " "}}}), ConfigError);
}

TEST_CASE("A pattern takes its first group, or all it matches, before the map") {
  const Names cells = {"DESC:manner", "ENTY:animal", "DESC:def"};
  REQUIRE(found(cells, {.pattern = "^([^:]+):"}) == Names{"DESC", "ENTY"});
  REQUIRE(found(cells, {.pattern = "[a-z]+"}) == Names{"animal", "def", "manner"});
  REQUIRE(found(cells, {.map = {{"DESC", "text"}}, .pattern = "^([^:]+):"}) == Names{"ENTY", "text"});
  const std::string message = error_text<DataError>([&] {
    classes_of({"A:x", "B"}, {.pattern = "^([^:]+):"}, LabelTable({"A", "C"}));
  });
  REQUIRE_THAT(message, Contains("train.tsv:3: label 'B' does not match data.label_pattern"));
  for (const char* bad : {"(", "[a", "(a)\\1", "a{3,1}"}) {
    REQUIRE_THAT(error_text<ConfigError>([&] { LabelReader reader({.pattern = bad}); }),
                 Contains("data.label_pattern"));
  }
}

TEST_CASE("No pattern takes long for a cell, or the stack with it") {
  const std::string a(9'000, 'a');
  for (const char* pattern : {"(a+)+b", "(a|aa)*$", "^(.*)*x", "((a*)*)*b"}) {
    const LabelReader reader({.pattern = pattern});
    REQUIRE_NOTHROW(reader.read(a));
  }
  REQUIRE_THAT(LabelReader({.pattern = "a"}).read(std::string(50'000'000, 'a')).fault, Contains("too long"));
}

TEST_CASE("A set of labels is a list in JSON, or names joined by commas") {
  const LabelReader reader({.type = LabelType::kMulti});
  REQUIRE(reader.read("4,27").names == Names{"4", "27"});
  REQUIRE(reader.read(" joy , anger,joy").names == Names{"joy", "anger"});
  REQUIRE(reader.read("[\"a, b\", \"c\", 7, -1, 1.50]").names == Names{"a, b", "c", "7", "-1", "1.50"});
  REQUIRE(reader.read("[]").names.empty());
  REQUIRE(reader.read("").names.empty());
  REQUIRE(reader.read("").fault.empty());
  REQUIRE_FALSE(reader.read("").is_missing);
  for (const char* bad : {"[1", "[[1]]", "[{\"a\":1}]", "[null]", "[\"a\"] b", "a,,b", ",a", "[\" \"]"}) {
    INFO(bad);
    REQUIRE_FALSE(reader.read(bad).fault.empty());
  }
  Dataset rows = rows_with({"b,a", "", "c"});
  const LabelTable labels = find_labels(rows, reader);
  REQUIRE(labels.names() == Names{"a", "b", "c"});
  attach_targets(rows, reader, labels);
  REQUIRE(rows.target_kind() == TargetKind::kClassSet);
  REQUIRE(copied(rows.targets(0)) == Ids{0, 1});
  REQUIRE(rows.targets(1).empty());
  REQUIRE(copied(rows.targets(2)) == Ids{2});
  Dataset more = rows_with({"a,x", "x,b", "c"}, "dev.tsv");
  REQUIRE_THAT(error_text<DataError>([&] { attach_targets(more, reader, labels); }),
               Contains("dev.tsv: 2 of 3 rows have a label that training lacks: 'x' (2 rows)") &&
                   Contains("dev.tsv:2: label 'x'"));
}

TEST_CASE("Columns of 0 and 1 name the labels that a row has") {
  const LabelReader reader({.type = LabelType::kMulti, .columns = {"toxic", "threat"}, .map = {{"threat", "danger"}}});
  const auto joined = [](const std::string& a, const std::string& b) { return a + kColumnSeparator + b; };
  REQUIRE(reader.read(joined("1", "0")).names == Names{"toxic"});
  REQUIRE(reader.read(joined("true", " 1.0 ")).names == Names{"toxic", "danger"});
  REQUIRE(reader.read(joined("false", "0.0")).names.empty());
  REQUIRE_THAT(reader.read(joined("1", "2")).fault, Contains("column 'threat'"));
  REQUIRE_THAT(reader.read("1").fault, Contains("column 'threat'"));
  REQUIRE(find_labels(rows_with({"x"}), reader).names() == Names{"toxic", "danger"});
}

TEST_CASE("Rows of a file with several label columns become sets") {
  TableRequest request = test::labelled_request();
  request.columns.labels = {"threat", "toxic"};  // not the order of the file
  Dataset rows = tiny_dataset(parse_table("t.tsv", "toxic\ttext\tthreat\n1\ta\t0\n0\tb\t0\n1\tc\t1\n", request));
  const LabelReader reader({.type = LabelType::kMulti, .columns = request.columns.labels});
  const LabelTable labels = find_labels(rows, reader);
  REQUIRE(labels.names() == Names{"threat", "toxic"});
  attach_targets(rows, reader, labels);
  REQUIRE(copied(rows.targets(0)) == Ids{1});
  REQUIRE(rows.targets(1).empty());
  REQUIRE(copied(rows.targets(2)) == Ids{0, 1});
  Dataset bad = tiny_dataset(parse_table("t.tsv", "toxic\ttext\tthreat\n1\ta\tyes\n", request));
  REQUIRE_THAT(error_text<DataError>([&] { attach_targets(bad, reader, labels); }),
               Contains("t.tsv:2: ") && Contains("something else than 0 or 1 in column 'threat'"));
  REQUIRE_THAT(error_text<DataError>([&] { parse_table("t.tsv", "toxic\ttext\n1\ta\n", request); }),
               Contains("'threat'"));
}

TEST_CASE("Real values are decimal numbers") {
  const LabelReader reader({.type = LabelType::kReal});
  Dataset rows = rows_with({"5.0", "4.75", "-1e-3", " 0 ", "+2"});
  attach_targets(rows, reader, LabelTable());
  REQUIRE(copied(rows.values()) == std::vector<double>{5.0, 4.75, -1e-3, 0.0, 2.0});
  Dataset bad = rows_with({"1", "nan", "inf", "1,5", "0x1", "1e999", "x"}, "dev.tsv");
  const std::string message = error_text<DataError>([&] { attach_targets(bad, reader, LabelTable()); });
  REQUIRE_THAT(message, Contains("dev.tsv: 6 of 7 rows have a label that is no number"));
  REQUIRE_THAT(message, Contains("dev.tsv:3: label 'nan' is no number") && Contains("dev.tsv:8:"));
}

TEST_CASE("Training needs two classes") {
  const std::string message = error_text<DataError>([] { found({"x", "x"}, {}); });
  REQUIRE_THAT(message, Contains("train.tsv") && Contains("all 2 rows have the label 'x'"));
  REQUIRE_THAT(error_text<DataError>([] {
                 found({"", ""}, {.unknown = UnknownLabel::kSkip});
               }),
               Contains("no row has a label"));
}

TEST_CASE("Missing labels are gathered") {
  for (const std::string& message : {error_text<DataError>([&] {
                                       found({"", " ", ""}, {});
                                     }),
                                     error_text<DataError>([&] {
                                       classes_of({"a", "", "b", "  "}, {}, LabelTable({"a", "b"}));
                                     })}) {
    REQUIRE_THAT(message, Contains("rows have no label") && Contains("train.tsv:3: the label is missing") &&
                              Contains("column 'label'"));
  }
}

TEST_CASE("Unknown labels are gathered, with what was probably meant") {
  const LabelTable labels({"sports", "politics", "health"});
  Dataset dev = rows_with({"sports", "sport", "x", "health", "x"}, "dev.tsv");
  const std::string message = error_text<DataError>([&] { attach_targets(dev, LabelReader({}), labels); });
  REQUIRE_THAT(message,
               Contains("dev.tsv: 3 of 5 rows have a label that training lacks: 'x' (2 rows), 'sport' (1 row)"));
  REQUIRE_THAT(message, Contains("dev.tsv:3: label 'sport' is not among the 3 labels of training (nearest: 'sports')"));
  REQUIRE_THAT(message, Contains("dev.tsv:4: label 'x' is not among the 3 labels of training\n"));
  REQUIRE_THAT(message, Contains("dev.tsv:6:") && Contains("data.unknown_label: skip"));
}

TEST_CASE("Unknown and missing labels can be left out") {
  const LabelReader reader({.unknown = UnknownLabel::kSkip});
  Dataset rows = rows_with({"b", "-", "a", "", "-"});
  attach_targets(rows, reader, LabelTable({"a", "b"}));
  REQUIRE(copied(rows.labels()) == Ids{1, 0});
  REQUIRE(rows.source_row(1) == 2);
  REQUIRE(rows.place(1) == "train.tsv:4");
  REQUIRE(rows.left_out().unknown_label == 2);
  REQUIRE(rows.left_out().missing_label == 1);
  REQUIRE(rows.left_out().shown == "'-' (2 rows)");
  Dataset none = rows_with({"-", ""});
  REQUIRE_THAT(error_text<DataError>([&] {
                 attach_targets(none, reader, LabelTable({"a", "b"}));
               }),
               Contains("no row is left: 1 of 2 have no label, 1 one that training lacks ('-' (1 row))"));
}

TEST_CASE("A class named as the label column is warned of (B11)") {
  const Dataset rows = rows_with({"0", "1", "label", "1"});
  const LabelReader reader({});
  const Names warnings = label_warnings(rows, reader, find_labels(rows, reader));
  REQUIRE(warnings.size() == 1);
  REQUIRE_THAT(warnings[0], Contains("label 'label' of 1 row (first train.tsv:4)") && Contains("header"));
}

TEST_CASE("Many classes and huge labels") {
  Names names;
  for (int i = 0; i < 100'000; ++i) names.push_back("class " + std::to_string(i));
  Dataset rows = rows_with(names);
  const LabelReader reader({});
  const LabelTable labels = find_labels(rows, reader);
  REQUIRE(labels.size() == 100'000);
  attach_targets(rows, reader, labels);
  REQUIRE(rows.rows() == 100'000);
  Dataset bad = rows_with(Names(1000, "klass 17"), "dev.tsv");
  REQUIRE_THAT(error_text<DataError>([&] { attach_targets(bad, reader, labels); }), Contains("and 980 more"));
  Dataset huge = rows_with({std::string(1'000'000, 'y')}, "dev.tsv");
  const LabelTable other({std::string(1'000'000, 'z'), "b"});
  REQUIRE(error_text<DataError>([&] { attach_targets(huge, reader, other); }).size() < 1000);
}

}  // namespace
}  // namespace bertft
