// The CSV dialect on literal content: quotes, line ends, faults and where reading goes on behind them.
#include "core/error.h"
#include "tests/unit/data/table_helpers.h"

namespace bertft {
namespace {

using Catch::Contains;
using test::column;
using test::error_text;
using test::labelled_request;
using Texts = std::vector<std::string>;
using namespace std::string_literals;

Table csv(const std::string& content, TableRequest request = labelled_request()) {
  return parse_table("t.csv", content, request);
}

TableRequest with_bad_rows(BadRow bad_row) {
  TableRequest request = labelled_request();
  request.bad_row = bad_row;
  return request;
}

struct GoodFile {
  std::string what;
  std::string content;
  Texts texts;
  Texts labels;
};

TEST_CASE("CSV that is read") {
  const std::vector<GoodFile> files = {
      {"plain", "text,label\na,x\nb,y\n", {"a", "b"}, {"x", "y"}},
      {"CR LF", "text,label\r\na,x\r\nb,y\r\n", {"a", "b"}, {"x", "y"}},
      {"no end of the last line", "text,label\na,x\nb,y", {"a", "b"}, {"x", "y"}},
      {"a quote at the very end", "text,label\na,\"x\"", {"a"}, {"x"}},
      {"CR at the very end", "text,label\r\na,\"x\"\r", {"a"}, {"x"}},
      {"quoted cells", "\"text\",\"label\"\n\"a\",\"x\"\n", {"a"}, {"x"}},
      {"commas in quotes", "text,label\n\"a, b\",x\n", {"a, b"}, {"x"}},
      {"doubled quotes", "text,label\n\"\"\"a\"\" \"\"\",x\n\"\"\"\",y\n", {"\"a\" \"", "\""}, {"x", "y"}},
      {"newlines in quotes", "text,label\n\"a\nb\",x\n\"\r\n\n\",y\n", {"a\nb", "\r\n\n"}, {"x", "y"}},
      {"newlines in both cells", "text,label\n\"a\nb\",\"x\n\"\nc,\"x\n\"\n", {"a\nb", "c"}, {"x\n", "x\n"}},
      {"empty cells", "text,label\n,x\n\"\",y\n", {"", ""}, {"x", "y"}},
      {"an empty cell at the end", "label,text\nx,\ny,\"\"\n", {"", ""}, {"x", "y"}},
      {"a quote inside a cell is text", "text,label\n5\" disk,x\na\"\"b,y\n", {"5\" disk", "a\"\"b"}, {"x", "y"}},
      {"blanks are kept", "text,label\n a ,\" x \"\n", {" a "}, {" x "}},
      {"a blank before a quote makes it text", "text,label\n \"a\",x\n", {" \"a\""}, {"x"}},
      {"tabs are text", "text,label\na\tb,x\n", {"a\tb"}, {"x"}},
      {"a mark before a quote", "\xEF\xBB\xBF\"text\",\"label\"\na,x\n", {"a"}, {"x"}},
      {"embedded NUL", "text,label\n\"a\0b\",x\n"s, {"a\0b"s}, {"x"}},
      {"empty lines at the end", "text,label\na,x\n\n\r\n", {"a"}, {"x"}},
      {"a lone CR is text", "text,label\na\rb,x\n", {"a\rb"}, {"x"}},
  };
  for (const GoodFile& file : files) {
    INFO(file.what);
    const Table table = csv(file.content);
    REQUIRE(column(table, table.roles().text) == file.texts);
    REQUIRE(column(table, table.roles().label) == file.labels);
  }
}

TEST_CASE("Rows know the line they start on") {
  const Table table = csv("text,label\r\n\"a\nb\n\",x\r\nc,y\r\n");
  REQUIRE(table.line(0) == 2);
  REQUIRE(table.line(1) == 5);
  REQUIRE(table.place(1) == "t.csv:5");
  REQUIRE(table.notes().lines == 5);
  REQUIRE(table.notes().crlf_lines == 3);
}

struct BadFile {
  std::string what;
  std::string content;
  Texts message_parts;
  Texts texts_left;  // with bad_row: skip
};

TEST_CASE("Faults of CSV cost their row and no more") {
  const std::vector<BadFile> files = {
      {"too few", "text,label\na\nb,y\n", {"t.csv:2: found 1 column, expected 2 columns (text, label): a"}, {"b"}},
      {"too many", "text,label\na,b,c\nb,y\n", {"t.csv:2: found 3 columns"}, {"b"}},
      {"an open quote",
       "text,label\nb,y\n\"a,x\nc,y\n",
       {"t.csv:3:", "opens in line 3", "end of the file"},
       {"b", "c"}},
      {"text behind a quote",
       "text,label\n\"a\" b,x\nc,y\n",
       {"t.csv:2: text behind a closing quote: \" b,x", "opened in line 2"},
       {"c"}},
      {"a stray quote that meets another",
       "text,label\n\"a,x\n\"b\",y\nc,z\n",
       {"t.csv:2:", "opened in line 2", "run on to line 3"},
       {"b", "c"}},
      {"an empty line", "text,label\n\na,x\n", {"t.csv:2: the line is empty"}, {"a"}},
      {"the header again", "text,label\na,x\n\"text\",label\nb,y\n", {"t.csv:3: the header line again"}, {"a", "b"}},
      {"the header again, marked",
       "text,label\na,x\n\xEF\xBB\xBFtext,label\nb,y\n",
       {"t.csv:3: the header"},
       {"a", "b"}},
      {"the same, quoted", "text,label\na,x\n\xEF\xBB\xBF\"text\",label\nb,y\n", {"t.csv:3: the header"}, {"a", "b"}},
  };
  for (const BadFile& file : files) {
    INFO(file.what);
    const std::string message = error_text<DataError>([&] { csv(file.content); });
    for (const std::string& part : file.message_parts) REQUIRE_THAT(message, Contains(part));
    const Table skipped = csv(file.content, with_bad_rows(BadRow::kSkip));
    REQUIRE(column(skipped, 0) == file.texts_left);
    REQUIRE(skipped.notes().skipped_rows == 1);
    REQUIRE_THAT(skipped.notes().first_skipped.at(0), Contains(file.message_parts[0]));
    const Table kept = csv(file.content, with_bad_rows(BadRow::kKeep));
    REQUIRE(kept.rows() == static_cast<int64_t>(file.texts_left.size()) + 1);
    REQUIRE(kept.broken_rows() == 1);
  }
}

TEST_CASE("A fault in line 1 leaves nothing to go by") {
  REQUIRE_THAT(error_text<DataError>([] { csv("\"text,label\na,x\n"); }), Contains("t.csv:1:"));
}

TEST_CASE("An open quote does not eat a large file") {
  std::string content = "text,label\n\"open,x\n";
  const std::string row = std::string(1000, 'a') + ",x\n";
  for (int i = 0; i < 40'000; ++i) content += row;
  TableRequest request = with_bad_rows(BadRow::kSkip);
  request.chunk_bytes = 1 << 20;
  const auto stream = open_rows("t.csv", memory_source(content), request);
  int64_t rows = 0;
  while (const auto table = stream->next()) {
    rows += table->rows();
    REQUIRE(table->text_bytes() < (32 << 20));
  }
  REQUIRE(rows == 40'000);
  REQUIRE(stream->notes().skipped_rows == 1);
  REQUIRE_THAT(stream->notes().first_skipped[0], Contains("t.csv:2:") && Contains("16 MiB"));
}

TEST_CASE("Many open quotes take linear time") {
  std::string content = "text,label\n";
  for (int i = 0; i < 20'000; ++i) content += "a\"\"\"b,\"x\n";  // each opens a quote that the next line closes wrongly
  REQUIRE_THAT(error_text<DataError>([&] { csv(content); }), Contains("20,000 faulty rows"));
}

TEST_CASE("Large cells") {
  const std::string text(50 * 1024 * 1024, 'x');
  const Table table = csv("text,label\n\"" + text + "\",x\n" + text + ",y\n");
  REQUIRE(table.text(0).size() == text.size());
  REQUIRE(table.text(1).size() == text.size());
}

TEST_CASE("Other delimiters have quoting, too") {
  TableRequest request = labelled_request();
  request.format = "csv";
  request.delimiter = ";";
  REQUIRE(column(parse_table("t", "text;label\n\"a;b\";x\n", request), 0) == Texts{"a;b"});
  request.delimiter = "\\t";
  const Table table = parse_table("t", "text\tlabel\n\"a\tb\"\tx\n", request);
  REQUIRE(column(table, 0) == Texts{"a\tb"});
  REQUIRE(table.notes().format == "csv with tabs");
}

TEST_CASE("CSV by positions has no header line") {
  TableRequest request = labelled_request();
  request.columns = {.text = "3", .label = "1"};
  const Table table = csv("\"3\",\"title\",\"some\ntext\"\n1,b,c\n", request);
  REQUIRE(column(table, 2) == Texts{"some\ntext", "c"});
  REQUIRE(column(table, 0) == Texts{"3", "1"});
  REQUIRE(table.line(1) == 3);
}

}  // namespace
}  // namespace bertft
