// predict and its forms: what is read and written in which, one answer for each row, broken ones too, and the same
// numbers whatever the form.
#include <nlohmann/json.hpp>
#include <sstream>
#include <string>
#include <vector>

#include "core/files.h"
#include "data/reader.h"
#include "tests/support/job_folder.h"
#include "tests/support/shared_data.h"
#include "tests/support/test.h"
#include "tokenize/utf8.h"

namespace bertft::test {
namespace {

using Catch::Matchers::Contains;
using Json = nlohmann::ordered_json;

// A trained model of the labels bad and good.
struct Model {
  Model() {
    const RunResult result = job.train();
    INFO(result.err);
    REQUIRE(result.exit_code == 0);
  }
  RunResult predict(const std::string& data, std::vector<std::string> more = {}, const std::string& input = "") const {
    return run_binary(request(data, more, input));
  }
  RunRequest request(const std::string& data, const std::vector<std::string>& more, const std::string& input) const {
    std::vector<std::string> arguments = {"predict", "--model", job.path("run/best"), "--data", data, "--threads", "1"};
    arguments.insert(arguments.end(), more.begin(), more.end());
    return {.arguments = arguments, .input = input};
  }
  std::string write(const std::string& name, const std::string& content) const {
    job.write(name, content);
    return job.path(name);
  }
  JobFolder job;
};

std::string answered(const RunResult& result) {
  INFO(result.err);
  REQUIRE(result.exit_code == 0);
  REQUIRE(is_valid_utf8(result.out));
  return result.out;
}

std::vector<std::string> lines_of(const std::string& text) {
  std::istringstream stream(text);
  std::vector<std::string> lines;
  for (std::string line; std::getline(stream, line);) lines.push_back(line);
  return lines;
}

std::vector<Json> objects_of(const std::string& text) {
  std::vector<Json> objects;
  for (const std::string& line : lines_of(text)) objects.push_back(Json::parse(line));
  return objects;
}

Table table_of(const std::string& text, const std::string& format) {
  return parse_table("out", text, {.columns = {}, .format = format, .header = format == "jsonl" ? "auto" : "true"});
}

std::string cell(const Table& table, int64_t row, const std::string& name) {
  for (size_t i = 0; i < table.columns().size(); ++i) {
    if (table.columns()[i] == name) return std::string(table.cell(row, static_cast<int>(i)));
  }
  throw std::runtime_error("no column " + name);
}

const std::vector<std::string> kTexts = {"a good film", "", "\xE5\xA5\xBD \xE7\x94\xB5\xE5\xBD\xB1",
                                         "say \"bad\", book"};

// kTexts in each form.
std::string input_of(const std::string& form) {
  std::string text = form == "jsonl" ? "" : form == "csv" ? "n,text\n" : "n\ttext\n";
  for (size_t i = 0; i < kTexts.size(); ++i) {
    const std::string number = std::to_string(i);
    if (form == "jsonl") text += Json{{"n", number}, {"text", kTexts[i]}}.dump() + "\n";
    if (form == "tsv") text += number + "\t" + kTexts[i] + "\n";
    if (form != "csv") continue;
    std::string quoted = kTexts[i];
    for (size_t at = quoted.find('"'); at != std::string::npos; at = quoted.find('"', at + 2))
      quoted.insert(at, 1, '"');
    text += number + ",\"" + quoted + "\"\n";
  }
  return text;
}

TEST_CASE("every form of input becomes every form of output with the same numbers") {
  const Model model;
  const std::vector<std::string> columns = {"prediction", "probability", "prob_bad", "prob_good"};
  std::vector<std::string> expected;
  for (const std::string in : {"tsv", "csv", "jsonl"}) {
    const std::string data = model.write("in." + in, input_of(in));
    for (const std::string out : {"tsv", "csv", "jsonl"}) {
      INFO(in << " to " << out);
      const std::string text = answered(model.predict(data, {"--format", out, "--digits", "9"}));
      const Table table = table_of(text, out);
      REQUIRE(table.rows() == 4);
      CHECK(table.columns() ==
            std::vector<std::string>{"n", "text", "prediction", "probability", "prob_bad", "prob_good"});
      std::vector<std::string> cells;
      for (int64_t row = 0; row < 4; ++row) {
        CHECK(cell(table, row, "text") == kTexts[static_cast<size_t>(row)]);
        CHECK(cell(table, row, "n") == std::to_string(row));
        for (const std::string& column : columns) cells.push_back(cell(table, row, column));
      }
      if (expected.empty()) expected = cells;
      CHECK(cells == expected);
    }
    CHECK(answered(model.predict(data)) == answered(model.predict(data, {"--format", in})));
  }
  for (const Json& row : objects_of(answered(model.predict(model.job.path("in.tsv"), {"--format", "jsonl"})))) {
    CHECK(row["probability"].is_number());
    CHECK(row["prediction"].is_string());
  }
  CHECK(model.predict(model.job.path("in.tsv"), {"--format", "xml"}).exit_code == 2);
}

TEST_CASE("line breaks and tabs in cells survive in CSV and JSON, and are blanks in TSV") {
  const Model model;
  const std::string data = model.write("in.csv", "text,note\n\"good\tfilm\r\nbad\",\"x\n\"\"y\"\"\"\n");
  const std::string text = "good\tfilm\r\nbad";
  const Table csv = table_of(answered(model.predict(data)), "csv");
  REQUIRE(csv.rows() == 1);
  CHECK(csv.text(0) == text);
  CHECK(cell(csv, 0, "note") == "x\n\"y\"");
  CHECK(objects_of(answered(model.predict(data, {"--format", "jsonl"})))[0]["text"] == text);
  const RunResult tsv = model.predict(data, {"--format", "tsv"});
  CHECK(table_of(answered(tsv), "tsv").text(0) == "good film  bad");
  CHECK_THAT(tsv.err, Contains("4 tabs or line breaks inside cells became blanks"));
}

TEST_CASE("broken rows of each form are answered with empty cells, counted and named") {
  const Model model;
  struct Case {
    const char* name;
    const char* content;
    const char* place;
  };
  const std::vector<Case> cases = {
      {"in.tsv", "n\ttext\n0\tgood\n1 bad\n\nn\ttext\n4\tbad\n", "in.tsv:3: found 1 column"},
      {"in.csv", "n,text\n0,good\n1,\"bad\"x\n2\nn,text\n4,bad\n", "in.csv:3: text behind a closing quote"},
      {"in.jsonl",
       "{\"n\": \"0\", \"text\": \"good\"}\n{\"n\": \"1\", \"text\": \"ba\n[2]\n{\"n\": \"3\", \"text\": null}\n"
       "{\"n\": \"4\", \"text\": \"bad\"}\n",
       "in.jsonl:2: not an object of JSON"},
  };
  for (const Case& c : cases) {
    const std::string data = model.write(c.name, c.content);
    for (const std::string out : {"tsv", "csv", "jsonl"}) {
      INFO(c.name << " to " << out);
      const RunResult result = model.predict(data, {"--format", out});
      const std::string text = answered(result);
      CHECK_THAT(result.err, Contains("3 rows are broken: ") && Contains(c.place) && Contains("; "));
      std::vector<std::string> predictions;
      if (out == "jsonl") {
        for (const Json& row : objects_of(text)) {
          predictions.push_back(row["prediction"].is_null() ? "" : row["prediction"].get<std::string>());
          CHECK(row["prob_good"].is_null() == row["prediction"].is_null());
        }
      } else {
        const Table table = table_of(text, out);
        for (int64_t row = 0; row < table.rows(); ++row) predictions.push_back(cell(table, row, "prediction"));
      }
      REQUIRE(predictions.size() == 5);
      CHECK_FALSE(predictions.front().empty());
      CHECK_FALSE(predictions.back().empty());
      for (const size_t row : {1, 2, 3}) CHECK(predictions[row].empty());
    }
    CHECK(run_binary({"evaluate", "--model", model.job.path("run/best"), "--data", data}).exit_code == 3);
  }
}

TEST_CASE("half characters in JSON Lines give five rows of valid JSON (B09)") {
  const auto folder = shared_path("field_cases/B09");
  if (!folder) return;
  const Model model;
  for (const std::string out : {"tsv", "csv", "jsonl"}) {
    const RunResult result = model.predict(*folder + "/rows.jsonl", {"--format", out});
    CHECK(lines_of(answered(result)).size() == (out == "jsonl" ? 5 : 6));
    CHECK_THAT(result.err, Contains("in 4 rows became U+FFFD") && Contains("rows.jsonl:1"));
    if (out != "jsonl") continue;
    const std::vector<Json> rows = objects_of(result.out);
    CHECK(rows[0]["text"] == "fine \xEF\xBF\xBD but cut");
    CHECK(rows[4]["text"] == "whole \xF0\x9F\x94\xA5 pair");
  }
  const RunResult refused = model.predict(*folder + "/rows.jsonl", {"--invalid-utf8", "error"});
  CHECK(refused.exit_code == 3);
  CHECK_THAT(refused.err, Contains("rows.jsonl:1"));
}

TEST_CASE("rows keep their order over many pieces, from a file, standard input and a pipe") {
  const Model model;
  std::string input = "n\ttext\n";
  const std::string tail(5000, 'x');
  const int64_t rows = 5000;  // 25 MB: more than two pieces
  for (int64_t i = 0; i < rows; ++i) input += std::to_string(i) + (i % 3 == 0 ? "\tgood " : "\tbad ") + tail + "\n";
  const std::string data = model.write("big.tsv", input);
  const std::string text = answered(model.predict("-", {}, input));
  const Table table = table_of(text, "tsv");
  REQUIRE(table.rows() == rows);
  for (int64_t row = 0; row < rows; ++row) {
    if (cell(table, row, "n") != std::to_string(row)) FAIL("row " << row);
    if (table.text(row).substr(0, 4) != (row % 3 == 0 ? "good" : "bad ")) FAIL("row " << row);
  }
  CHECK(answered(model.predict(data)) == text);
  const RunResult piped =
      run_program("/bin/bash", {.arguments = {"-c", "\"$0\" predict --model \"$1\" --threads 1 --data <(cat \"$2\")",
                                              binary_path(), model.job.path("run/best"), data}});
  CHECK(answered(piped) == text);
}

TEST_CASE("files are read as the training files were, unless the command line or their name says otherwise") {
  std::vector<std::string> options = {"--set", "data.delimiter= ",     "--set", "data.max_splits=1",
                                      "--set", "data.columns.label=1", "--set", "data.columns.text=2",
                                      "--set", "data.dev=[]",          "--set", "data.test=[]"};
  JobFolder job;
  job.replace("c.yaml", "train: train.tsv", "train: train.txt");
  job.write("train.txt", "good a good film\nbad the bad book\ngood good books\nbad bad films\n");
  const RunResult trained = job.train(options);
  INFO(trained.err);
  REQUIRE(trained.exit_code == 0);
  const auto predict = [&](const std::string& name, const std::string& content, std::vector<std::string> more = {}) {
    job.write(name, content);
    more.insert(more.begin(), {"predict", "--model", job.path("run/last"), "--data", job.path(name), "--threads", "1"});
    return run_binary(more);
  };
  const auto first_text = [&](const RunResult& result) {
    return std::string(table_of(answered(result), "tsv").text(0));
  };
  CHECK(first_text(predict("new.txt", "x good old film\n")) == "good old film");
  CHECK(first_text(predict("new.tsv", "x\tgood old\n")) == "good old");
  CHECK(first_text(predict("new.csv", "x,good old\n", {"--format", "tsv"})) == "good old");
  CHECK(first_text(predict("other.txt", "x;y;good old\n",
                           {"--delimiter", ";", "--max-splits", "0", "--columns", "text=3"})) == "good old");
  const std::string named =
      answered(predict("named.txt", "a, b\tc\ngood old\tx\n",
                       {"--input-format", "tsv", "--columns", "text=a\\, b", "--columns", "label=c"}));
  CHECK_THAT(named, Contains("\ngood old\tx\t"));
  const RunResult missing = predict("named.tsv", "a\tb\nc\td\n", {"--columns", "text=title"});
  CHECK(missing.exit_code == 3);
  CHECK_THAT(missing.err, Contains("--columns text=") && !Contains("data.columns"));
  const RunResult single = predict("single.txt", "a text\nanother\n", {"--columns", "text=title"});
  CHECK(single.exit_code == 3);
  CHECK_THAT(single.err, Contains("'title'") && Contains("--columns text="));
  const RunResult twice = predict("named.tsv", "a\tb\nc\td\n", {"--columns", "text=a,label=a"});
  CHECK(twice.exit_code == 2);
  CHECK_THAT(twice.err, Contains("--columns text= and --columns label="));
  const RunResult delimiter = predict("named.tsv", "a\tb\nc\td\n", {"--delimiter", "||"});
  CHECK(delimiter.exit_code == 2);
  CHECK_THAT(delimiter.err, Contains("--delimiter: '||'"));
}

TEST_CASE("memory of predict does not grow with its input") {
  const Model model;
  const std::string line = "good bad film " + std::string(4985, 'x') + "\n";
  const auto peak = [&](int64_t megabytes) {
    std::string input = "text\n";
    for (int64_t i = 0; i < megabytes * 200; ++i) input += line;
    return run_binary_measured(model.request("-", {"--output", model.job.path("p.tsv")}, input)).peak_kib;
  };
  const auto small = static_cast<double>(peak(10));
  const auto large = static_cast<double>(peak(60));
  CAPTURE(small, large);
  CHECK(large < 1.05 * small);
}

}  // namespace
}  // namespace bertft::test
