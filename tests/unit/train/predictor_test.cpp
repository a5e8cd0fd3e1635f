// Predictions: one row per input row, the input's columns first, and no cell that breaks the table.
#include "train/predictor.h"

#include <sstream>

#include "data/reader.h"
#include "tasks/text_classification.h"
#include "tests/support/errors.h"

namespace bertft {
namespace {

RowOutputs outputs_of(int64_t rows) {
  RowOutputs outputs(rows);
  for (int64_t row = 0; row < rows; ++row)
    outputs.set(row, std::vector<double>{0.0, static_cast<double>(row % 2) * 50});
  return outputs;
}

std::string predictions(const Table& table, const std::vector<std::string>& labels, int64_t* replaced,
                        const PredictionFormat& format = {}) {
  const TextClassification task(TaskSettings{{}, labels});
  std::ostringstream out;
  *replaced = write_predictions(out, table, task, outputs_of(table.rows()), format);
  return out.str();
}

TEST_CASE("Columns of the input come first, rows in input order") {
  const Table table = parse_table("in.tsv", "id\ttext\tother\n7\tx\ty\n7\t\t\n8\tz z\t\xC3\xA4\n", {});
  int64_t replaced = -1;
  REQUIRE(predictions(table, {"n", "p"}, &replaced, {.has_logits = true, .digits = 1}) ==
          "id\ttext\tother\tprediction\tprobability\tprob_n\tprob_p\tlogit_n\tlogit_p\n"
          "7\tx\ty\tn\t0.5\t0.5\t0.5\t0.0\t0.0\n"
          "7\t\t\tp\t1.0\t0.0\t1.0\t0.0\t50.0\n"
          "8\tz z\t\xC3\xA4\tn\t0.5\t0.5\t0.5\t0.0\t0.0\n");
  REQUIRE(replaced == 0);
}

TEST_CASE("A first empty cell is still a cell") {
  const Table table = parse_table("in.tsv", "text\tother\n\tx\n", {});
  int64_t replaced = -1;
  REQUIRE(predictions(table, {"n", "p"}, &replaced, {.digits = 0}) ==
          "text\tother\tprediction\tprobability\tprob_n\tprob_p\n\tx\tn\t0\t0\t0\n");
}

TEST_CASE("Tabs and line breaks inside cells become blanks and are counted") {
  const Table table = parse_table("in.tsv", "text\na\n\"b\rc\"\n", {});
  int64_t replaced = 0;
  const std::string text = predictions(table, {"n\tx", "p\ny"}, &replaced, {.digits = 0});
  std::istringstream lines(text);
  std::string header, first, second, end;
  std::getline(lines, header);
  std::getline(lines, first);
  std::getline(lines, second);
  REQUIRE_FALSE(std::getline(lines, end));
  REQUIRE(header == "text\tprediction\tprobability\tprob_n x\tprob_p y");
  REQUIRE(first == "a\tn x\t0\t0\t0");
  REQUIRE(second == "\"b c\"\tp y\t1\t0\t1");
  REQUIRE(replaced == 5);  // two in the header, one and two in the rows
}

std::string written(const Table& table, TableForm form, std::vector<std::string>* warnings = nullptr) {
  const TextClassification task(TaskSettings{{}, StringList{"n", "p"}});
  std::ostringstream out;
  PredictionWriter writer(out, task, {.digits = 1}, form);
  writer.write_header(table.columns());
  const RowOutputs outputs = outputs_of(table.rows());
  for (int64_t row = 0; row < table.rows(); ++row) {
    writer.write_row(table, row, table.is_broken(row) ? std::span<const double>() : outputs.row(row));
  }
  if (warnings != nullptr) *warnings = writer.warnings();
  return out.str();
}

TEST_CASE("CSV quotes what needs it and nothing else") {
  const Table table = parse_table("in.csv", "text,other\n\"a\tb, \"\"c\"\"\nd\", e \n", {});
  REQUIRE(written(table, TableForm::kCsv) ==
          "text,other,prediction,probability,prob_n,prob_p\n\"a\tb, \"\"c\"\"\nd\", e ,n,0.5,0.5,0.5\n");
}

TEST_CASE("Rows of other forms become objects of strings") {
  const Table table = parse_table("in.csv", "text,n,text\n\"a\t\"\"b\",7,\xE4\xB8\xAD\n", {.columns = {.text = "n"}});
  REQUIRE(written(table, TableForm::kJsonLines) ==
          "{\"text\": \"a\\t\\\"b\", \"n\": \"7\", \"text_2\": \"\xE4\xB8\xAD\", \"prediction\": \"n\", "
          "\"probability\": 0.5, \"prob_n\": 0.5, \"prob_p\": 0.5}\n");
}

TEST_CASE("Rows of JSON Lines keep their text, and only keys of predictions are renamed") {
  const Table table = parse_table("in.jsonl",
                                  "{ \"text\" :\"a\", \"n\": [1.50, {}],\"prediction\":\"x\" }  \n"
                                  "{\"pr\\u006fbability\": 1, \"text\": \"\", \"input_probability\": 2}\n"
                                  "{\"text\": null}\n{\"text\": \"cut",
                                  {.columns = {}, .bad_row = BadRow::kKeep});
  std::vector<std::string> warnings;
  const std::string none = ", \"probability\": null, \"prob_n\": null, \"prob_p\": null}\n";
  REQUIRE(written(table, TableForm::kJsonLines, &warnings) ==
          "{ \"text\" :\"a\", \"n\": [1.50, {}],\"input_prediction\":\"x\" , \"prediction\": \"n\", "
          "\"probability\": 0.5, \"prob_n\": 0.5, \"prob_p\": 0.5}\n"
          "{\"input_input_probability\": 1, \"text\": \"\", \"input_probability\": 2, \"prediction\": \"p\", "
          "\"probability\": 1.0, \"prob_n\": 0.0, \"prob_p\": 1.0}\n"
          "{\"text\": null, \"prediction\": null" +
              none +
              "{\"text\": null, \"n\": null, \"input_prediction\": null, \"input_line\": \"{\\\"text\\\": \\\"cut\", "
              "\"prediction\": null" +
              none);
  REQUIRE(warnings.size() == 2);
  REQUIRE(warnings[0] ==
          "the input's column 'prediction' is called 'input_prediction' in the output, where its name is taken");
}

TEST_CASE("Predictions of a table of predictions have no column twice") {
  const Table table = parse_table("in.tsv", "text\tprediction\tinput_prediction\na\tb\tc\n", {});
  REQUIRE(written(table, TableForm::kTsv) ==
          "text\tinput_input_prediction\tinput_prediction\tprediction\tprobability\tprob_n\tprob_p\n"
          "a\tb\tc\tn\t0.5\t0.5\t0.5\n");
}

}  // namespace
}  // namespace bertft
