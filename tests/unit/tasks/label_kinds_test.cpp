// Several labels, real values, class weights and label smoothing: losses with their gradients, scores, and prediction
// columns, against values computed by hand. tests/system compares whole runs with torch and transformers.
#include <ATen/ops/tensor.h>

#include <cmath>
#include <limits>

#include "core/error.h"
#include "data/dataset_builder.h"
#include "tasks/class_weights.h"
#include "tasks/multi_label.h"
#include "tasks/registry.h"
#include "tasks/text_classification.h"
#include "tasks/text_regression.h"
#include "tests/support/errors.h"

namespace bertft {
namespace {

using Catch::Contains;
using test::error_text;
using Texts = std::vector<std::string>;

TaskSettings settings_of(LabelType type) {
  TaskSettings settings;
  settings.labels.type = type;
  if (type != LabelType::kReal) settings.known_labels = {"down", "flat", "up"};
  return settings;
}

Dataset rows_without_targets(size_t rows) {
  DatasetArrays arrays;
  for (size_t row = 0; row < rows; ++row) {
    arrays.begins.push_back(static_cast<int64_t>(arrays.ids.size()));
    arrays.ids.insert(arrays.ids.end(), {2, 3});
    arrays.lengths.push_back(2);
    arrays.second_begins.push_back(2);
    arrays.untruncated_lengths.push_back(2);
  }
  return Dataset(std::move(arrays));
}

RowOutputs outputs_of(const std::vector<std::vector<double>>& values) {
  RowOutputs outputs(static_cast<int64_t>(values.size()));
  for (size_t row = 0; row < values.size(); ++row) outputs.set(static_cast<int64_t>(row), values[row]);
  return outputs;
}

at::Tensor leaf(const std::vector<double>& values, int64_t width) {
  return at::tensor(values, at::kDouble).view({-1, width}).requires_grad_();
}

double sigmoid(double x) { return 1.0 / (1.0 + std::exp(-x)); }

TEST_CASE("Several labels: binary cross-entropy averaged over the labels, and its gradient") {
  const MultiLabelClassification task(settings_of(LabelType::kMulti));
  Dataset dataset = rows_without_targets(2);
  dataset.set_class_sets({0, 2, 2}, {0, 2});
  const std::vector<double> values = {0.5, -1.0, 800.0, -2.0, 0.0, -900.0};
  const at::Tensor logits = leaf(values, 3);
  const std::vector<int64_t> rows = {0, 1};
  const at::Tensor loss = task.loss_sum(logits, dataset, rows);
  const double by_hand =
      (-std::log(sigmoid(0.5)) - std::log(sigmoid(1.0)) - std::log(sigmoid(2.0)) + std::log(2.0)) / 3;
  REQUIRE(loss.item<double>() == Approx(by_hand).epsilon(1e-12));
  REQUIRE(task.weight(dataset, rows) == 2.0);
  loss.backward();
  const std::vector<double> truth = {1, 0, 1, 0, 0, 0};
  for (size_t i = 0; i < values.size(); ++i) {
    const double expected = (sigmoid(values[i]) - truth[i]) / 3;
    REQUIRE(logits.grad().flatten()[static_cast<int64_t>(i)].item<double>() == Approx(expected).margin(1e-14));
  }
  const Evaluation scores = task.evaluate(outputs_of({{0.5, -1.0, 800.0}, {-2.0, 0.0, -900.0}}), dataset);
  REQUIRE(scores.metric("loss") == Approx(by_hand / 2).epsilon(1e-12));
  REQUIRE(scores.metric("accuracy") == 1.0);
  REQUIRE(scores.metric("hamming_loss") == 0.0);
  REQUIRE(std::isnan(scores.metric("auc")));  // no row has label 1
  REQUIRE(scores.undefined.size() == 1);
  REQUIRE_THAT(scores.report, Contains("down") && Contains("up"));
}

TEST_CASE("Several labels: names with a probability above one half, joined by commas") {
  const MultiLabelClassification task(settings_of(LabelType::kMulti));
  REQUIRE(task.prediction_columns({.has_logits = true}) == Texts{"prediction", "probability", "prob_down", "prob_flat",
                                                                 "prob_up", "logit_down", "logit_flat", "logit_up"});
  const std::vector<double> logits = {std::log(3.0), 0.0, std::log(9.0)};
  REQUIRE(task.prediction_cells(logits, {.digits = 4}) == Texts{"down,up", "0.3375", "0.7500", "0.5000", "0.9000"});
  REQUIRE(task.prediction_cells(std::vector<double>{-1.0, -1.0, -1.0}, {})[0].empty());
  REQUIRE(task.choose_metric("auto").name == "micro_f1");
  REQUIRE_FALSE(task.choose_metric("hamming_loss").is_higher_better);
}

TEST_CASE("Real values: squared errors, correlations, and one column") {
  const TextRegression task(settings_of(LabelType::kReal));
  Dataset dataset = rows_without_targets(3);
  dataset.set_values({1.0, 2.0, 4.0});
  const at::Tensor outputs = leaf({1.5, 2.0, 2.0}, 1);
  const std::vector<int64_t> rows = {0, 1, 2};
  const at::Tensor loss = task.loss_sum(outputs, dataset, rows);
  REQUIRE(loss.item<double>() == Approx(0.25 + 0.0 + 4.0));
  loss.backward();
  REQUIRE(outputs.grad().flatten()[2].item<double>() == Approx(-4.0));
  const Evaluation scores = task.evaluate(outputs_of({{1.5}, {2.0}, {2.0}}), dataset);
  REQUIRE(scores.metric("loss") == Approx(4.25 / 3));
  REQUIRE(scores.metric("mae") == Approx(2.5 / 3));
  REQUIRE(scores.metric("spearman") == Approx(std::sqrt(3.0) / 2));
  const Evaluation constant = task.evaluate(outputs_of({{1.0}, {1.0}, {1.0}}), dataset);
  REQUIRE(std::isnan(constant.metric("pearson")));
  REQUIRE(constant.undefined.front().first == "pearson");
  REQUIRE(task.prediction_columns({.has_logits = true}) == Texts{"prediction"});
  REQUIRE(task.prediction_cells(std::vector<double>{1.23456}, {.digits = 3}) == Texts{"1.235"});
  REQUIRE(task.choose_metric("auto").name == "pearson");
}

TEST_CASE("Class weights multiply losses and their sum divides them, and smoothing spreads the target") {
  TaskSettings settings = settings_of(LabelType::kSingle);
  settings.class_weights = parse_class_weights({"", {{"up", "3"}, {"down", "0.5"}}});
  settings.label_smoothing = 0.3;
  TextClassification task(settings);
  Dataset dataset = rows_without_targets(2);
  dataset.set_labels({0, 2});
  REQUIRE(task.see_training_rows(dataset) == "class weights: down 0.5, flat 1, up 3");
  const std::vector<int64_t> rows = {1, 0};
  REQUIRE(task.weight(dataset, rows) == 3.5);
  const at::Tensor logits = leaf({0.0, 0.0, std::log(2.0), 0.0, std::log(6.0), 0.0}, 3);
  const double loss = task.loss_sum(logits, dataset, rows).item<double>();
  const std::vector<double> weights = {0.5, 1.0, 3.0};
  const std::vector<std::vector<double>> probabilities = {{0.25, 0.25, 0.5}, {0.125, 0.75, 0.125}};
  double by_hand = 0.0;
  for (size_t row = 0; row < 2; ++row) {
    const size_t truth = row == 0 ? 2 : 0;
    by_hand -= 0.7 * weights[truth] * std::log(probabilities[row][truth]);
    for (size_t k = 0; k < 3; ++k) by_hand -= 0.3 / 3 * weights[k] * std::log(probabilities[row][k]);
  }
  REQUIRE(loss == Approx(by_hand).epsilon(1e-12));
  const Evaluation scores = task.evaluate(outputs_of({{0.0, 0.0, 0.0}, {0.0, 0.0, 0.0}}), dataset);
  REQUIRE(scores.metric("loss") == Approx(std::log(3.0)));  // without weights and smoothing
}

TEST_CASE("Balanced weights are rows over classes times rows of the class") {
  const LabelTable labels({"a", "b", "c"});
  const std::vector<int32_t> rows = {0, 0, 0, 1};
  REQUIRE(weights_of_classes(parse_class_weights({"balanced", {}}), labels, rows) ==
          std::vector<double>{4.0 / 9, 4.0 / 3, 0.0});
  REQUIRE(weights_of_classes(parse_class_weights({"none", {}}), labels, rows) == std::vector<double>{1, 1, 1});
  REQUIRE(weights_of_classes(parse_class_weights({"", {{"c", "2.5"}}}), labels, rows) ==
          std::vector<double>{1, 1, 2.5});
  const auto refused = [&](const TextOrMap& option) {
    return error_text<ConfigError>([&] { weights_of_classes(parse_class_weights(option), labels, rows); });
  };
  REQUIRE_THAT(refused({"even", {}}), Contains("'even' is not none, balanced"));
  REQUIRE_THAT(refused({"", {{"a", "0"}}}), Contains("the weight of a is '0'"));
  REQUIRE_THAT(refused({"", {{"a", "nan"}}}), Contains("a number above 0"));
  REQUIRE_THAT(refused({"", {{"d", "1"}}}), Contains("'d' is not one of the 3 labels"));
}

TEST_CASE("Two labels have the scores of a binary decision, more have not") {
  TaskSettings two;
  two.known_labels = {"no", "yes"};
  const TextClassification task(two);
  Dataset dataset = rows_without_targets(4);
  dataset.set_labels({0, 1, 1, 0});
  const Evaluation scores = task.evaluate(outputs_of({{1.0, 0.0}, {0.0, 2.0}, {1.0, 0.5}, {0.0, 1.0}}), dataset);
  REQUIRE(scores.metric("f1") == 0.5);
  REQUIRE(scores.metric("mcc") == 0.0);
  REQUIRE(scores.metric("auc") == 0.75);
  REQUIRE(task.choose_metric("auc").is_higher_better);
  Dataset same = rows_without_targets(1);
  same.set_labels({1});
  REQUIRE(std::isnan(task.evaluate(outputs_of({{0.0, 1.0}}), same).metric("auc")));
  const TextClassification three(settings_of(LabelType::kSingle));
  REQUIRE_THAT(error_text<ConfigError>([&] { three.choose_metric("auc"); }), Contains("more than two labels"));
}

TEST_CASE("An undefined metric is never better than a number, and any number is better than it") {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  const MetricChoice higher = {"auc", true};
  REQUIRE(higher.is_better(0.1, nan));
  REQUIRE_FALSE(higher.is_better(nan, 0.1));
  REQUIRE_FALSE(higher.is_better(nan, nan));
  REQUIRE(higher.is_better(0.2, 0.1));
  REQUIRE((MetricChoice{"loss", false}).is_better(0.1, 0.2));
}

TEST_CASE("Weights and smoothing belong to single labels, and the kind of label chooses the task") {
  for (const LabelType type : {LabelType::kMulti, LabelType::kReal}) {
    TaskSettings settings = settings_of(type);
    settings.label_smoothing = 0.1;
    REQUIRE_THAT(error_text<ConfigError>([&] { make_task("text_classification", settings); }),
                 Contains("train.label_smoothing"));
    settings = settings_of(type);
    settings.class_weights.is_balanced = true;
    REQUIRE_THAT(error_text<ConfigError>([&] { make_task("text_classification", settings); }),
                 Contains("train.class_weights"));
  }
  REQUIRE(make_task("text_classification", settings_of(LabelType::kReal))->choose_metric("auto").name == "pearson");
  REQUIRE(make_task("text_classification", settings_of(LabelType::kMulti))->choose_metric("auto").name == "micro_f1");
  REQUIRE(make_task("text_classification", settings_of(LabelType::kSingle))->choose_metric("auto").name == "accuracy");
}

}  // namespace
}  // namespace bertft
