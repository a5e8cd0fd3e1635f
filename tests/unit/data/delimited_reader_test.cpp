// The TSV dialect on literal content: what is read, what is repaired, what is refused and in which words.
#include <fstream>

#include "core/error.h"
#include "tests/unit/data/table_helpers.h"

namespace bertft {
namespace {

using Catch::Contains;
using test::column;
using test::error_text;
using test::labelled_request;
using test::labelled_table;
using Texts = std::vector<std::string>;
using namespace std::string_literals;

struct GoodFile {
  std::string what;
  std::string content;
  Texts texts;
  Texts labels;
};

TEST_CASE("Readable files") {
  const std::vector<GoodFile> files = {
      {"LF", "text\tlabel\na\tx\nb\ty\n", {"a", "b"}, {"x", "y"}},
      {"CR LF", "text\tlabel\r\na\tx\r\nb\ty\r\n", {"a", "b"}, {"x", "y"}},
      {"mixed line ends", "text\tlabel\na\tx\r\nb\ty\n", {"a", "b"}, {"x", "y"}},
      {"no end of the last line", "text\tlabel\na\tx\nb\ty", {"a", "b"}, {"x", "y"}},
      {"CR at the very end", "text\tlabel\r\na\tx\r\nb\ty\r", {"a", "b"}, {"x", "y"}},
      {"byte order mark", "\xEF\xBB\xBFtext\tlabel\na\tx\n", {"a"}, {"x"}},
      {"other order of columns", "label\tn\ttext\nx\t1\ta\n", {"a"}, {"x"}},
      {"empty lines at the end", "text\tlabel\na\tx\n\n\r\n\n", {"a"}, {"x"}},
      {"quotes are text", "text\tlabel\n\"a\tx\n\"b \"\" c\"\ty\n", {"\"a", "\"b \"\" c\""}, {"x", "y"}},
      {"backslashes are text", "text\tlabel\na\\tb\\\tx\n", {"a\\tb\\"}, {"x"}},
      {"no NA magic", "text\tlabel\nNA\tnull\nnan\tNone\n\tx\n", {"NA", "nan", ""}, {"null", "None", "x"}},
      {"blanks are kept", "text\tlabel\n a \t x\n", {" a "}, {" x"}},
      {"embedded NUL", "text\tlabel\na\0b\tx\n"s, {"a\0b"s}, {"x"}},
      {"a lone CR is text", "text\tlabel\na\rb\tx\n", {"a\rb"}, {"x"}},
      {"no text but ASCII", "text\tlabel\n\xE4\xBD\xA0\xE5\xA5\xBD\tx\n", {"\xE4\xBD\xA0\xE5\xA5\xBD"}, {"x"}},
  };
  for (const GoodFile& file : files) {
    INFO(file.what);
    const Table table = labelled_table(file.content);
    REQUIRE(column(table, table.roles().text) == file.texts);
    REQUIRE(column(table, table.roles().label) == file.labels);
    REQUIRE(table.rows() == static_cast<int64_t>(file.texts.size()));
  }
}

TEST_CASE("Rows know their lines, notes what was dealt with") {
  const Table table =
      labelled_table("\xEF\xBB\xBFtext\tlabel\r\na\tx\nb\xFF\xFE\tx\n\xE4\xBD\ty\nc\tx\n\xC0 \tx\n\xF0\tx\n\n\n");
  REQUIRE(table.rows() == 6);
  REQUIRE(table.line(0) == 2);
  REQUIRE(table.place(5) == "train.tsv:7");
  REQUIRE(table.text(1) == "b\xEF\xBF\xBD\xEF\xBF\xBD");
  REQUIRE(table.text(2) == "\xEF\xBF\xBD");
  const ReadNotes& notes = table.notes();
  REQUIRE(notes.has_byte_order_mark);
  REQUIRE(notes.has_header);
  REQUIRE(notes.format == "tsv");
  REQUIRE(notes.lines == 9);
  REQUIRE(notes.crlf_lines == 1);
  REQUIRE(notes.replaced_lines == 4);
  REQUIRE(notes.replaced_parts == 5);
  REQUIRE(notes.first_replaced_places == Texts{"train.tsv:3", "train.tsv:4", "train.tsv:6"});
  REQUIRE(notes.dropped_empty_lines == 2);
  REQUIRE_FALSE(notes.is_cut_by_max_rows);
}

TEST_CASE("A table stays valid when it is moved, however short the file") {
  Table first = labelled_table("text\tlabel\na\xFF\tx\n");
  const std::string_view text = first.text(0);
  const Table second = std::move(first);
  REQUIRE(second.text(0).data() == text.data());
  REQUIRE(second.text(0) == "a\xEF\xBF\xBD");
  const Table tiny = [] { return labelled_table("text\tlabel\na\tb"); }();
  REQUIRE(tiny.text(0) == "a");
}

struct BadFile {
  std::string what;
  std::string content;
  Texts message_parts;
};

TEST_CASE("Refused files") {
  const std::vector<BadFile> files = {
      {"nothing", "", {"train.tsv", "empty"}},
      {"a byte order mark alone", "\xEF\xBB\xBF", {"train.tsv", "empty"}},
      {"a header alone", "text\tlabel\n", {"train.tsv", "no rows behind the header line"}},
      {"a header and empty lines", "text\tlabel\n\n\n", {"no rows behind the header line"}},
      {"too few columns",
       "text\tlabel\na\tx\nb\n",
       {"train.tsv: 1 faulty row:", "train.tsv:3: found 1 column, expected 2 columns (text, label): b"}},
      {"too many columns", "text\tlabel\na\tx\ty\n", {"train.tsv:2: found 3 columns, expected 2", "a\\x09x\\x09y"}},
      {"an empty line in the middle", "text\tlabel\na\tx\n\nb\ty\n", {"train.tsv:3: the line is empty"}},
      {"blanks at the end", "text\tlabel\na\tx\n  \n", {"train.tsv:3: found 1 column"}},
      {"all faults are gathered",
       "text\tlabel\na\nb\tx\nc\nd\ty\tz\n",
       {"3 faulty rows", "train.tsv:2:", "train.tsv:4:", "train.tsv:5:"}},
      {"the header again", "text\tlabel\na\tx\ntext\tlabel\nb\ty\n", {"train.tsv:3: the header line again"}},
      {"the header again with a mark",
       "text\tlabel\na\tx\n\xEF\xBB\xBFtext\tlabel\r\nb\ty\n",
       {"train.tsv:3: the header line again"}},
      {"an LFS pointer",
       "version https://git-lfs.github.com/spec/v1\noid sha256:00\nsize 437\n",
       {"Git LFS pointer", "437"}},
      {"a web page", "<!DOCTYPE html>\n<html>", {"web page"}},
      {"gzip", "\x1F\x8B\x08\x00", {"gzip"}},
      {"UTF-32", "\xFF\xFE\0\0t\0\0\0"s, {"UTF-32", "iconv"}},
      {"CR line ends", "text\tlabel\ra\tx\rb\ty\r", {"CR"}},
  };
  for (const BadFile& file : files) {
    INFO(file.what);
    const std::string message = error_text<DataError>([&] { labelled_table(file.content); });
    for (const std::string& part : file.message_parts) REQUIRE_THAT(message, Contains(part));
  }
}

TEST_CASE("A message shows twenty faults and counts all") {
  std::string content = "text\tlabel\n";
  for (int i = 0; i < 1234; ++i) content += "bad\n";
  const std::string message = error_text<DataError>([&] { labelled_table(content); });
  REQUIRE_THAT(message, Contains("1,234 faulty rows") && Contains("train.tsv:21:") && Contains("and 1,214 more"));
  REQUIRE_THAT(message, !Contains("train.tsv:22:"));
}

TEST_CASE("Only the first rows are read when max_rows says so") {
  TableRequest request = labelled_request();
  request.max_rows = 2;
  const std::string content = "text\tlabel\na\tx\nb\ty\nfaulty\n";
  const Table table = parse_table("train.tsv", content, request);
  REQUIRE(column(table, 0) == Texts{"a", "b"});
  REQUIRE(table.notes().is_cut_by_max_rows);
  request.max_rows = 3;
  REQUIRE_THROWS_AS(parse_table("train.tsv", content, request), DataError);
}

TEST_CASE("Plain text has one row a line, tabs and empty lines included") {
  const Table table = parse_table("lines.txt", "one\r\n\ntwo\tcells\n\xFF\n\n", TableRequest{});
  REQUIRE(table.notes().format == "plain text");
  REQUIRE_FALSE(table.notes().has_header);
  REQUIRE(table.columns() == Texts{"text"});
  REQUIRE(column(table, 0) == Texts{"one", "", "two\tcells", "\xEF\xBF\xBD", ""});
  REQUIRE(table.label(0) == "");
}

TEST_CASE("A line of fifty megabytes is a row") {
  const std::string text(50 * 1024 * 1024, 'x');
  const Table table = labelled_table("text\tlabel\n" + text + "\tx\nb\ty\n");
  REQUIRE(table.text(0).size() == text.size());
  REQUIRE(table.text(1) == "b");
  const std::string message = error_text<DataError>([&] { labelled_table("text\tlabel\n" + text + "\n"); });
  REQUIRE(message.size() < 500);
}

TEST_CASE("Files that cannot be read") {
  REQUIRE_THAT(error_text<DataError>([] { read_table("no/such.tsv", labelled_request()); }), Contains("no/such.tsv"));
  REQUIRE_THAT(error_text<DataError>([] { read_table("src/data", labelled_request()); }), Contains("folder"));
  REQUIRE_THAT(error_text<DataError>([] { read_table("no/*.tsv", labelled_request()); }),
               Contains("no/*.tsv") && Contains("pattern"));
}

TEST_CASE("The sample data of the repository is read") {
  const Table table = read_table("data/en/train.tsv", labelled_request());
  REQUIRE(table.rows() > 100);
  REQUIRE(table.notes().replaced_lines == 0);
}

}  // namespace
}  // namespace bertft
