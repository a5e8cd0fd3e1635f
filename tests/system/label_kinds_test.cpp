// Kinds of labels and losses of the executable against transformers and torch (tests/golden/make_tasks.py): several
// labels, real values, class weights, label smoothing; and what is written for each kind.
#include <cmath>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "core/files.h"
#include "tests/support/python_path.h"
#include "tests/support/run_binary.h"
#include "tests/support/test.h"
#include "tests/support/tolerances.h"
#include "tests/system/golden_run.h"

namespace bertft::test {
namespace {

std::string with_golden_folder(std::string text) {
  const std::string place = "{golden}";
  if (const size_t at = text.find(place); at != std::string::npos)
    text.replace(at, place.size(), absolute_golden_path("."));
  return text;
}

TEST_CASE("losses of every kind of label, with weights and smoothing, follow the reference in fp64") {
  const auto golden = nlohmann::json::parse(read_file(golden_path("tasks.json")));
  REQUIRE(golden["cases"].size() == 6);
  for (const auto& one : golden["cases"]) {
    INFO(one["name"]);
    std::vector<std::string> changes;
    for (const std::string change : one["changes"]) changes.push_back(with_golden_folder(change));
    const GoldenRun run({.precision = "fp64", .steps = one["steps"], .changes = changes});
    for (size_t i = 0; i < run.trace().size(); ++i) {
      CAPTURE(i);
      CHECK(std::abs(run.trace()[i].loss - one["loss"][i].get<double>()) <= kFp64StepLoss);
      CHECK(run.trace()[i].grad_norm == Approx(one["grad_norm"][i].get<double>()).epsilon(kTraceRelative));
    }
  }
}

std::vector<std::string> several_labels() {
  const std::string table = absolute_golden_path("train_multi.tsv");
  return {"data.train=" + table, "data.dev=" + table, "data.test=" + table, "data.label_type=multi"};
}

std::vector<std::string> real_values() {
  const std::string table = absolute_golden_path("train_real.tsv");
  return {"data.train=" + table,  "data.dev=" + table, "data.test=" + table,
          "data.label_type=real", "data.labels=[]",    "model.checkpoint=" + absolute_golden_path("bert_real")};
}

std::string first_line(const std::string& path) {
  const std::string text = read_file(path);
  return text.substr(0, text.find('\n'));
}

TEST_CASE("results and predictions of several labels and of real values") {
  const GoldenRun multi({.steps = 30, .changes = several_labels()});
  const auto results = nlohmann::json::parse(read_file(multi.path("results.json")));
  CHECK(results["best_metric"] == "micro_f1");
  for (const char* name : {"loss", "accuracy", "micro_f1", "macro_f1", "samples_f1", "hamming_loss", "auc"}) {
    INFO(name);
    CHECK(results["dev"]["metrics"].contains(name));
  }
  CHECK(results["dev"]["per_class"].size() == 3);
  CHECK(first_line(multi.path("predictions/dev.tsv")) ==
        "text\tlabel\tprediction\tprobability\tprob_neutral\tprob_good\tprob_bad");

  const GoldenRun real({.steps = 30, .changes = joined(real_values(), {"eval.metric=spearman"})});
  const auto scores = nlohmann::json::parse(read_file(real.path("results.json")));
  CHECK(scores["best_metric"] == "spearman");
  CHECK(scores["test"]["metrics"].contains("pearson"));
  CHECK_FALSE(scores["test"].contains("per_class"));
  CHECK(first_line(real.path("predictions/dev.tsv")) == "text\tlabel\tprediction");
}

TEST_CASE("folders written for several labels and for real values load in transformers with our outputs") {
  const auto python = python_path();
  if (!python) return;
  const GoldenRun multi({.steps = 30, .changes = joined(with_dropout(), several_labels())});
  const GoldenRun real({.steps = 30, .changes = joined(with_dropout(), real_values())});
  const TempFolder folder;
  std::vector<std::string> arguments = {"tests/golden/check_problem_type.py"};
  const auto add = [&](const GoldenRun& run, const std::string& table, const std::string& problem_type) {
    const std::string predictions = folder / problem_type;
    const RunResult result = run_binary({"predict", "--model", run.path("best"), "--data", golden_path(table),
                                         "--output", predictions, "--logits", "--digits", "9"});
    INFO(result.err);
    REQUIRE(result.exit_code == 0);
    for (const std::string& word : {run.path("best"), predictions, problem_type}) arguments.push_back(word);
  };
  add(multi, "train_multi.tsv", "multi_label_classification");
  add(real, "train_real.tsv", "regression");
  const RunResult result = run_program(*python, {.arguments = arguments});
  INFO(result.out << result.err);
  CHECK(result.exit_code == 0);
}

TEST_CASE("a metric of another kind of label, and weights of unknown labels, are refused before anything is written") {
  const auto refused = [](const std::vector<std::string>& more, const std::string& part) {
    const TempFolder folder;
    const std::string config =
        folder.write("c.yaml", "model: {checkpoint: " + absolute_golden_path("bert_48") +
                                   ", max_length: 32}\ndata: {train: " + absolute_golden_path("train_single.tsv") +
                                   "}\noutput: {dir: run}\n");
    std::vector<std::string> arguments = {"--config", config};
    for (const std::string& change : more) arguments.insert(arguments.end(), {"--set", change});
    const RunResult result = run_binary(arguments);
    INFO(result.err);
    CHECK(result.exit_code == 2);
    CHECK_THAT(result.err, Catch::Contains(part));
    CHECK_FALSE(std::filesystem::exists(folder / "run"));
  };
  refused({"eval.metric=pearson"}, "'pearson' is not a metric of text_classification");
  refused({"eval.metric=auc"}, "more than two labels");
  refused({"train.class_weights={terrible: 2}"}, "'terrible' is not one of the 3 labels");
  refused({"train.class_weights={good: -1}"}, "a number above 0");
  refused({"train.class_weights=even"}, "not none, balanced");
  refused({"data.label_type=multi", "train.label_smoothing=0.1"}, "train.label_smoothing");
  refused({"data.label_type=multi", "eval.metric=mcc"}, "data.label_type multi");
}

}  // namespace
}  // namespace bertft::test
