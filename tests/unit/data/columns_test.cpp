// How the header line is recognized and columns get their roles, as a table of cases.
#include "data/columns.h"

#include "core/error.h"
#include "tests/unit/data/table_helpers.h"

namespace bertft {
namespace {

using Catch::Contains;
using test::error_text;
using Cells = std::vector<std::string_view>;

TableRequest request_of(ColumnNames columns, const std::string& header, bool needs_label) {
  TableRequest request;
  request.columns = std::move(columns);
  request.header = header;
  request.needs_label = needs_label;
  return request;
}

ColumnRoles roles_of(int text, int text_pair, int label, int id) {
  ColumnRoles roles;
  roles.text = text;
  roles.text_pair = text_pair;
  roles.label = label;
  roles.id = id;
  return roles;
}

struct GoodPlan {
  std::string what;
  Cells line;
  TableRequest request;
  bool has_header;
  bool is_plain_text;
  ColumnRoles roles;
  std::vector<std::string> names;
};

TEST_CASE("Columns that are found") {
  const std::vector<GoodPlan> cases = {
      {"names in line 1",
       {"text", "label"},
       request_of({}, "auto", true),
       true,
       false,
       roles_of(0, -1, 1, -1),
       {"text", "label"}},
      {"any order",
       {"id", "label", "text"},
       request_of({.id = "id"}, "auto", true),
       true,
       false,
       roles_of(2, -1, 1, 0),
       {"id", "label", "text"}},
      {"a pair",
       {"Quality", "#1 ID", "#2 ID", "#1 String", "#2 String"},
       request_of({"#1 String", "#2 String", "Quality", ""}, "auto", true),
       true,
       false,
       roles_of(3, 4, 0, -1),
       {"Quality", "#1 ID", "#2 ID", "#1 String", "#2 String"}},
      {"label optional, there",
       {"text", "label"},
       request_of({}, "auto", false),
       true,
       false,
       roles_of(0, -1, 1, -1),
       {"text", "label"}},
      {"label optional, not there",
       {"text", "n"},
       request_of({}, "auto", false),
       true,
       false,
       roles_of(0, -1, -1, -1),
       {"text", "n"}},
      {"a single text column", {"text"}, request_of({}, "auto", false), true, false, roles_of(0, -1, -1, -1), {"text"}},
      {"plain text", {"some words"}, request_of({}, "auto", false), false, true, roles_of(0, -1, -1, -1), {"text"}},
      {"no header, one column",
       {"some words"},
       request_of({}, "false", false),
       false,
       false,
       roles_of(0, -1, -1, -1),
       {"text"}},
      {"the header's own word as text",
       {"text"},
       request_of({}, "false", false),
       false,
       false,
       roles_of(0, -1, -1, -1),
       {"text"}},
      {"positions",
       {"a", "b", "2"},
       request_of({"3", "", "1", ""}, "auto", true),
       false,
       false,
       roles_of(2, -1, 0, -1),
       {"label", "column_2", "text"}},
      {"positions, pair",
       {"a", "b", "c"},
       request_of({"1", "2", "3", ""}, "false", true),
       false,
       false,
       roles_of(0, 1, 2, -1),
       {"text", "text_pair", "label"}},
      {"positions in a file with header",
       {"a", "b"},
       request_of({"1", "", "2", ""}, "true", true),
       true,
       false,
       roles_of(0, -1, 1, -1),
       {"a", "b"}},
      {"a name that is a number",
       {"7", "b"},
       request_of({"7", "", "b", ""}, "auto", true),
       true,
       false,
       roles_of(0, -1, 1, -1),
       {"7", "b"}},
      {"an unlabelled file by positions",
       {"a"},
       request_of({"1", "", "2", ""}, "auto", false),
       false,
       false,
       roles_of(0, -1, -1, -1),
       {"text"}},
  };
  for (const GoodPlan& one : cases) {
    INFO(one.what);
    const ColumnPlan plan = plan_columns("f.tsv", one.line, one.request);
    REQUIRE(plan.has_header == one.has_header);
    REQUIRE(plan.is_plain_text == one.is_plain_text);
    REQUIRE(plan.roles.text == one.roles.text);
    REQUIRE(plan.roles.text_pair == one.roles.text_pair);
    REQUIRE(plan.roles.label == one.roles.label);
    REQUIRE(plan.roles.id == one.roles.id);
    REQUIRE(plan.names == one.names);
    REQUIRE_FALSE(plan.reason.empty());
  }
}

struct BadPlan {
  std::string what;
  Cells line;
  TableRequest request;
  std::vector<std::string> message_parts;
};

TEST_CASE("Columns that are not found") {
  const std::vector<BadPlan> cases = {
      {"one name is missing",
       {"sentence", "label"},
       request_of({}, "auto", true),
       {"f.tsv:1", "lacks column 'text'", "'sentence', 'label'", "data.columns.text"}},
      {"nearest names",
       {"Text", "lable"},
       request_of({}, "true", true),
       {"'text' (nearest: 'Text')", "'label' (nearest: 'lable')"}},
      {"no name is there",
       {"a", "b"},
       request_of({}, "auto", true),
       {"'text' (data.columns.text)", "'label' (data.columns.label)", "'a', 'b'", "positions"}},
      {"a label is needed", {"text"}, request_of({}, "auto", true), {"lacks column 'label'"}},
      {"prediction, wrong text name", {"sentence", "x"}, request_of({}, "auto", false), {"'sentence', 'x'"}},
      {"pairs are no plain text",
       {"some words"},
       request_of({.text_pair = "b"}, "auto", false),
       {"'b' (data.columns.text_pair)"}},
      {"a name twice", {"text", "label", "text"}, request_of({}, "auto", true), {"names column 'text' 2 times"}},
      {"no header, no positions",
       {"a", "b"},
       request_of({}, "false", true),
       {"2 columns and no header line", "data.columns.text"}},
      {"position too large",
       {"a", "b"},
       request_of({"1", "", "3", ""}, "auto", true),
       {"column '3'", "data.columns.label"}},
      {"position 0", {"a", "b"}, request_of({"0", "", "1", ""}, "false", true), {"column '0'"}},
      {"an id is asked for",
       {"text", "label"},
       request_of({.id = "nr"}, "auto", true),
       {"lacks column 'nr'", "data.columns.id"}},
  };
  for (const BadPlan& one : cases) {
    INFO(one.what);
    const std::string message = error_text<DataError>([&] { plan_columns("f.tsv", one.line, one.request); });
    for (const std::string& part : one.message_parts) REQUIRE_THAT(message, Contains(part));
  }
}

TEST_CASE("An optional pair is taken when it is there") {
  TableRequest request = request_of({.text_pair = "text_pair"}, "auto", false);
  request.is_pair_optional = true;
  REQUIRE(plan_columns("f.tsv", Cells{"text", "text_pair"}, request).roles.text_pair == 1);
  REQUIRE(plan_columns("f.tsv", Cells{"text", "other"}, request).roles.text_pair == -1);
  REQUIRE(plan_columns("f.tsv", Cells{"some words"}, request).is_plain_text);
}

TEST_CASE("Requests that no file can meet") {
  const Cells line = {"text", "label"};
  for (const ColumnNames& columns : {ColumnNames{.text = ""}, ColumnNames{.label = ""}, ColumnNames{.label = "text"},
                                     ColumnNames{.text_pair = "text"}, ColumnNames{.text_pair = "label"}}) {
    REQUIRE_THROWS_AS(plan_columns("f.tsv", line, request_of(columns, "auto", true)), ConfigError);
  }
}

TEST_CASE("A hundred thousand columns or huge names make a short message") {
  const std::vector<std::string_view> many(100'000, "n");
  REQUIRE(error_text<DataError>([&] { plan_columns("f.tsv", many, request_of({}, "auto", true)); }).size() < 1000);
  const std::string huge(1'000'000, 'n');
  const Cells line = {huge, "label"};
  REQUIRE(error_text<DataError>([&] { plan_columns("f.tsv", line, request_of({}, "auto", true)); }).size() < 1000);
}

}  // namespace
}  // namespace bertft
