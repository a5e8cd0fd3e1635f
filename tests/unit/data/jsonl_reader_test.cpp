// JSON Lines: what makes columns and cells, what is mended, what is refused.
#include "core/error.h"
#include "data/json_scanner.h"
#include "tests/unit/data/table_helpers.h"
#include "tokenize/utf8.h"

namespace bertft {
namespace {

using Catch::Contains;
using test::column;
using test::error_text;
using test::labelled_request;
using Texts = std::vector<std::string>;

Table jsonl(const std::string& content, const TableRequest& request = labelled_request()) {
  return parse_table("t.jsonl", content, request);
}

std::string cell_of(const std::string& json) {
  const std::string row = R"({"text":"a","label":1,"v":)" + json + "}\n";
  const Table table = jsonl(row + row);
  return table.is_missing(1, 2) ? "<missing>" : std::string(table.cell(1, 2));
}

TEST_CASE("Values keep the form they were written in") {
  const std::vector<std::pair<std::string, std::string>> cases = {
      {"1", "1"},
      {"1.0", "1.0"},
      {"\"1\"", "1"},
      {"-0", "-0"},
      {"1.50e+05", "1.50e+05"},
      {"123456789012345678901234567890", "123456789012345678901234567890"},
      {"true", "true"},
      {"false", "false"},
      {"null", "<missing>"},
      {"\"\"", ""},
      {"\"null\"", "null"},
      {R"("a\"\\\/\b\f\n\r\tb")", "a\"\\/\b\f\n\r\tb"},
      {R"("\u00e4\u4f60\ud83d\ude00")", "\xC3\xA4\xE4\xBD\xA0\xF0\x9F\x98\x80"},
      {R"("\u0041\\u0041")", "A\\u0041"},
      {R"([ 1, "a b" , { "c" : [ ] } ])", R"([1,"a b",{"c":[]}])"},
      {R"({ "k \" }" : null })", R"({"k \" }":null})"},
      {"[]", "[]"},
      {"{}", "{}"},
  };
  for (const auto& [json, cell] : cases) {
    INFO(json);
    REQUIRE(cell_of(json) == cell);
  }
  REQUIRE(cell_of(R"("a\u0000b")") == std::string("a\0b", 3));
}

TEST_CASE("Columns are the keys of the first row and what is wanted elsewhere") {
  TableRequest request = labelled_request();
  request.columns = {.text = "meta.text", .label = "label", .id = "meta.ids.doc"};
  const Table table = jsonl(
      "{\"meta\": {\"text\": \"a\", \"ids\": {\"doc\": 7}}, \"n\": 1}\n"
      "{\"label\": \"x\", \"meta\": {\"ids\": {}, \"text\": \"b\"}, \"more\": 1}\n"
      "{\"n\": 2, \"label\": \"y\", \"meta\": {\"text\": \"c\", \"ids\": 5}, \"n\": 3}\n",
      request);
  REQUIRE(table.columns() == Texts{"meta", "n", "meta.text", "meta.ids.doc", "label"});
  REQUIRE(column(table, table.roles().text) == Texts{"a", "b", "c"});
  REQUIRE(column(table, table.roles().id) == Texts{"7", "", ""});
  REQUIRE(column(table, table.roles().label) == Texts{"", "x", "y"});
  REQUIRE(table.is_missing(0, table.roles().label));
  REQUIRE(table.is_missing(1, 1));
  REQUIRE(table.is_missing(2, table.roles().id));
  REQUIRE_FALSE(table.is_missing(1, table.roles().label));
  REQUIRE(table.cell(2, 1) == "3");
  REQUIRE(table.cell(0, 0) == R"({"text":"a","ids":{"doc":7}})");
  REQUIRE(table.notes().rows_with_other_keys == 1);
  REQUIRE(table.notes().repeated_keys == 1);
  REQUIRE(table.notes().format == "jsonl");
}

TEST_CASE("A key that holds a dot comes before a path") {
  TableRequest request = labelled_request();
  request.columns.text = "a.b";
  const Table table = jsonl(R"({"a.b": "key", "a": {"b": "path"}, "label": 1})"
                            "\n",
                            request);
  REQUIRE(table.text(0) == "key");
}

TEST_CASE("Wanted keys that nowhere are") {
  REQUIRE_THAT(error_text<DataError>([] { jsonl("{\"text\": \"a\", \"lable\": 1}\n"); }),
               Contains("t.jsonl: there is no column 'label'") && Contains("nearest: 'lable'") && Contains("'text'"));
  TableRequest request;
  REQUIRE(jsonl("{\"text\": \"a\"}\n", request).roles().label == -1);
  request.columns.text = "1";
  REQUIRE_THROWS_AS(jsonl("{\"text\": \"a\"}\n", request), DataError);
}

TEST_CASE("The raw line is kept, and made valid") {
  const std::string first = R"( {"text": "a\/\u00e4", "label": 1.0} )";
  const Table table = jsonl(first + "\r\n" + R"({"text": "\ud83e \ud83d\ude00 \\ud83e", "label": "x)" + "\xFF\"}\n");
  REQUIRE(table.raw(0) == first);
  REQUIRE(table.raw(1) == R"({"text": "\ufffd \ud83d\ude00 \\ud83e", "label": "x)"
                          "\xEF\xBF\xBD\"}");
  REQUIRE(table.text(1) == "\xEF\xBF\xBD \xF0\x9F\x98\x80 \\ud83e");
  REQUIRE(table.label(1) == "x\xEF\xBF\xBD");
  REQUIRE(table.notes().replaced_parts == 2);
  REQUIRE(table.notes().replaced_lines == 1);
  REQUIRE(jsonl("\xEF\xBB\xBF{\"text\":\"\",\"label\":0}\n\xEF\xBB\xBF{\"text\":\"\",\"label\":0}").rows() == 2);
}

TEST_CASE("Faults of JSON are gathered") {
  const std::string good = "{\"text\": \"a\", \"label\": 1}\n";
  const std::vector<std::pair<std::string, std::string>> cases = {
      {"{\"text\": \"a\", \"label\": 1", "at byte 25 ',' or '}' is expected, found its end"},
      {"{\"text\": \"a\" \"label\": 1}", "at byte 14 ',' or '}'"},
      {"{\"text\": \"a\", \"label\": 01}", "at byte 25 ',' or '}'"},
      {"{\"text\": \"a\", \"label\": NaN}", "a value is expected, found 'NaN}'"},
      {"{\"text\": \"a\", \"label\": tru}", "a value"},
      {"{\"text\": \"a\", \"label\": -}", "a digit"},
      {"{\"text\": \"a\", \"label\": 1.}", "a digit"},
      {"{\"text\": \"a\", \"label\": [1,]}", "a value"},
      {"{\"text\": \"a\", \"label\": [1}", "',' or ']'"},
      {"{\"text\": \"a\", \"label\": {\"a\" 1}}", "':'"},
      {"{\"text\": \"a\", \"label\": {1: 1}}", "a key"},
      {"{'text': \"a\"}", "a key in double quotes"},
      {"{\"text\": \"a\tb\", \"label\": 1}", "control character"},
      {"{\"text\": \"a\\x\", \"label\": 1}", "escape"},
      {"{\"text\": \"a\\u12g4\", \"label\": 1}", "four hexadecimal digits"},
      {"{\"text\": \"a\\u12", "four hexadecimal digits"},
      {"{\"text\": \"a", "closing"},
      {"{\"text\": \"a\", \"label\": 1} {}", "nothing more"},
      {"{\"text\": \"a\", \"label\": 1,}", "a key"},
      {"[1]", "an object"},
      {"null", "an object"},
      {"{\"text\": null, \"label\": 1}", "'text' is null or missing"},
      {"{\"label\": 1}", "'text' is null or missing"},
      {" ", "the line is empty"},
  };
  for (const auto& [row, part] : cases) {
    INFO(row);
    const std::string message = error_text<DataError>([&, r = row] { jsonl(good + r + "\n" + good); });
    REQUIRE_THAT(message, Contains("t.jsonl:2: ") && Contains(part) && Contains("1 faulty row"));
  }
}

TEST_CASE("Files of another form are refused with what to do") {
  REQUIRE_THAT(error_text<DataError>([] { jsonl("[\n{\"text\": \"a\"}\n]\n"); }), Contains("array") && Contains("jq"));
  REQUIRE_THAT(error_text<DataError>([] { jsonl("[{\"text\": \"a\"}]"); }), Contains("array"));
  REQUIRE_THAT(error_text<DataError>([] { jsonl("{\n  \"text\": \"a\"\n}\n"); }),
               Contains("one whole object per line"));
  REQUIRE_THAT(error_text<DataError>([] { jsonl("text\tlabel\na\tx\n"); }),
               Contains("t.jsonl:1") && Contains("object"));
  REQUIRE_THAT(error_text<DataError>([] { jsonl("{}\n"); }), Contains("no keys"));
}

TEST_CASE("Nesting bombs and huge numbers of keys") {
  const int depth = 1'000'000;
  const std::string bomb = std::string(depth, '[') + std::string(depth, ']');
  REQUIRE(cell_of(bomb) == bomb);
  std::string objects;
  for (int i = 0; i < 100'000; ++i) objects += "{\"a\":";
  REQUIRE_THAT(error_text<DataError>([&] { jsonl("{\"text\":\"a\",\"label\":1}\n{\"text\":" + objects + "\n"); }),
               Contains("t.jsonl:2:"));
  std::string keys;
  for (int i = 0; i < 100'000; ++i) keys += "\"k" + std::to_string(i) + "\":1,";
  const Table table = jsonl("{\"text\":\"a\",\"label\":1}\n{" + keys + "\"text\":\"b\"}\n");
  REQUIRE(column(table, 0) == Texts{"a", "b"});
}

}  // namespace
}  // namespace bertft
