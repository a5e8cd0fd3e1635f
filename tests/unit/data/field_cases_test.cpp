// Situations that people met in the field, and real files with odd properties, read from outside the repository.
#include "core/error.h"
#include "data/targets.h"
#include "tests/support/shared_data.h"
#include "tests/unit/data/table_helpers.h"

namespace bertft {
namespace {

using Catch::Contains;
using test::error_text;
using test::labelled_request;
using test::shared_path;
using test::tiny_dataset;

TEST_CASE("A second header in the middle is a fault (B11)") {
  const auto path = shared_path("field_cases/B11/joined_lf.tsv");
  if (!path) return;
  REQUIRE_THAT(error_text<DataError>([&] { read_table(*path, labelled_request()); }),
               Contains("joined_lf.tsv:4: the header line again"));
}

TEST_CASE("Labels that look like numbers keep their form and are put in order (B12)") {
  const auto folder = shared_path("field_cases/B12");
  if (!folder) return;
  const LabelReader reader({});
  const Dataset train = tiny_dataset(read_table(*folder + "/train.tsv", labelled_request()));
  const LabelTable labels = find_labels(train, reader);
  REQUIRE(labels.names() == std::vector<std::string>{"-1", "0", "1.5", "1.50", "07", "7", "10"});
  const auto warnings = labels.warnings();
  REQUIRE(warnings.size() == 2);
  REQUIRE_THAT(warnings[0], Contains("'1.5' and '1.50'"));
  REQUIRE_THAT(warnings[1], Contains("'07' and '7'"));
  Dataset dev = tiny_dataset(read_table(*folder + "/dev.tsv", labelled_request()));
  REQUIRE_THAT(error_text<DataError>([&] { attach_targets(dev, reader, labels); }), Contains("dev.tsv:3: label '7.0'"));
  Dataset unlabelled = tiny_dataset(read_table(*folder + "/unlabelled.tsv", labelled_request()));
  REQUIRE(unlabelled.rows() == 2);
  REQUIRE_THAT(error_text<DataError>([&] {
                 attach_targets(unlabelled, reader, LabelTable({"0", "1"}));
               }),
               Contains("'-1' (2 rows)"));
}

TEST_CASE("A second header in a CSV is skipped when bad rows are (B11)") {
  const auto folder = shared_path("field_cases/B11");
  if (!folder) return;
  REQUIRE_THAT(error_text<DataError>([&] { read_table(*folder + "/joined.csv", labelled_request()); }),
               Contains("joined.csv:5: the header line again"));
  TableRequest request = labelled_request();
  request.bad_row = BadRow::kSkip;
  for (const auto& [name, rows] : {std::pair("/joined.csv", 5), {"/joined_lf.tsv", 3}}) {
    const Table table = read_table(*folder + name, request);
    REQUIRE(table.rows() == rows);
    REQUIRE(table.notes().skipped_rows == 1);
    REQUIRE(find_labels(tiny_dataset(table), LabelReader({})).names() == std::vector<std::string>{"0", "1"});
  }
}

TEST_CASE("Halves of characters in JSON are invalid text (B09)") {
  const auto path = shared_path("field_cases/B09/rows.jsonl");
  if (!path) return;
  const Table table = read_table(*path, labelled_request());
  REQUIRE(table.rows() == 5);
  REQUIRE(table.notes().replaced_lines == 4);
  REQUIRE(table.notes().replaced_parts == 5);
  REQUIRE(table.notes().first_replaced_places == std::vector<std::string>{*path + ":1", *path + ":2", *path + ":3"});
  REQUIRE(table.text(0) == "fine \xEF\xBF\xBD but cut");
  REQUIRE(table.text(3) == "swapped \xEF\xBF\xBD\xEF\xBF\xBD halves");
  REQUIRE(table.text(4) == "whole \xF0\x9F\x94\xA5 pair");
  REQUIRE(table.raw(0) == R"({"text": "fine \ufffd but cut", "label": "a"})");
  TableRequest request = labelled_request();
  request.invalid_utf8 = InvalidText::kError;
  REQUIRE_THAT(error_text<DataError>([&] { read_table(*path, request); }), Contains("rows.jsonl:1: 1 invalid part"));
}

TEST_CASE("JSON values keep their form as labels, null is a missing one (B12)") {
  const auto path = shared_path("field_cases/B12/train.jsonl");
  if (!path) return;
  const Table table = read_table(*path, labelled_request());
  REQUIRE(test::column(table, table.roles().label) == std::vector<std::string>{"1", "1", "1.0", "true", ""});
  for (int64_t row = 0; row < 5; ++row) REQUIRE(table.is_missing(row, table.roles().label) == (row == 4));
  Dataset rows = tiny_dataset(table);
  const LabelReader reader({});
  const LabelTable labels = find_labels(rows, reader);
  REQUIRE(labels.names() == std::vector<std::string>{"1", "1.0", "true"});
  REQUIRE_THAT(error_text<DataError>([&] { attach_targets(rows, reader, labels); }),
               Contains("train.jsonl:5: the label is missing"));
}

struct RealFile {
  std::string path;
  TableRequest request;
  int64_t rows;
  size_t labels;
};

TableRequest request_of(ColumnNames columns) {
  TableRequest request = labelled_request();
  request.columns = std::move(columns);
  return request;
}

TableRequest first_blank() {
  TableRequest request = request_of({.text = "text"});
  request.schema = "label:str:1,text:str:1";
  request.delimiter = " ";
  request.max_splits = 1;
  return request;
}

TableRequest unlabelled(ColumnNames columns) {
  TableRequest request = request_of(std::move(columns));
  request.needs_label = false;
  return request;
}

std::vector<RealFile> real_files() {
  const TableRequest sst2 = request_of({.text = "sentence"});
  const TableRequest mrpc = request_of({"#1 String", "#2 String", "Quality", ""});
  const TableRequest rte = request_of({.text = "sentence1", .text_pair = "sentence2", .id = "index"});
  const TableRequest pairs = request_of({.text = "sentence1", .text_pair = "sentence2"});
  const TableRequest stsb = request_of({.text = "1", .text_pair = "2", .label = "3"});
  const TableRequest text_first = request_of({.text = "1", .label = "2"});
  const TableRequest label_first = request_of({.text = "2", .label = "1"});
  return {
      {"ag_news/test.csv", request_of({.text = "3", .text_pair = "2", .label = "1"}), 7'600, 4},
      {"ag_news/alps_dev.tsv", text_first, 10'001, 4},
      {"banking77/train.csv", request_of({.label = "category"}), 10'003, 77},
      {"banking77/test.csv", request_of({.label = "category"}), 3'080, 77},
      {"cola/in_domain_train.tsv", request_of({.text = "4", .label = "2"}), 8'551, 2},
      {"cola/in_domain_dev.tsv", request_of({.text = "4", .label = "2"}), 527, 2},
      {"cola/out_of_domain_dev.tsv", request_of({.text = "4", .label = "2"}), 516, 2},
      {"go_emotions/train.tsv", request_of({.text = "1", .label = "2", .id = "3"}), 43'410, 711},
      {"go_emotions/dev.tsv", text_first, 5'426, 0},
      {"go_emotions/test.tsv", text_first, 5'427, 0},
      {"mrpc/msr_paraphrase_train.txt", mrpc, 4'076, 2},
      {"mrpc/msr_paraphrase_test.txt", mrpc, 1'725, 2},
      {"ocnli/train.3k.json", pairs, 3'000, 4},
      {"ocnli/train.10k.json", pairs, 10'000, 4},
      {"ocnli/dev.json", pairs, 3'000, 4},
      {"ocnli/test.json", unlabelled({.text = "sentence1", .text_pair = "sentence2"}), 3'000, 0},
      {"rte/train.tsv", rte, 1'244, 2},
      {"rte/dev.tsv", rte, 139, 2},
      {"rte/test.tsv", rte, 1'384, 2},
      {"sms_spam/sms.tsv", label_first, 5'574, 2},
      {"sst2/train.tsv", sst2, 60'614, 2},
      {"sst2/dev.tsv", sst2, 6'735, 2},
      {"sst2/test.tsv", sst2, 872, 2},
      {"sst5/stsa.fine.train", first_blank(), 8'544, 5},
      {"sst5/stsa.fine.dev", first_blank(), 1'101, 5},
      {"sst5/stsa.fine.test", first_blank(), 2'210, 5},
      {"stsb/stsb-en-train.csv", stsb, 5'749, 0},
      {"stsb/stsb-en-dev.csv", stsb, 1'500, 0},
      {"stsb/stsb-zh-train.csv", stsb, 5'749, 0},
      {"stsb/stsb-zh-test.csv", stsb, 1'379, 0},
      {"thucnews_title/dev.txt", text_first, 10'000, 10},
      {"thucnews_title/test.txt", text_first, 10'000, 10},
      {"tnews_fewclue/train_few_all.json", sst2, 1'185, 15},
      {"tnews_fewclue/dev_few_all.json", sst2, 1'098, 15},
      {"tnews_fewclue/test_public.json", sst2, 2'010, 15},
      {"tnews_fewclue/test.json", unlabelled({.text = "sentence"}), 1'500, 0},
      {"trec6/TREC.train", first_blank(), 5'452, 50},
      {"trec6/TREC.test", first_blank(), 500, 42},
      {"waimai_10k/waimai_10k.csv", request_of({.text = "review"}), 11'987, 2},
  };
}

TEST_CASE("Real files have the rows that their sources state") {
  for (const RealFile& file : real_files()) {
    const auto path = shared_path("data/" + file.path);
    if (!path) return;
    INFO(*path);
    const Table table = read_table(*path, file.request);
    REQUIRE(table.rows() == file.rows);
    if (file.labels > 0) REQUIRE(find_labels(tiny_dataset(table), LabelReader({})).names().size() == file.labels);
    const bool has_bad_byte = file.path == "trec6/TREC.train";
    REQUIRE(table.notes().replaced_lines == (has_bad_byte ? 1 : 0));
    if (has_bad_byte) REQUIRE(table.notes().first_replaced_places == std::vector<std::string>{*path + ":66"});
  }
}

}  // namespace
}  // namespace bertft
