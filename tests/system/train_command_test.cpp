// The executable as its users see it: what a run leaves behind, and what the other commands make of it.
#include <cstring>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>
#include <string>
#include <vector>

#include "core/files.h"
#include "tests/support/job_folder.h"
#include "tests/support/test.h"

namespace bertft::test {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::json;

std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> lines;
  std::istringstream stream(text);
  for (std::string line; std::getline(stream, line);) lines.push_back(line);
  return lines;
}

std::vector<std::string> keys_of(const Json& json) {
  std::vector<std::string> keys;
  for (const auto& [key, value] : json.items()) keys.push_back(key);
  return keys;
}

TEST_CASE("a run leaves its folder as documented") {
  const JobFolder job;
  const RunResult result = job.train({"--set", "output.log_every=1"});
  CAPTURE(result.err);
  REQUIRE(result.exit_code == 0);
  REQUIRE(result.out.empty());
  for (const char* name :
       {"config.yaml", "run.json", "metrics.jsonl", "results.json", "logs/rank_0000.log", "predictions/dev.tsv",
        "predictions/test.tsv", "predictions/test_errors.tsv", "best/model.safetensors", "last/config.json",
        "last/vocab.txt", "last/tokenizer_config.json", "last/bert_finetune.json"}) {
    CAPTURE(name);
    CHECK(fs::exists(job.path("run/") + name));
  }
  CHECK(fs::read_symlink(job.path("run/last")) == "models/step_00000006");
  CHECK(fs::is_symlink(job.path("run/best")));
  CHECK(result.err.find("parameters") != std::string::npos);
  CHECK(result.err.find("warm-up 1 step,") != std::string::npos);

  std::vector<std::string> training_keys;
  int evaluations = 0;
  for (const std::string& line : lines_of(read_file(job.path("run/metrics.jsonl")))) {
    const Json json = Json::parse(line);
    if (json.contains("split")) {
      ++evaluations;
      CHECK(keys_of(json) == std::vector<std::string>{"epoch", "metrics", "split", "step"});
    } else {
      training_keys = keys_of(json);
    }
  }
  CHECK(evaluations == 3);  // dev twice, test once
  CHECK(training_keys == std::vector<std::string>{"comm_exposed_s", "comm_total_s", "epoch", "grad_norm", "loss",
                                                  "loss_window", "lr", "samples_per_s", "step", "tokens_per_s"});

  const Json results = Json::parse(read_file(job.path("run/results.json")));
  CHECK(results["steps"] == 6);
  CHECK(results["test"]["rows"] == 3);
  CHECK(results["test"]["per_class"].size() == 2);
  CHECK(results["test"]["confusion"].size() >= 2);
  CHECK(results["timings"]["first_step_s"] > 0.0);
  const Json run = Json::parse(read_file(job.path("run/run.json")));
  CHECK(run["resolved"]["total_steps"] == 6);
  CHECK(run["data"]["train"]["rows"] == 10);
}

TEST_CASE("the worst errors stand in a file of their own, with their places") {
  const JobFolder job;
  std::string rows = "label\ttext\n";
  for (int i = 0; i < 80; ++i) rows += std::string(i % 3 == 0 ? "good" : "bad") + "\ta good book film red\n";
  job.write("dev.tsv", rows);
  REQUIRE(job.train().exit_code == 0);
  const std::vector<std::string> lines = lines_of(read_file(job.path("run/predictions/dev_errors.tsv")));
  CHECK(lines[0] == "place\tloss\tlabel\ttext\tprediction\tprobability\tprob_bad\tprob_good");
  REQUIRE(lines.size() >= 2);
  CHECK(lines.size() <= 51);
  double before = 1e9;
  for (size_t i = 1; i < lines.size(); ++i) {
    std::istringstream cells(lines[i]);
    std::string place, loss, label, text, prediction;
    for (std::string* cell : {&place, &loss, &label, &text, &prediction}) std::getline(cells, *cell, '\t');
    CAPTURE(lines[i]);
    CHECK(label != prediction);
    CHECK(std::stod(loss) <= before);
    before = std::stod(loss);
    const auto line = std::stoul(place.substr(place.rfind(':') + 1));
    CHECK(lines_of(rows).at(line - 1) == label + "\t" + text);
  }
}

TEST_CASE("the trace names step, rank, rows, loss, rate, norm and hash, and covers every row once an epoch") {
  const JobFolder job;
  REQUIRE(job.train({"--trace", job.path("trace.jsonl")}).exit_code == 0);
  const std::vector<std::string> lines = lines_of(read_file(job.path("trace.jsonl")));
  REQUIRE(lines.size() == 6);
  std::vector<int> seen(10, 0);
  for (size_t i = 0; i < lines.size(); ++i) {
    const Json json = Json::parse(lines[i]);
    CHECK(keys_of(json) ==
          std::vector<std::string>{"grad_norm", "loss", "lr", "parameter_hash", "rank", "rows", "step"});
    CHECK(json["step"] == i + 1);
    if (i < 3) {
      for (const int row : json["rows"]) ++seen.at(static_cast<size_t>(row));
    }
  }
  CHECK(seen == std::vector<int>(10, 1));
  CHECK(Json::parse(lines[0])["lr"] == 0.0);
  CHECK(Json::parse(lines[1])["lr"] == 1e-3);
}

TEST_CASE("a run can be repeated with --overwrite, bit for bit, and not without") {
  const JobFolder job;
  REQUIRE(job.train({"--trace", job.path("a")}).exit_code == 0);
  job.write("run/notes.txt", "mine");
  CHECK(job.train().exit_code == 2);
  REQUIRE(job.train({"--overwrite", "--trace", job.path("b")}).exit_code == 0);
  CHECK(read_file(job.path("a")) == read_file(job.path("b")));
  CHECK(read_file(job.path("run/notes.txt")) == "mine");
  CHECK(fs::read_symlink(job.path("run/last")) == "models/step_00000006");
}

TEST_CASE("a failed start leaves the run that --overwrite would have replaced") {
  const JobFolder job;
  REQUIRE(job.train().exit_code == 0);
  const std::string before = read_file(job.path("run/results.json"));
  job.append("train.tsv", "good\n");
  CHECK(job.train({"--overwrite"}).exit_code == 3);
  CHECK(read_file(job.path("run/results.json")) == before);
  CHECK(fs::exists(job.path("run/best/model.safetensors")));
}

TEST_CASE("evaluate and predict agree with the run") {
  const JobFolder job;
  REQUIRE(job.train().exit_code == 0);
  const RunResult evaluated = run_binary(
      {"evaluate", "--model", job.path("run/best"), "--data", job.path("test.tsv"), "--output", job.path("scored")});
  job.write("other.tsv", "label\ttext\nfair\ta film\n");
  const RunResult other = run_binary({"evaluate", "--model", job.path("run/best"), "--data", job.path("other.tsv")});
  CHECK(other.exit_code == 3);
  CHECK(other.err.find("take a model that was trained with these labels") != std::string::npos);
  CHECK(other.err.find("data.") == std::string::npos);
  CAPTURE(evaluated.err);
  REQUIRE(evaluated.exit_code == 0);
  const Json results = Json::parse(read_file(job.path("run/results.json")));
  const Json scored = Json::parse(read_file(job.path("scored/results.json")));
  CHECK(scored["metrics"] == results["test"]["metrics"]);
  CHECK(read_file(job.path("scored/predictions.tsv")) == read_file(job.path("run/predictions/test.tsv")));

  const RunResult predicted = run_binary(
      {"predict", "--model", job.path("run/best"), "--data", job.path("test.tsv"), "--output", job.path("p.tsv")});
  REQUIRE(predicted.exit_code == 0);
  CHECK(read_file(job.path("p.tsv")) == read_file(job.path("run/predictions/test.tsv")));
  CHECK(lines_of(read_file(job.path("p.tsv")))[0] == "label\ttext\tprediction\tprobability\tprob_bad\tprob_good");
}

TEST_CASE("predict answers standard input line by line, in order, empty lines too") {
  const JobFolder job;
  REQUIRE(job.train().exit_code == 0);
  RunRequest request{
      .arguments = {"predict", "--model", job.path("run/best"), "--data", "-", "--logits", "--digits", "3"}};
  request.input = "a good film\n\nbad bad \xff book\nred";
  const RunResult result = run_binary(request);
  CAPTURE(result.err);
  REQUIRE(result.exit_code == 0);
  const std::vector<std::string> lines = lines_of(result.out);
  REQUIRE(lines.size() == 5);
  CHECK(lines[0] == "text\tprediction\tprobability\tprob_bad\tprob_good\tlogit_bad\tlogit_good");
  CHECK(lines[1].substr(0, 12) == "a good film\t");
  CHECK(lines[2].substr(0, 1) == "\t");
  CHECK(lines[3].substr(0, 16) == "bad bad \xEF\xBF\xBD book");
  CHECK(lines[4].substr(0, 4) == "red\t");
}

TEST_CASE("the best model is the one with the best dev score, the last one is kept, too") {
  const JobFolder job;
  REQUIRE(job.train({"--set", "train.epochs=8", "--set", "eval.metric=loss", "--set", "output.keep_checkpoints=0"})
              .exit_code == 0);
  double best = 1e9;
  int64_t best_step = 0;
  for (const std::string& line : lines_of(read_file(job.path("run/metrics.jsonl")))) {
    const Json json = Json::parse(line);
    if (json.value("split", "") != "dev" || json["metrics"]["loss"] >= best) continue;
    best = json["metrics"]["loss"];
    best_step = json["step"];
  }
  const Json results = Json::parse(read_file(job.path("run/results.json")));
  CHECK(results["best_step"] == best_step);
  CHECK(results["dev"]["metrics"]["loss"] == best);
  size_t models = 0;
  for ([[maybe_unused]] const auto& entry : fs::directory_iterator(job.path("run/models"))) ++models;
  CHECK(models == (best_step == 24 ? 1u : 2u));
}

TEST_CASE("a model whose outputs are not finite is not asked without a word") {
  const JobFolder job;
  REQUIRE(job.train().exit_code == 0);
  const std::string path = job.path("run/last/model.safetensors");
  std::string file = read_file(path);
  uint64_t header = 0;
  std::memcpy(&header, file.data(), sizeof header);
  const Json place = Json::parse(file.substr(8, header))["classifier.weight"]["data_offsets"];
  const float huge = 3e38F;  // finite, but products with it are not
  for (size_t at = place[0]; at < place[1]; at += sizeof huge) std::memcpy(&file[8 + header + at], &huge, sizeof huge);
  std::ofstream(path, std::ios::binary) << file;
  for (const char* command : {"evaluate", "predict"}) {
    const RunResult result = run_binary({command, "--model", job.path("run/last"), "--data", job.path("test.tsv")});
    CAPTURE(command, result.out, result.err);
    CHECK(result.exit_code == 5);
    CHECK(result.err.find("not finite") != std::string::npos);
    CHECK(result.out.empty());
  }
}

TEST_CASE("processes of a launcher that MPI does not know are no job") {
  const JobFolder job;
  RunRequest request{.arguments = {"--config", job.path("c.yaml")}};
  request.environment = {{"OMPI_COMM_WORLD_SIZE", "2"}};
  const RunResult result = run_binary(request);
  CAPTURE(result.err);
  CHECK(result.exit_code == 4);
  CHECK(result.err.find("started as one of 2 processes, but MPI finds 1") != std::string::npos);
  CHECK_FALSE(fs::exists(job.path("run")));
}

TEST_CASE("the printed configuration is one that trains to the same weights") {
  const JobFolder job;
  REQUIRE(job.train({"--trace", job.path("a")}).exit_code == 0);
  const RunResult printed = job.train({"--print-config"});
  REQUIRE(printed.exit_code == 0);
  CHECK(printed.out.find("# --set") != std::string::npos);
  job.write("c.yaml", printed.out);
  const RunResult again = run_binary({"--config", job.path("c.yaml"), "--overwrite", "--trace", job.path("b")});
  CAPTURE(again.err);
  REQUIRE(again.exit_code == 0);
  CHECK(read_file(job.path("a")) == read_file(job.path("b")));
}

TEST_CASE("pairs of texts train, and the model remembers its columns") {
  const JobFolder job;
  const std::string rows =
      "label\ta\tb\ngood\tred film\tgood\nbad\tred film\tbad\ngood\tthe book\tgood good\nbad\ta\t\n";
  for (const char* name : {"train.tsv", "dev.tsv", "test.tsv"}) job.write(name, rows);
  job.replace("c.yaml", "data:", "data:\n  columns: {text: a, text_pair: b}");
  REQUIRE(job.train().exit_code == 0);
  const RunResult result = run_binary({"predict", "--model", job.path("run/best"), "--data", job.path("test.tsv")});
  REQUIRE(result.exit_code == 0);
  CHECK(result.out == read_file(job.path("run/predictions/test.tsv")));
}

TEST_CASE("The version and help answer, and a step is dumped") {
  CHECK(run_binary({"--version"}).out.find("bert_finetune 0.") == 0);
  CHECK(run_binary({"help", "train"}).out.find("train.global_batch_size") != std::string::npos);
  CHECK(run_binary({"help", "compare"}).exit_code == 2);
  const JobFolder job;
  REQUIRE(job.train({"--dump-step", "2", job.path("dump.safetensors")}).exit_code == 0);
  CHECK(fs::exists(job.path("dump.safetensors")));
}

}  // namespace
}  // namespace bertft::test
