// Chunks, lists of files, folders of texts, and the rules on bad rows that all formats share.
#include "data/row_stream.h"

#include <algorithm>
#include <filesystem>

#include "core/error.h"
#include "tests/support/temp_folder.h"
#include "tests/unit/data/table_helpers.h"

namespace bertft {
namespace {

using Catch::Contains;
using test::column;
using test::error_text;
using test::labelled_request;
using test::TempFolder;
using Texts = std::vector<std::string>;

// All texts, label by label: "a/x".
Texts rows_of(RowStream& stream, int64_t* chunks = nullptr) {
  Texts rows;
  while (const auto table = stream.next()) {
    REQUIRE(table->rows() > 0);
    REQUIRE(table->columns() == stream.columns());
    for (int64_t row = 0; row < table->rows(); ++row) {
      rows.push_back(std::string(table->text(row)) + "/" + std::string(table->label(row)));
    }
    if (chunks != nullptr) ++*chunks;
  }
  REQUIRE_FALSE(stream.next().has_value());
  return rows;
}

TEST_CASE("A stream hands out chunks of bounded size") {
  std::string content = "text\tlabel\n";
  for (int i = 0; i < 2000; ++i) content += std::string(5000, 'a') + "\tx\n";
  TableRequest request = labelled_request();
  request.chunk_bytes = 1 << 20;
  request.block_bytes = 64 << 10;
  const auto stream = open_rows("t.tsv", memory_source(content), request);
  int64_t rows = 0;
  while (const auto table = stream->next()) {
    REQUIRE(table->text_bytes() < (1 << 20) + (128 << 10));
    REQUIRE(table->line(0) == rows + 2);
    rows += table->rows();
  }
  REQUIRE(rows == 2000);
  REQUIRE(stream->notes().lines == 2001);
}

TEST_CASE("Skipped rows take no memory, and a long run of them is no chunk") {
  std::string content = "text\tlabel\na\tx\n";
  for (int i = 0; i < 100'000; ++i) content += "only one cell\n";
  TableRequest request = labelled_request();
  request.bad_row = BadRow::kSkip;
  request.chunk_bytes = request.block_bytes = 4096;
  const auto stream = open_rows("t.tsv", memory_source(content + "b\ty\n"), request);
  REQUIRE(rows_of(*stream) == Texts{"a/x", "b/y"});
  REQUIRE(stream->notes().skipped_rows == 100'000);
}

TEST_CASE("Faults come at the end of their file") {
  TableRequest request = labelled_request();
  request.chunk_bytes = request.block_bytes = 8;
  const auto stream = open_rows("t.tsv", memory_source("text\tlabel\na\tx\nb\nc\ty\nd\n"), request);
  REQUIRE(stream->next()->rows() == 1);
  const std::string message = error_text<DataError>([&] { stream->next(); });
  REQUIRE_THAT(message, Contains("2 faulty rows") && Contains("t.tsv:3:") && Contains("t.tsv:5:"));
}

TEST_CASE("Bad rows are skipped or kept as asked for") {
  const std::string content = "text\tlabel\na\tx\nb\n\nc\ty\tz\n\xFF\tx\nd\ty\n\n";
  TableRequest request = labelled_request();
  request.bad_row = BadRow::kSkip;
  const Table skipped = parse_table("t.tsv", content, request);
  REQUIRE(column(skipped, 0) == Texts{"a", "\xEF\xBF\xBD", "d"});
  REQUIRE(skipped.notes().skipped_rows == 3);
  REQUIRE(skipped.notes().first_skipped[1] == "t.tsv:4: the line is empty, expected 2 columns (text, label)");
  REQUIRE(skipped.notes().dropped_empty_lines == 1);

  request.bad_row = BadRow::kKeep;
  const Table kept = parse_table("t.tsv", content, request);
  REQUIRE(column(kept, 0) == Texts{"a", "b", "", "c", "\xEF\xBF\xBD", "d"});
  REQUIRE(column(kept, 1) == Texts{"x", "", "", "y", "x", "y"});
  for (int64_t row = 0; row < kept.rows(); ++row) {
    REQUIRE(kept.is_broken(row) == (row >= 1 && row <= 3));
    REQUIRE(kept.broken_reason(row).empty() == !kept.is_broken(row));
    REQUIRE(kept.line(row) == row + 2);
  }
  REQUIRE_THAT(kept.broken_reason(3), Contains("found 3 columns"));
  REQUIRE(kept.notes().broken_rows == 3);

  request.bad_row = BadRow::kSkip;
  REQUIRE_THAT(error_text<DataError>([&] { parse_table("t.tsv", "text\tlabel\na\nb\n", request); }),
               Contains("all 2 rows were skipped") && Contains("t.tsv:2"));
}

TEST_CASE("Invalid text is replaced, refused or skipped as asked for") {
  const std::string content = "text\tlabel\na\xC3\tx\nb\ty\nc\xFF\xFF\tx\n";
  TableRequest request = labelled_request();
  request.invalid_utf8 = InvalidText::kError;
  request.bad_row = BadRow::kSkip;
  REQUIRE_THAT(error_text<DataError>([&] { parse_table("t.tsv", content, request); }),
               Contains("t.tsv:2: 1 invalid part in") && Contains("t.tsv:4: 2 invalid parts"));
  request.invalid_utf8 = InvalidText::kSkip;
  request.bad_row = BadRow::kError;
  const Table skipped = parse_table("t.tsv", content, request);
  REQUIRE(column(skipped, 0) == Texts{"b"});
  REQUIRE(skipped.notes().skipped_rows == 2);
  request.bad_row = BadRow::kKeep;
  const Table kept = parse_table("t.tsv", content, request);
  REQUIRE(kept.rows() == 3);
  REQUIRE(kept.is_broken(2));
  REQUIRE(kept.text(2) == "c\xEF\xBF\xBD\xEF\xBF\xBD");
}

TEST_CASE("A list of files is one table") {
  const TempFolder folder;
  folder.write("b.tsv", "text\tlabel\nc\tx\n");
  folder.write("a.tsv", "text\tlabel\na\tx\nb\ty");
  folder.write("c.csv", "\xEF\xBB\xBFtext,label\r\n\"d\nd\",y\r\n");
  folder.write("d.jsonl", "{\"label\": 1, \"text\": \"e\"}\n");
  for (const size_t bytes : {size_t{4}, size_t{1} << 20}) {
    TableRequest request = labelled_request();
    request.chunk_bytes = request.block_bytes = bytes;
    const auto stream = open_rows({folder / "c.csv", folder / "[ab].ts?", folder / "d.jsonl"}, request);
    int64_t chunks = 0;
    REQUIRE(rows_of(*stream, &chunks) == Texts{"d\nd/y", "a/x", "b/y", "c/x", "e/1"});
    REQUIRE((bytes > 4 ? chunks == 1 : chunks >= 4));
    REQUIRE(stream->notes().files == 4);
    REQUIRE(stream->notes().format == "csv; tsv; jsonl");
    REQUIRE(stream->files().size() == 4);
  }
  const Table table = read_table(folder / "*.tsv", labelled_request());
  REQUIRE(table.place(1) == folder / "a.tsv" + ":3");
  REQUIRE(table.place(2) == folder / "b.tsv" + ":2");
  REQUIRE(table.file(2) == 1);
  TableRequest request = labelled_request();
  request.max_rows = 2;
  const Table first = read_table(folder / "*.tsv", request);
  REQUIRE(first.rows() == 2);
  REQUIRE(first.notes().is_cut_by_max_rows);
}

TEST_CASE("Files of one list must agree") {
  const TempFolder folder;
  folder.write("a.tsv", "text\tlabel\na\tx\n");
  folder.write("b.tsv", "label\ttext\nx\ta\n");
  folder.write("empty.tsv", "");
  REQUIRE_THAT(error_text<DataError>([&] { read_table(folder / "?.tsv", labelled_request()); }),
               Contains("b.tsv") && Contains("'label', 'text'") && Contains("'text', 'label'"));
  REQUIRE_THAT(error_text<DataError>([&] {
                 rows_of(*open_rows({folder / "a.tsv", folder / "empty.tsv"}, {}));
               }),
               Contains("empty.tsv: the file is empty"));
  REQUIRE_THAT(error_text<DataError>([&] { open_rows({folder / "a.tsv", folder / "?.tsv"}, {}); }), Contains("twice"));
  REQUIRE_THAT(error_text<DataError>([&] { open_rows({folder / "x*.tsv"}, {}); }), Contains("pattern"));
  REQUIRE_THROWS_AS(open_rows(std::vector<std::string>{}, TableRequest{}), DataError);
}

TEST_CASE("A path that exists is no pattern") {
  const TempFolder folder;
  folder.write("a[1].tsv", "text\tlabel\na\tx\n");
  folder.write("a1.tsv", "text\tlabel\nb\tx\n");
  REQUIRE(column(read_table(folder / "a[1].tsv", labelled_request()), 0) == Texts{"a"});
}

TEST_CASE("A folder of texts has a sub-folder for each class") {
  const TempFolder folder;
  folder.write("urls.txt", "not a text");
  folder.write(".hidden/a.txt", "no");
  folder.write("other/readme.md", "no");
  Texts expected;
  for (int i = 0; i < 300; ++i) {
    const std::string name = std::to_string(1000 + i);
    folder.write("pos/" + name + ".txt", "good\n" + name);
    folder.write("neg/" + name + ".txt", name + "\r\n");
  }
  for (int i = 0; i < 300; ++i) expected.push_back(std::to_string(1000 + i) + "/neg");
  for (int i = 0; i < 300; ++i) expected.push_back("good\n" + std::to_string(1000 + i) + "/pos");
  for (const size_t bytes : {size_t{100}, size_t{1} << 20}) {
    TableRequest request = labelled_request();
    request.chunk_bytes = bytes;
    const auto stream = open_rows({folder.path()}, request);
    REQUIRE(stream->columns() == Texts{"text", "label", "file"});
    REQUIRE(rows_of(*stream) == expected);
  }
  const Table table = read_table(folder.path(), labelled_request());
  REQUIRE(table.path() == folder.path());
  REQUIRE(table.place(599) == folder / "pos/1299.txt" + ":1");
  REQUIRE(table.cell(0, 2) == "neg/1000.txt");
  TableRequest request = labelled_request();
  request.max_rows = 10;
  REQUIRE(read_table(folder.path(), request).rows() == 10);
}

TEST_CASE("Folders of other layouts") {
  const TempFolder folder;
  folder.write("flat/b.txt", "b");
  folder.write("flat/a.txt", "");
  REQUIRE(column(read_table(folder / "flat", TableRequest{}), 0) == Texts{"", "b"});
  REQUIRE_THAT(error_text<DataError>([&] { read_table(folder / "flat", labelled_request()); }), Contains("'label'"));
  folder.write("flat/c.json", "{}");
  REQUIRE_THAT(error_text<DataError>([&] { read_table(folder / "flat", TableRequest{}); }), Contains("folder"));
  folder.write("pair/x/a.txt", "a");
  TableRequest request = labelled_request();
  request.columns.text_pair = "second";
  REQUIRE_THAT(error_text<DataError>([&] { read_table(folder / "pair", request); }), Contains("'second'"));
  folder.write("pair/x/b.txt", std::string("PK\x03\x04", 4));
  REQUIRE_THAT(error_text<DataError>([&] { read_table(folder / "pair", labelled_request()); }), Contains("b.txt"));
}

TEST_CASE("A schema names the columns of files without header line") {
  TableRequest request = labelled_request();
  request.schema = "label:str:1, text:str:1,score:float:3";
  const Table table = parse_table("t", "x\ta\t1,2,3\ny\tb\t\n", request);
  REQUIRE(table.columns() == Texts{"label", "text", "score"});
  REQUIRE(column(table, table.roles().text) == Texts{"a", "b"});
  REQUIRE_FALSE(table.notes().has_header);
  REQUIRE(parse_table("t", "label\ttext\tscore\ny\tb\t\n", request).rows() == 1);
  REQUIRE_THAT(error_text<DataError>([&] { parse_table("t", "x\ta\t1\nlabel\ttext\tscore\n", request); }),
               Contains("t:2: the header line again"));
  REQUIRE_THAT(error_text<DataError>([&] { parse_table("t", "x\ta\n", request); }), Contains("t:1: found 2 columns"));
  REQUIRE(parse_table("t.csv", "x,\"a,a\",1\n", request).text(0) == "a,a");
  request.columns.text = "sentence";
  REQUIRE_THAT(error_text<DataError>([&] { parse_table("t", "x\ta\t1\n", request); }),
               Contains("'sentence'") && Contains("data.schema names 'label', 'text', 'score'"));
  for (const std::string bad :
       {"text", "text:str", ":str:1", "text:text:1", "text:str:0", "text:str:x", "text:str:1,", "a:str:1,a:int:1"}) {
    INFO(bad);
    request.schema = bad;
    REQUIRE_THAT(error_text<ConfigError>([&] { parse_table("t", "x\ta\t1\n", request); }), Contains("data.schema"));
  }
}

struct Choice {
  std::string path;
  std::string content;
  std::string format;
  std::string reason;
};

TEST_CASE("The form of a file is decided by its name, then by its content") {
  const std::vector<Choice> choices = {
      {"a.tsv", "text\tlabel\na\tx\n", "tsv", "the name ends in .tsv"},
      {"dir.x/A.CSV", "text,label\na,x\n", "csv", "the name ends in .csv"},
      {"a.csv", "text;label\na, b;x\n", "csv with ';'", "semicolons"},
      {"a.csv", "text\tlabel\n\"a\tx\n", "tsv", "tabs and no comma"},
      {"a.csv", "\"text\"\t\"label\"\n\"a\"\tx\n", "csv with tabs", "tabs and no comma"},
      {"a.csv", "{\"text\": \"a\", \"label\": 1}\n", "jsonl", "line 1 is JSON"},
      {"a.json", "{\"text\": \"a\", \"label\": 1}\n", "jsonl", "the name ends in .json"},
      {"a.data", "{\"text\": \"a\", \"label\": 1}\r\n", "jsonl", "line 1 is JSON"},
      {"a.txt", "text,label\na,x\n", "csv", "divided by ','"},
      {"a", "\"label\";\"text\"\nx;a\n", "csv with ';'", "divided by ';'"},
      {"a", "label|text\nx|a\n", "csv with '|'", "divided by '|'"},
      {"a", "label\ttext,more\nx\ta\n", "tsv", "tabs"},
  };
  for (const Choice& one : choices) {
    INFO(one.path << ": " << one.content);
    TableRequest request = labelled_request();
    if (one.content.find("more") != std::string::npos) request.columns.text = "text,more";
    const Table table = parse_table(one.path, one.content, request);
    REQUIRE(table.notes().format == one.format);
    REQUIRE_THAT(table.notes().format_reason, Contains(one.reason));
    REQUIRE(table.rows() == 1);
  }
  TableRequest request = labelled_request();
  request.format = "tsv";
  REQUIRE(parse_table("a.csv", "text\tlabel\na\tx\n", request).notes().format_reason == "data.format says so");
}

TEST_CASE("A delimiter of one's own, and only the first of them") {
  TableRequest request = labelled_request();
  request.columns = {.text = "2", .label = "1"};
  request.delimiter = " ";
  request.max_splits = 1;
  const Table table = parse_table("TREC.train", "DESC:manner How  did \"it\" go ?\nX \n", request);
  REQUIRE(column(table, 0) == Texts{"DESC:manner", "X"});
  REQUIRE(column(table, 1) == Texts{"How  did \"it\" go ?", ""});
  REQUIRE(table.notes().format == "columns divided at the first ' '");
  REQUIRE_THAT(error_text<DataError>([&] { parse_table("t", "a b\nc\n", request); }), Contains("t:2: found 1 column"));
  for (const std::string bad : {"||", "\"", "\n", "\xC3\xA4"}) {
    request.delimiter = bad;
    REQUIRE_THROWS_AS(parse_table("t", "a b\n", request), ConfigError);
  }
}

TEST_CASE("UTF-16 and GB18030 files are read as others") {
  const std::string utf16("\xFF\xFEt\0e\0x\0t\0\t\0l\0a\0b\0e\0l\0\n\0\x60\x4F\t\0x\0\r\0\n\0", 34);
  const Table table = parse_table("t.tsv", utf16, labelled_request());
  REQUIRE(column(table, 0) == Texts{"\xE4\xBD\xA0"});
  REQUIRE(table.notes().encoding == "utf-16le");
  REQUIRE(table.notes().crlf_lines == 1);
  TableRequest request = labelled_request();
  request.encoding = "gb18030";
  REQUIRE(column(parse_table("t.csv", "text,label\n\"\xC4\xE3,\",x\n", request), 0) == Texts{"\xE4\xBD\xA0,"});
}

}  // namespace
}  // namespace bertft
