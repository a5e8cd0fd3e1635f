// Text classification: what it makes of rows, its loss and metrics against values computed by hand, and its columns.
#include "tasks/text_classification.h"

#include <ATen/ops/softmax.h>
#include <ATen/ops/tensor.h>
#include <ATen/ops/zeros.h>

#include <cmath>
#include <numeric>

#include "core/error.h"
#include "data/dataset_builder.h"
#include "data/reader.h"
#include "tasks/registry.h"
#include "tests/support/errors.h"
#include "tests/unit/data/tiny_tokenizer.h"

namespace bertft {
namespace {

using Catch::Contains;
using test::error_text;
using Texts = std::vector<std::string>;

TaskSettings three_labels() {
  TaskSettings settings;
  settings.known_labels = {"down", "flat", "up"};
  return settings;
}

// Rows of two tokens with the given labels; no table.
Dataset labelled(const std::vector<int32_t>& labels) {
  DatasetArrays arrays;
  for (size_t row = 0; row < labels.size(); ++row) {
    arrays.begins.push_back(static_cast<int64_t>(arrays.ids.size()));
    arrays.ids.insert(arrays.ids.end(), {2, 3});
    arrays.lengths.push_back(2);
    arrays.second_begins.push_back(2);
    arrays.untruncated_lengths.push_back(2);
  }
  Dataset dataset(std::move(arrays));
  dataset.set_labels(labels);
  return dataset;
}

RowOutputs outputs_of(const std::vector<std::vector<double>>& logits) {
  RowOutputs outputs(static_cast<int64_t>(logits.size()));
  for (size_t row = 0; row < logits.size(); ++row) outputs.set(static_cast<int64_t>(row), logits[row]);
  return outputs;
}

// Row 0 right, 1 wrong, 2 right, 3 wrong.
const std::vector<std::vector<double>> kLogits = {
    {std::log(2.0), 0.0, 0.0}, {0.0, 0.0, std::log(6.0)}, {1000.0, 1000.0, 1001.0}, {0.0, std::log(8.0), 0.0}};
const std::vector<int32_t> kTruth = {0, 1, 2, 0};

double by_hand(size_t row) {  // -log of the probability of the true class
  const double e = std::exp(1.0);
  const std::vector<double> probability = {2.0 / 4, 1.0 / 8, e / (2 + e), 1.0 / 10};
  return -std::log(probability.at(row));
}

TEST_CASE("An evaluation has the loss and the scores that a hand computes") {
  const TextClassification task(three_labels());
  const Evaluation result = task.evaluate(outputs_of(kLogits), labelled(kTruth));
  REQUIRE(result.rows == 4);
  REQUIRE(result.metric("loss") == Approx((by_hand(0) + by_hand(1) + by_hand(2) + by_hand(3)) / 4).epsilon(1e-13));
  REQUIRE(result.metric("accuracy") == 0.5);
  // down: precision 1, recall 1/2; flat: none right; up: precision 1/2, recall 1.
  REQUIRE(result.metric("macro_f1") == Approx((2.0 / 3 + 0.0 + 2.0 / 3) / 3).epsilon(1e-14));
  REQUIRE(result.metric("weighted_f1") == Approx((2 * (2.0 / 3) + 0.0 + 2.0 / 3) / 4).epsilon(1e-14));
  REQUIRE(result.metrics.front().first == "loss");
  REQUIRE(result.classification.classes.size() == 3);
  REQUIRE_THAT(result.report, Contains("down") && Contains("flat") && Contains("up"));
  REQUIRE_THAT(error_text<InternalError>([&] { result.metric("bleu"); }), Contains("bleu"));
}

TEST_CASE("An evaluation covers every row") {
  const TextClassification task(three_labels());
  RowOutputs outputs(4);
  outputs.set(0, kLogits[0]);
  REQUIRE_THAT(error_text<InternalError>([&] { task.evaluate(outputs, labelled(kTruth)); }), Contains("every row"));
}

TEST_CASE("Of equal logits the first class is predicted") {
  const TextClassification task(three_labels());
  REQUIRE(task.prediction_cells(std::vector<double>{0.5, 0.5, 0.5}, {})[0] == "down");
  REQUIRE(task.prediction_cells(std::vector<double>{0.1, 0.5, 0.5}, {})[0] == "flat");
}

TEST_CASE("The loss of a pass is the sum over its rows, in their order, and its gradient is softmax minus truth") {
  const TextClassification task(three_labels());
  const Dataset dataset = labelled(kTruth);
  const std::vector<int64_t> rows = {3, 0};
  at::Tensor logits = at::zeros({2, 3}, at::kDouble);
  for (int64_t i = 0; i < 2; ++i) {
    logits[i].copy_(at::tensor(kLogits[static_cast<size_t>(rows[static_cast<size_t>(i)])], at::kDouble));
  }
  logits.requires_grad_();
  const at::Tensor loss = task.loss_sum(logits, dataset, rows);
  REQUIRE(loss.item<double>() == Approx(by_hand(3) + by_hand(0)).epsilon(1e-13));
  loss.backward();
  at::Tensor expected = at::softmax(logits.detach(), 1);
  expected[0][0] -= 1.0;
  expected[1][0] -= 1.0;
  REQUIRE(logits.grad().sub(expected).abs().max().item<double>() < 1e-14);
  REQUIRE(task.weight(dataset, rows) == 2.0);
}

TEST_CASE("Outputs are filed by row") {
  const TextClassification task(three_labels());
  ForwardPass pass;
  pass.rows = {2, 0};
  pass.parts = {0, 0};
  RowOutputs all(3);
  task.collect(at::tensor({1.0f, 2.0f, 3.0f, 4.0f, 5.0f, 6.0f}).view({2, 3}), pass, all);
  REQUIRE(all.rows_set() == 2);
  REQUIRE(std::vector<double>(all.row(2).begin(), all.row(2).end()) == std::vector<double>{1, 2, 3});
  REQUIRE(std::vector<double>(all.row(0).begin(), all.row(0).end()) == std::vector<double>{4, 5, 6});
}

TEST_CASE("Prediction columns and cells agree in number and order") {
  const TextClassification task(three_labels());
  REQUIRE(task.prediction_columns({}) == Texts{"prediction", "probability", "prob_down", "prob_flat", "prob_up"});
  REQUIRE(task.prediction_columns({.has_logits = true}) == Texts{"prediction", "probability", "prob_down", "prob_flat",
                                                                 "prob_up", "logit_down", "logit_flat", "logit_up"});
  REQUIRE(task.prediction_cells(kLogits[0], {}) == Texts{"down", "0.500000", "0.500000", "0.250000", "0.250000"});
  REQUIRE(task.prediction_cells(kLogits[3], {.has_logits = true, .digits = 2}) ==
          Texts{"flat", "0.80", "0.10", "0.80", "0.10", "0.00", "2.08", "0.00"});
  // Large logits neither overflow nor lose their differences.
  REQUIRE(task.prediction_cells(kLogits[2], {.digits = 3}) == Texts{"up", "0.576", "0.212", "0.212", "0.576"});
}

TEST_CASE("The best model is chosen by accuracy unless another metric of the task is asked for") {
  const TextClassification task(three_labels());
  struct Case {
    const char* wanted;
    const char* name;
    bool is_higher_better;
  };
  for (const Case& c : {Case{"auto", "accuracy", true}, Case{"accuracy", "accuracy", true},
                        Case{"macro_f1", "macro_f1", true}, Case{"loss", "loss", false}}) {
    const MetricChoice choice = task.choose_metric(c.wanted);
    REQUIRE(choice.name == c.name);
    REQUIRE(choice.is_higher_better == c.is_higher_better);
    // Whatever can be chosen is among the metrics of an evaluation.
    REQUIRE_NOTHROW(task.evaluate(outputs_of(kLogits), labelled(kTruth)).metric(choice.name));
  }
  for (const char* wrong : {"", "acc", "pearson", "Accuracy"}) {
    REQUIRE_THAT(
        error_text<ConfigError>([&] { task.choose_metric(wrong); }),
        Contains("eval.metric: '" + std::string(wrong) + "'") && Contains("accuracy, macro_f1, weighted_f1, mcc"));
  }
}

TEST_CASE("Rows are encoded as they are read, and get their labels when they are asked for") {
  TextClassification task(TaskSettings{});
  TableRequest request;
  request.needs_label = true;
  const Table table = parse_table("train.tsv", "text\tlabel\na b\tup\nc\tdown\n", request);
  const Tokenizer& tokenizer = test::tiny_tokenizer();
  Dataset dataset = encode_table(table, tokenizer, task.row_encoder(tokenizer, {}, TargetUse::kNeeded), 1);
  REQUIRE(dataset.target_kind() == TargetKind::kNone);
  REQUIRE(task.prepare(dataset).empty());
  REQUIRE(task.labels().names() == Texts{"down", "up"});
  task.attach_targets(dataset);
  REQUIRE(dataset.label(0) == 1);
  REQUIRE(dataset.label(1) == 0);
  const Dataset ignored = encode_table(table, tokenizer, task.row_encoder(tokenizer, {}, TargetUse::kIgnored), 1);
  REQUIRE(ignored.rows() == 2);
  REQUIRE(std::equal(ignored.ids(0).begin(), ignored.ids(0).end(), dataset.ids(0).begin(), dataset.ids(0).end()));
}

TEST_CASE("The head is described as transformers names it, and shaped by the labels") {
  const TextClassification task(three_labels());
  EncoderConfig config;
  config.model_type = "bert";
  config.hidden_size = 8;
  const HeadDescription head = task.describe_head(config);
  REQUIRE(head.architecture == "BertForSequenceClassification");
  REQUIRE(head.problem_type == "single_label_classification");
  REQUIRE(head.labels == Texts{"down", "flat", "up"});
  std::vector<ParameterSpec> specs;
  task.append_head_specs(config, specs);
  REQUIRE(specs.size() == 4);
  REQUIRE(specs[0].name == "classifier.bias");
  REQUIRE(specs[1].name == "classifier.weight");
  REQUIRE(specs[1].shape == std::vector<int64_t>{3, 8});
  REQUIRE(specs[2].name == "pooler.dense.bias");
  REQUIRE(specs[3].name == "pooler.dense.weight");
  REQUIRE(task.encoder_output() == EncoderOutput::kFirstTokens);
}

TEST_CASE("Tasks are made by name") {
  REQUIRE(make_task("text_classification", three_labels())->name() == "text_classification");
  REQUIRE_THAT(error_text<ConfigError>([] { make_task("translation", three_labels()); }),
               Contains("'translation'") && Contains("known: text_classification"));
}

}  // namespace
}  // namespace bertft
