// Situations that people met in the field, and real files with odd properties, read from outside the repository.
#include "core/error.h"
#include "data/labels.h"
#include "tests/support/shared_data.h"
#include "tests/unit/data/table_helpers.h"

namespace bertft {
namespace {

using Catch::Contains;
using test::error_text;
using test::labelled_request;
using test::shared_path;

TEST_CASE("A second header in the middle is a fault (B11)") {
  const auto path = shared_path("field_cases/B11/joined_lf.tsv");
  if (!path) return;
  REQUIRE_THAT(error_text<DataError>([&] { read_table(*path, labelled_request()); }),
               Contains("joined_lf.tsv:4: the header line again"));
}

TEST_CASE("Labels that look like numbers keep their form and are put in order (B12)") {
  const auto folder = shared_path("field_cases/B12");
  if (!folder) return;
  const Table train = read_table(*folder + "/train.tsv", labelled_request());
  const LabelTable labels = LabelTable::discover(train);
  REQUIRE(labels.names() == std::vector<std::string>{"-1", "0", "1.5", "1.50", "07", "7", "10"});
  const auto warnings = labels.warnings();
  REQUIRE(warnings.size() == 2);
  REQUIRE_THAT(warnings[0], Contains("'1.5' and '1.50'"));
  REQUIRE_THAT(warnings[1], Contains("'07' and '7'"));
  const Table dev = read_table(*folder + "/dev.tsv", labelled_request());
  REQUIRE_THAT(error_text<DataError>([&] { label_ids(dev, labels); }), Contains("dev.tsv:3: label '7.0'"));
  const Table unlabelled = read_table(*folder + "/unlabelled.tsv", labelled_request());
  REQUIRE(unlabelled.rows() == 2);
  REQUIRE_THAT(error_text<DataError>([&] {
                 label_ids(unlabelled, LabelTable({"0", "1"}));
               }),
               Contains("'-1' (2 rows)"));
}

struct RealFile {
  std::string path;
  ColumnNames columns;
  int64_t rows;
  std::vector<std::string> labels;
};

TEST_CASE("Real files have the rows that their sources state") {
  const ColumnNames mrpc = {"#1 String", "#2 String", "Quality", ""};
  const std::vector<RealFile> files = {
      {"data/sst2/train.tsv", {.text = "sentence"}, 60'614, {"0", "1"}},
      {"data/sst2/dev.tsv", {.text = "sentence"}, 6'735, {"0", "1"}},
      {"data/sst2/test.tsv", {.text = "sentence"}, 872, {"0", "1"}},
      {"data/mrpc/msr_paraphrase_train.txt", mrpc, 4'076, {"0", "1"}},
      {"data/mrpc/msr_paraphrase_test.txt", mrpc, 1'725, {"0", "1"}},
      {"data/rte/train.tsv",
       {.text = "sentence1", .text_pair = "sentence2", .id = "index"},
       1'244,
       {"entailment", "not_entailment"}},
  };
  for (const RealFile& file : files) {
    const auto path = shared_path(file.path);
    if (!path) return;
    INFO(*path);
    TableRequest request = labelled_request();
    request.columns = file.columns;
    const Table table = read_table(*path, request);
    REQUIRE(table.rows() == file.rows);
    const LabelTable labels = LabelTable::discover(table);
    REQUIRE(labels.names() == file.labels);
    REQUIRE(table.notes().replaced_lines == 0);
  }
}

TEST_CASE("Files in other forms are refused with the reason") {
  const auto csv = shared_path("data/waimai_10k/waimai_10k.csv");
  const auto trec = shared_path("data/trec6/TREC.train");
  if (!csv || !trec) return;
  TableRequest request = labelled_request();
  request.columns.text = "review";
  REQUIRE_THAT(error_text<DataError>([&] { read_table(*csv, request); }), Contains("csv: not in this build"));
  REQUIRE_THAT(error_text<DataError>([&] { read_table(*trec, labelled_request()); }), Contains("TREC.train:1"));
}

}  // namespace
}  // namespace bertft
