// What must not change a result, with dropout on: how a batch is cut into micro-batches, the number of threads, and
// running again. The bound on weights comes from how far the reference is from itself on 1 and 2 threads.
#include <algorithm>
#include <cmath>
#include <sstream>
#include <string>
#include <vector>

#include "core/files.h"
#include "tests/support/run_binary.h"
#include "tests/support/test.h"
#include "tests/support/tolerances.h"
#include "tests/system/golden_run.h"

namespace bertft::test {
namespace {

// 90 rows hold 2,164 tokens, 32 rows about 770, so that every step is cut into more than four pieces.
const std::vector<std::string> kSmallPieces = {"train.micro_batch_tokens=150"};
const std::vector<std::string> kTwoThreads = {"threads=2"};
const std::vector<std::string> kBatchOf32 = {"train.global_batch_size=32"};

// The same training with dropout, in two ways.
struct Pair {
  GoldenRun first, second;

  Pair(GoldenRequest request, const std::vector<std::string>& changes_of_second)
      : first(changed(request, with_dropout())), second(changed(request, joined(with_dropout(), changes_of_second))) {}

  static GoldenRequest changed(GoldenRequest request, const std::vector<std::string>& changes) {
    request.changes = joined(request.changes, changes);
    return request;
  }
};

void check_step_gradients(const Pair& runs) {
  const NamedValues gradients = runs.first.gradients();
  CHECK(distance(gradients, runs.second.gradients()) <= kStepGradient * norm(gradients));
}

void check_losses(const Pair& runs) {
  for (size_t i = 0; i < runs.first.trace().size(); ++i) {
    CAPTURE(i);
    CHECK(runs.second.trace()[i].rows == runs.first.trace()[i].rows);
    CHECK(std::abs(runs.second.trace()[i].loss - runs.first.trace()[i].loss) <= kStepLoss);
  }
}

void erase_key_biases(NamedValues& tensors) {
  std::erase_if(tensors, [](const auto& tensor) { return tensor.first.ends_with("key.bias"); });
}

// The weights after 50 steps, over all seeds that the reference's own spread was measured with: the differences, as
// share of the whole update, are within twice that spread. Once with the key biases, whose steps are rounding noise,
// and once (the sharp bound) without them.
void check_weights(const std::vector<std::string>& changes_of_second) {
  const auto& spread = expected_values()["spread_with_dropout"];
  const NamedValues start = read_tensors(golden_path("bert_48/model.safetensors"));
  double all = 0.0, all_of_reference = 0.0, sharp = 0.0, sharp_of_reference = 0.0;
  for (const auto& [seed, of_reference] : spread["by_seed"].items()) {
    const Pair runs({.steps = spread["steps"], .changes = joined(kBatchOf32, {"seed=" + seed})}, changes_of_second);
    NamedValues first = runs.first.weights();
    NamedValues second = runs.second.weights();
    const double update = distance(first, start);
    all += distance(first, second) / update;
    all_of_reference += of_reference["all"].get<double>();
    erase_key_biases(first);
    erase_key_biases(second);
    sharp += distance(first, second) / update;
    sharp_of_reference += of_reference["without_key_biases"].get<double>();
  }
  CHECK(all <= kSpreads * all_of_reference);
  CHECK(sharp <= kSpreads * sharp_of_reference);
}

void check_hashes(const GoldenRun& first, const GoldenRun& second) {
  for (size_t i = 0; i < first.trace().size(); ++i) {
    CAPTURE(i);
    CHECK(second.trace()[i].parameter_hash == first.trace()[i].parameter_hash);
    CHECK(second.trace()[i].loss == first.trace()[i].loss);
  }
}

TEST_CASE("dropout is on in the tests of invariance, and its masks change from step to step and with the seed") {
  // Step 1 has rate 0 (warm-up), so steps 1 and 2 see the same weights and, in other order, the same rows.
  const GoldenRequest plain{.steps = 2, .dump_step = 1, .changes = whole_batch()};
  const NamedValues without = GoldenRun(plain).gradients();
  const NamedValues step1 = GoldenRun(Pair::changed(plain, with_dropout())).gradients();
  GoldenRequest second = Pair::changed(plain, with_dropout());
  second.dump_step = 2;
  const NamedValues step2 = GoldenRun(second).gradients();
  const NamedValues other_seed = GoldenRun(Pair::changed(plain, joined(with_dropout(), {"seed=8"}))).gradients();
  const double at_least = 0.02 * norm(without);
  CHECK(distance(step1, without) > at_least);
  CHECK(distance(step1, step2) > at_least);
  CHECK(distance(step1, other_seed) > at_least);
}

TEST_CASE("a step gives the same gradient in one micro-batch and in many") {
  for (const Environment& choice : kernel_choices()) {
    INFO(to_text(choice));
    check_step_gradients(Pair({.dump_step = 1, .changes = whole_batch(), .environment = choice}, kSmallPieces));
  }
}

TEST_CASE("20 steps give the same losses in one micro-batch each and in many") {
  check_losses(Pair({.steps = 20, .changes = kBatchOf32}, kSmallPieces));
}

TEST_CASE("50 steps end at the same weights in one micro-batch each and in many, within the reference's spread") {
  check_weights(kSmallPieces);
}

TEST_CASE("one thread and two agree on gradient, losses and weights up to summation") {
  check_step_gradients(Pair({.dump_step = 1, .changes = whole_batch()}, kTwoThreads));
  check_losses(Pair({.steps = 20, .changes = kBatchOf32}, kTwoThreads));
  check_weights(kTwoThreads);
}

void check_repetition(const std::string& precision, const Environment& environment) {
  INFO(precision << " " << to_text(environment));
  const GoldenRequest request{.precision = precision,
                              .steps = 15,
                              .changes = joined(with_dropout(), joined(kTwoThreads, kSmallPieces)),
                              .environment = environment};
  const GoldenRun first(request);
  const GoldenRun second(request);
  check_hashes(first, second);
  CHECK(read_file(first.path("last/model.safetensors")) == read_file(second.path("last/model.safetensors")));
  CHECK(first.trace()[5].parameter_hash != first.trace()[6].parameter_hash);
}

TEST_CASE("a run repeated is equal in every bit of every step") {
  for (const Environment& choice : kernel_choices()) check_repetition("fp32", choice);
  check_repetition("fp64", {});
}

TEST_CASE("scoring dev rows between epochs does not change the training") {
  const GoldenRequest request{.steps = 15, .changes = with_dropout()};
  GoldenRequest with_dev = request;
  with_dev.changes.push_back("data.dev=" + absolute_golden_path("train_single.tsv"));
  check_hashes(GoldenRun(request), GoldenRun(with_dev));
}

// The columns behind the input's own: the prediction, then numbers.
struct Prediction {
  std::string label;
  Values probabilities;
};

std::vector<Prediction> read_predictions(const std::string& path) {
  constexpr int kInputColumns = 2;
  std::istringstream lines(read_file(path));
  std::vector<Prediction> predictions;
  std::string line;
  std::getline(lines, line);
  while (std::getline(lines, line)) {
    std::istringstream cells(line);
    std::string cell;
    for (int i = 0; i < kInputColumns; ++i) std::getline(cells, cell, '\t');
    Prediction& prediction = predictions.emplace_back();
    std::getline(cells, prediction.label, '\t');
    while (std::getline(cells, cell, '\t')) prediction.probabilities.push_back(std::stod(cell));
  }
  return predictions;
}

TEST_CASE("predictions do not depend on eval.batch_tokens beyond summation") {
  const GoldenRequest request{.steps = 3, .changes = {"data.dev=" + absolute_golden_path("train_single.tsv")}};
  const auto predict = [&](const std::string& tokens) {
    return read_predictions(
        GoldenRun(Pair::changed(request, {"eval.batch_tokens=" + tokens})).path("predictions/dev.tsv"));
  };
  const std::vector<Prediction> whole = predict("100000");
  REQUIRE(whole.size() == 90);
  for (const char* tokens : {"1", "100"}) {
    const std::vector<Prediction> pieces = predict(tokens);
    REQUIRE(pieces.size() == whole.size());
    for (size_t row = 0; row < whole.size(); ++row) {
      CAPTURE(tokens, row);
      CHECK(pieces[row].label == whole[row].label);
      REQUIRE(pieces[row].probabilities.size() == whole[row].probabilities.size());
      for (size_t i = 0; i < whole[row].probabilities.size(); ++i) {
        CHECK(std::abs(pieces[row].probabilities[i] - whole[row].probabilities[i]) <= kProbability);
      }
    }
  }
}

}  // namespace
}  // namespace bertft::test
