#include "tests/system/golden_run.h"

#include <cmath>
#include <filesystem>
#include <sstream>

#include "checkpoint/convert.h"
#include "checkpoint/safetensors.h"
#include "core/cpu_features.h"
#include "core/files.h"
#include "tests/support/run_binary.h"
#include "tests/support/test.h"

namespace bertft::test {
namespace {

using Json = nlohmann::json;

std::vector<TraceLine> read_trace(const std::string& path) {
  std::vector<TraceLine> trace;
  std::istringstream text(read_file(path));
  for (std::string line; std::getline(text, line);) {
    const Json json = Json::parse(line);
    trace.push_back({json["step"], json["rows"], json["loss"], json["lr"], json["grad_norm"], json["parameter_hash"]});
  }
  return trace;
}

}  // namespace

std::string golden_path(const std::string& name) { return "tests/golden/numerics/" + name; }

std::string absolute_golden_path(const std::string& name) { return std::filesystem::absolute(golden_path(name)); }

const Json& expected_values() {
  static const Json expected = Json::parse(read_file(golden_path("expected.json")));
  return expected;
}

std::vector<Environment> kernel_choices() {
  std::vector<Environment> choices;
  for (const InstructionSet level : {InstructionSet::kScalar, InstructionSet::kAvx2, InstructionSet::kAvx512}) {
    if (level > instruction_set()) continue;
    for (const char* products : {"own", "blas"}) {
      choices.push_back({{"BERTFT_INSTRUCTION_SET", instruction_set_name(level)}, {"BERTFT_PRODUCTS", products}});
    }
  }
  return choices;
}

std::string to_text(const Environment& environment) {
  std::string text;
  for (const auto& [name, value] : environment) text += name + "=" + value + " ";
  return text;
}

NamedValues read_tensors(const std::string& path) {
  NamedValues tensors;
  const TensorFile file = TensorFile::open(path);
  for (const TensorView& view : file.tensors()) {
    Values& values = tensors[view.name];
    values.resize(static_cast<size_t>(element_count(view.shape)));
    copy_to_f64(view, values.data());
  }
  return tensors;
}

GoldenRun::GoldenRun(const GoldenRequest& request) {
  std::vector<std::string> arguments = {"train", "--config", folder_.write("c.yaml", config_text(request)), "--trace",
                                        folder_ / "trace.jsonl"};
  if (request.dump_step > 0) {
    for (const std::string& word : {std::string("--dump-step"), std::to_string(request.dump_step), folder_ / "dump"}) {
      arguments.push_back(word);
    }
  }
  for (const std::string& change : request.changes) {
    arguments.push_back("--set");
    arguments.push_back(change);
  }
  // Threads that wait asleep: on a busy machine many times faster, and no result depends on it.
  Environment environment = {{"OMP_WAIT_POLICY", "passive"}};
  environment.insert(environment.end(), request.environment.begin(), request.environment.end());
  const RunResult result = run_binary({.arguments = arguments, .environment = environment});
  INFO(result.err);
  REQUIRE(result.exit_code == 0);
  trace_ = read_trace(folder_ / "trace.jsonl");
  REQUIRE(trace_.size() == static_cast<size_t>(request.steps));
}

std::string GoldenRun::config_text(const GoldenRequest& request) const {
  const Json& golden = expected_values()["cases"][request.data];
  const Json& settings = golden["settings"];
  const std::string checkpoint = golden["checkpoint"];
  const Json columns = {{"text", "text"}, {"text_pair", request.data == "pair" ? "text_pair" : ""}};
  const Json config = {
      {"seed", settings["seed"]},
      {"threads", 1},
      {"precision", request.precision},
      {"model",
       {{"checkpoint", absolute_golden_path(checkpoint)},
        {"head", "keep"},
        {"max_length", settings["max_length"]},
        {"dropout", 0},
        {"attention_dropout", 0},
        {"classifier_dropout", 0}}},
      {"data",
       {{"train", absolute_golden_path("train_" + request.data + ".tsv")},
        {"labels", expected_values()["labels"]},
        {"columns", columns}}},
      {"train",
       {{"max_steps", request.steps},
        {"global_batch_size", settings["global_batch_size"]},
        {"max_grad_norm", settings["max_grad_norm"]}}},
      {"optimizer", {{"learning_rate", settings["learning_rate"]}, {"weight_decay", settings["weight_decay"]}}},
      {"schedule", {{"warmup_ratio", settings["warmup_ratio"]}}},
      {"output", {{"dir", folder_ / "run"}}}};
  return config.dump(1);  // JSON is YAML
}

NamedValues GoldenRun::gradients() const {
  NamedValues gradients;
  for (const auto& [name, values] : read_tensors(folder_ / "dump")) {
    if (name.starts_with("grad.")) gradients[name.substr(5)] = values;
  }
  return gradients;
}

Values GoldenRun::logits() const { return read_tensors(folder_ / "dump").at("logits"); }

std::vector<std::string> whole_batch() { return {"train.global_batch_size=1000"}; }

std::vector<std::string> with_dropout() {
  return {"model.dropout=0.1", "model.attention_dropout=0.1", "model.classifier_dropout=0.1"};
}

std::vector<std::string> joined(std::vector<std::string> first, const std::vector<std::string>& second) {
  first.insert(first.end(), second.begin(), second.end());
  return first;
}

double norm(const Values& values) {
  double sum = 0.0;
  for (const double value : values) sum += value * value;
  return std::sqrt(sum);
}

double norm(const NamedValues& tensors) {
  double sum = 0.0;
  for (const auto& [name, values] : tensors) sum += std::pow(norm(values), 2);
  return std::sqrt(sum);
}

double distance(const Values& a, const Values& b) {
  REQUIRE(a.size() == b.size());
  double sum = 0.0;
  for (size_t i = 0; i < a.size(); ++i) sum += (a[i] - b[i]) * (a[i] - b[i]);
  return std::sqrt(sum);
}

double distance(const NamedValues& a, const NamedValues& b) {
  REQUIRE(a.size() == b.size());
  double sum = 0.0;
  for (const auto& [name, values] : a) {
    INFO(name);
    REQUIRE(b.contains(name));
    sum += std::pow(distance(values, b.at(name)), 2);
  }
  return std::sqrt(sum);
}

}  // namespace bertft::test
