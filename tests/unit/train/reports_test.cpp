// What a run writes for programs: metrics.jsonl, results.json, the trace and the dump of one step.
#include <ATen/ops/arange.h>

#include <cstring>
#include <nlohmann/json.hpp>
#include <sstream>

#include "checkpoint/safetensors.h"
#include "core/files.h"
#include "core/hash.h"
#include "tests/support/errors.h"
#include "tests/unit/train/tiny_classifier.h"
#include "train/metrics_log.h"
#include "train/results.h"
#include "train/step_dump.h"
#include "train/trace.h"

namespace bertft {
namespace {

using Catch::Contains;
using test::error_text;
using test::TempFolder;
using Json = nlohmann::ordered_json;

std::vector<Json> json_lines(const std::string& path) {
  std::istringstream text(read_file(path));
  std::vector<Json> lines;
  for (std::string line; std::getline(text, line);) lines.push_back(Json::parse(line));
  return lines;
}

std::vector<std::string> keys_of(const Json& json) {
  std::vector<std::string> keys;
  for (const auto& [key, value] : json.items()) keys.push_back(key);
  return keys;
}

Evaluation two_class_evaluation() {
  const std::vector<int32_t> truth = {0, 0, 1};
  const std::vector<int32_t> predicted = {0, 1, 1};
  Evaluation evaluation;
  evaluation.rows = 3;
  evaluation.classification = score_classification(truth, predicted, 2);
  evaluation.metrics = {{"loss", 0.5}, {"accuracy", evaluation.classification.accuracy}};
  return evaluation;
}

TEST_CASE("Lines of metrics.jsonl have the documented keys, are there at once, and are appended") {
  const TempFolder folder;
  const std::string path = folder / "metrics.jsonl";
  int64_t kept = 0;
  {
    MetricsLog log(path, 0);
    log.add({.step = 50,
             .epoch = 0.5,
             .loss = 0.1,
             .loss_window = 0.2,
             .lr = 3e-5,
             .grad_norm = 1.25,
             .samples_per_s = 100,
             .tokens_per_s = 2000});
    REQUIRE(json_lines(path).size() == 1);
    log.add(100, 1.0, "dev", two_class_evaluation());
    kept = log.sync();
    log.add({.step = 120});
  }
  MetricsLog(path, kept).add({.step = 150});  // a run that goes on does step 120 again
  const std::vector<Json> lines = json_lines(path);
  REQUIRE(lines.size() == 3);
  REQUIRE(keys_of(lines[0]) == std::vector<std::string>{"step", "epoch", "loss", "loss_window", "lr", "grad_norm",
                                                        "samples_per_s", "tokens_per_s", "comm_exposed_s",
                                                        "comm_total_s"});
  REQUIRE(lines[0]["step"] == 50);
  REQUIRE(lines[0]["lr"] == 3e-5);
  REQUIRE(lines[0]["grad_norm"] == 1.25);
  REQUIRE(keys_of(lines[1]) == std::vector<std::string>{"step", "epoch", "split", "metrics"});
  REQUIRE(lines[1]["split"] == "dev");
  REQUIRE(keys_of(lines[1]["metrics"]) == std::vector<std::string>{"loss", "accuracy"});
  REQUIRE(lines[1]["metrics"]["loss"] == 0.5);
  REQUIRE(lines[2]["step"] == 150);
}

TEST_CASE("A log that cannot be written is a resource error that names it") {
  const TempFolder folder;
  REQUIRE_THAT(error_text<ResourceError>([&] { MetricsLog(folder / "no/metrics.jsonl", 0); }),
               Contains("no/metrics.jsonl"));
  REQUIRE_THAT(error_text<ResourceError>([&] { Trace(folder / "no/trace", 1); }), Contains("--trace: cannot open"));
}

TEST_CASE("results.json has metrics, per-class report, confusion matrix, timings") {
  RunResults results;
  results.steps = 30;
  results.best_step = 20;
  results.metric = "accuracy";
  results.dev = two_class_evaluation();
  results.labels = {"no", "yes"};
  results.timings.train_s = 10.0;
  results.comm.exposed_s = 2.5;
  results.comm.copies = 7;
  const Json json = Json::parse(results_json(results));
  REQUIRE(json["steps"] == 30);
  REQUIRE(json["best_step"] == 20);
  REQUIRE(json["best_metric"] == "accuracy");
  REQUIRE(json["comm_share"] == 0.25);
  REQUIRE(json["comm"]["copied_bytes"] == 7);
  REQUIRE(json["timings"]["train_s"] == 10.0);
  REQUIRE_FALSE(json.contains("test"));
  const Json& dev = json["dev"];
  REQUIRE(dev["rows"] == 3);
  REQUIRE(dev["metrics"]["loss"] == 0.5);
  REQUIRE(dev["per_class"].size() == 2);
  REQUIRE(dev["per_class"][0]["label"] == "no");
  REQUIRE(dev["per_class"][0]["precision"] == 1.0);
  REQUIRE(dev["per_class"][0]["recall"] == 0.5);
  REQUIRE(dev["per_class"][0]["support"] == 2);
  int64_t confused = 0;
  for (const Json& cell : dev["confusion"]) {
    if (cell["label"] == "no" && cell["predicted"] == "yes") confused = cell["rows"].get<int64_t>();
  }
  REQUIRE(confused == 1);
  REQUIRE(Json::parse(evaluation_json(*results.dev, results.labels)) == dev);
  results.test = results.dev;
  results.last_test = results.dev;
  REQUIRE(keys_of(Json::parse(results_json(results))) == std::vector<std::string>{"steps", "best_step", "best_metric",
                                                                                  "dev", "test", "test_with_last_model",
                                                                                  "timings", "comm_share", "comm"});
}

StepResult some_step() {
  StepResult result;
  result.batch.step = 12;
  result.rows = {5, 0, 7};
  result.loss = 1.0 / 3.0;
  result.lr = 5e-5;
  result.grad_norm = 2.0;
  return result;
}

TEST_CASE("A line of the trace has the documented keys with nine digits, and the hash of all weights") {
  const TempFolder folder;
  test::write_tiny_checkpoint(folder, "base");
  const auto model = test::tiny_classifier(folder / "base", 5);
  {
    Trace trace(folder / "trace", 1);
    trace.add(some_step(), 0, model->store());
    at::Tensor weights = model->store().weights();
    weights[0].add_(1.0);
    trace.add(some_step(), 0, model->store());
  }
  REQUIRE_THAT(read_file(folder / "trace"),
               Catch::StartsWith(R"({"step":12,"rank":0,"rows":[5,0,7],"loss":0.333333333,"lr":5e-05,"grad_norm":2,)"));
  const std::vector<Json> lines = json_lines(folder / "trace");
  REQUIRE(lines.size() == 2);
  REQUIRE(keys_of(lines[0]) ==
          std::vector<std::string>{"step", "rank", "rows", "loss", "lr", "grad_norm", "parameter_hash"});
  REQUIRE(lines[1]["parameter_hash"] == hash_text(parameter_hash(model->store())));
  REQUIRE(lines[0]["parameter_hash"] != lines[1]["parameter_hash"]);
}

TEST_CASE("The dump of a step holds logits and every gradient under its published name") {
  const TempFolder folder;
  test::write_tiny_checkpoint(folder, "base");
  for (const at::ScalarType type : {at::kFloat, at::kDouble}) {
    const auto model = test::tiny_classifier(folder / "base", 5, type);
    const ParameterStore& store = model->store();
    store.gradients().copy_(at::arange(store.layout().total, type));
    StepResult result = some_step();
    result.gradients = store.gradients();
    const std::string path = folder / "dump.safetensors";
    error_text<InternalError>([&] { write_step_dump(path, *model, result); });
    result.logits = at::arange(9, type).view({3, 3});
    write_step_dump(path, *model, result);
    const TensorFile file = TensorFile::open(path);
    REQUIRE(file.tensors().size() == store.layout().entries.size() + 1);
    const TensorView* logits = file.find("logits");
    REQUIRE(logits != nullptr);
    REQUIRE(logits->shape == std::vector<int64_t>{3, 3});
    const TensorView* gradient = file.find("grad.bert.encoder.layer.0.attention.self.key.weight");
    REQUIRE(gradient != nullptr);
    REQUIRE(gradient->dtype == (type == at::kFloat ? DType::kF32 : DType::kF64));
    const Parameter parameter = store.parameter("encoder.layer.0.attention.self.key.weight");
    REQUIRE(gradient->shape == parameter.gradient.sizes().vec());
    REQUIRE(gradient->bytes == parameter.gradient.nbytes());
    REQUIRE(std::memcmp(gradient->data, parameter.gradient.const_data_ptr(), gradient->bytes) == 0);
    REQUIRE(file.find("grad.classifier.weight") != nullptr);
    REQUIRE(file.find("grad.bert.pooler.dense.bias") != nullptr);
  }
}

}  // namespace
}  // namespace bertft
