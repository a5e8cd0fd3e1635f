// The seams of a task, end to end with a task that needs all of them: rows, passes, training, evaluation, predictions.
#include <ATen/ops/equal.h>

#include <cmath>
#include <limits>
#include <sstream>

#include "comm/local_communicator.h"
#include "data/dataset_builder.h"
#include "data/reader.h"
#include "model/initializer.h"
#include "optim/adamw.h"
#include "tests/support/errors.h"
#include "tests/unit/data/tiny_tokenizer.h"
#include "tests/unit/tasks/toy_task.h"
#include "train/batch_pass.h"
#include "train/evaluator.h"
#include "train/predictor.h"
#include "train/train_step.h"

namespace bertft {
namespace {

using test::tiny_tokenizer;
using test::ToyTask;
using Ints = std::vector<int32_t>;

constexpr char kRows[] =
    "text\tother\n"
    "a b c\tb\n"
    "a\tc c\n"
    "c b a b\ta c\n"
    "b\tb b b\n"
    "a c\tb a\n"
    "c c\ta b a\n"
    "b c b c\tc\n"
    "a b\tc\n";

Table toy_table() {
  TableRequest request;
  request.columns.text_pair = "other";
  return parse_table("toy.tsv", kRows, request);
}

Dataset toy_dataset(TargetUse targets = TargetUse::kNeeded) {
  const Tokenizer& tokenizer = tiny_tokenizer();
  const RowEncoder encoder = ToyTask().row_encoder(tokenizer, {.max_length = 8}, targets);
  return encode_table(toy_table(), tokenizer, encoder, 2);
}

EncoderConfig toy_config(double dropout) {
  EncoderConfig config;
  config.model_type = "bert";
  config.vocab_size = 10;
  config.hidden_size = 8;
  config.layers = 2;
  config.heads = 2;
  config.intermediate_size = 16;
  config.max_positions = 8;
  config.token_types = 2;
  config.dropout = dropout;
  config.attention_dropout = dropout;
  return config;
}

// A randomly initialized model and all that trains it on the rows above.
struct Training {
  Training(double dropout, at::ScalarType type, const StepSettings& settings)
      : model(toy_config(dropout), std::make_unique<ToyTask>(), type),
        communicator(model.store().layout(), model.gradient_memory().data()),
        optimizer(model.store().weights(), model.store().layout(), {.weight_decay = 0.0}),
        step(model, dataset, sampler, communicator, optimizer, world, settings) {
    for (const LayoutEntry& entry : model.store().layout().entries) initialize(model.store(), entry, 0.2, 7);
  }

  StepResult run(int64_t number, double lr) {
    return step.run(number, lr, [this](const StepResult&) { gradients = model.store().gradients().clone(); });
  }

  Dataset dataset = toy_dataset();
  Sampler sampler{3, dataset.rows(), 6};
  ModelBundle model;
  World world = single_world();
  LocalCommunicator communicator;
  AdamW optimizer;
  TrainStep step;
  at::Tensor gradients;  // of the last step, before clipping
};

template <typename T>
std::vector<T> copied(std::span<const T> values) {
  return {values.begin(), values.end()};
}

TEST_CASE("A row becomes two sequences with targets and features for every token of both") {
  const Dataset dataset = toy_dataset();
  REQUIRE(dataset.rows() == 8);
  REQUIRE(copied(dataset.ids(0)) == Ints{2, 5, 6, 7, 3, 2, 6, 3});
  REQUIRE(copied(dataset.part_lengths(0)) == Ints{5, 3});
  REQUIRE(copied(dataset.targets(0)) == Ints{-1, 0, 1, 0, -1, -1, 1, -1});
  REQUIRE(dataset.feature_width() == 2);
  REQUIRE(copied(dataset.features(0)) ==
          std::vector<float>{0.0f, 0, 0.1f, 0, 0.2f, 1, 0.3f, 0, 0.4f, 0, 0.0f, 0, 0.1f, 1, 0.2f, 0});
  REQUIRE(copied(dataset.targets(7)) == Ints{-1, 0, 2, -1, -1, 0, -1});
  const std::vector<int64_t> rows = {0, 7};
  REQUIRE(ToyTask().weight(dataset, rows) == 7.0);
  REQUIRE(toy_dataset(TargetUse::kIgnored).targets(0).empty());
}

TEST_CASE("A pass carries parts and features of its rows in their order") {
  const Dataset dataset = toy_dataset();
  const std::vector<int64_t> rows = {4, 1};
  const ForwardPassPtr pass = make_pass(dataset, rows, {.is_training = true, .seed = 5, .step = 2});
  REQUIRE(pass->rows == std::vector<int64_t>{4, 4, 1, 1});
  REQUIRE(pass->parts == Ints{0, 1, 0, 1});
  REQUIRE(pass->sequences.offsets == Ints{0, 4, 8, 11, 15});
  REQUIRE(pass->sequences.max_length == 4);
  REQUIRE(pass->first_tokens.offsets == Ints{0, 1, 2, 3, 4});
  REQUIRE(pass->tokens.position == Ints{0, 1, 2, 3, 0, 1, 2, 3, 0, 1, 2, 0, 1, 2, 3});
  REQUIRE(pass->feature_width == 2);
  std::vector<float> expected = copied(dataset.features(4));
  const std::vector<float> second = copied(dataset.features(1));
  expected.insert(expected.end(), second.begin(), second.end());
  REQUIRE(pass->features == expected);
  REQUIRE(pass->is_training);
  REQUIRE(pass->seed == 5);
  REQUIRE(pass->step == 2);
  test::error_text<InternalError>([&] { make_pass(dataset, {}, {}); });
}

TEST_CASE("Training lowers the loss until the tags are learned") {
  for (const at::ScalarType type : {at::kFloat, at::kDouble}) {
    Training training(0.0, type, {.seed = 1, .micro_batch_tokens = 30, .max_grad_norm = 1.0});
    const double before = evaluate(training.model, training.dataset, 20).metric("loss");
    const double first = training.run(1, 0.02).loss;
    REQUIRE(first == Approx(before).epsilon(0.5));
    double last = 0.0;
    for (int64_t step = 2; step <= 60; ++step) last = training.run(step, 0.02).loss;
    REQUIRE(last < 0.2 * first);
    REQUIRE(evaluate(training.model, training.dataset, 20).metric("token_accuracy") == 1.0);
    REQUIRE(training.optimizer.applied_steps() == 60);
  }
}

TEST_CASE("A step in micro-batches is the step in one, dropout included") {
  Training whole(0.2, at::kDouble, {.seed = 1});
  Training split(0.2, at::kDouble, {.seed = 1, .micro_batch_tokens = 12});
  Training single(0.2, at::kDouble, {.seed = 1, .micro_batch_tokens = 1});
  for (int64_t step = 1; step <= 3; ++step) {
    const StepResult expected = whole.run(step, 0.01);
    for (Training* other : {&split, &single}) {
      const StepResult result = other->run(step, 0.01);
      REQUIRE(result.rows == expected.rows);
      REQUIRE(result.tokens == expected.tokens);
      REQUIRE(result.loss == Approx(expected.loss).epsilon(1e-12));
      REQUIRE(result.grad_norm == Approx(expected.grad_norm).epsilon(1e-11));
      REQUIRE(other->gradients.sub(whole.gradients).norm().item<double>() < 1e-11 * expected.grad_norm);
    }
  }
  Training undropped(0.0, at::kDouble, {.seed = 1});
  REQUIRE(std::abs(undropped.run(1, 0.01).loss - Training(0.2, at::kDouble, {.seed = 1}).run(1, 0.01).loss) > 1e-3);
}

TEST_CASE("A run repeats its bits, and another seed of dropout does not") {
  Training first(0.2, at::kFloat, {.seed = 1, .micro_batch_tokens = 12});
  Training again(0.2, at::kFloat, {.seed = 1, .micro_batch_tokens = 12});
  Training other(0.2, at::kFloat, {.seed = 2, .micro_batch_tokens = 12});
  for (int64_t step = 1; step <= 3; ++step) {
    const double loss = first.run(step, 0.01).loss;
    REQUIRE(again.run(step, 0.01).loss == loss);
    REQUIRE(other.run(step, 0.01).loss != loss);
  }
  REQUIRE(at::equal(first.model.store().weights(), again.model.store().weights()));
}

TEST_CASE("A step keeps its outputs when asked, in the order of its rows") {
  Training training(0.0, at::kDouble, {.seed = 1, .micro_batch_tokens = 12});
  REQUIRE_FALSE(training.run(1, 0.0).logits.defined());
  training.step.keep_logits(true);
  const StepResult result = training.run(2, 0.0);
  REQUIRE(result.logits.size(0) == result.tokens);
  const ForwardPassPtr pass = make_pass(training.dataset, result.rows, {});
  REQUIRE(training.model.forward(pass).sub(result.logits).abs().max().item<double>() < 1e-12);
}

TEST_CASE("Evaluation depends on the rows, not on the size of its batches") {
  Training training(0.2, at::kDouble, {.seed = 1});
  const Evaluation large = evaluate(training.model, training.dataset, 1000);
  for (const int64_t tokens : {1, 10, 17}) {
    const Evaluation small = evaluate(training.model, training.dataset, tokens);
    REQUIRE(small.metric("loss") == Approx(large.metric("loss")).epsilon(1e-12));
    REQUIRE(small.metric("token_accuracy") == large.metric("token_accuracy"));
  }
}

TEST_CASE("Predictions have the columns of the input, then those of the task") {
  Training training(0.0, at::kDouble, {.seed = 1});
  for (int64_t step = 1; step <= 60; ++step) training.run(step, 0.02);
  const Dataset rows = toy_dataset(TargetUse::kIgnored);
  const RowOutputs outputs = compute_outputs(training.model, rows, 20);
  REQUIRE(outputs.rows_set() == 8);
  std::ostringstream text;
  REQUIRE(write_predictions(text, toy_table(), training.model.task(), outputs, {}) == 0);
  std::istringstream lines(text.str());
  std::string line;
  std::getline(lines, line);
  REQUIRE(line == "text\tother\ttags");
  std::getline(lines, line);
  REQUIRE_THAT(line, Catch::StartsWith("a b c\tb\t"));
  std::istringstream tags(line.substr(8));  // "_ 0 1 0 _ _ 1 _", where _ is whatever special tokens got
  Ints read;
  for (int32_t tag = 0; tags >> tag;) read.push_back(tag);
  REQUIRE(read.size() == 8);
  REQUIRE(Ints{read[1], read[2], read[3], read[6]} == Ints{0, 1, 0, 1});
}

TEST_CASE("A gradient or loss that is not finite stops the step before any weight changes, and is named") {
  Training training(0.0, at::kFloat, {.seed = 1, .nan = "abort"});
  const Parameter bias = training.model.store().parameter("tagger.bias");
  at::Tensor value = bias.value;
  value[1] = std::numeric_limits<double>::quiet_NaN();
  const at::Tensor before = training.model.store().weights().clone();
  const std::string message = test::error_text<SharedError>([&] { training.run(1, 0.01); });
  REQUIRE_THAT(message, Catch::Contains("step 1") && Catch::Contains("tagger.bias") &&
                            Catch::Contains("No weight of this step was changed") &&
                            Catch::Contains("optimizer.learning_rate"));
  REQUIRE(at::equal(training.model.store().weights().nan_to_num(), before.nan_to_num()));
}

}  // namespace
}  // namespace bertft
