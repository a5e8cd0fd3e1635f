// The executable against transformers on small seeded models: logits, gradients and optimizer steps without dropout.
// The expected values were made by tests/golden/make_numerics.py, which knows nothing of the executable.
#include <algorithm>
#include <cmath>
#include <sstream>
#include <string>
#include <vector>

#include "tests/support/run_binary.h"
#include "tests/support/test.h"
#include "tests/support/tolerances.h"
#include "tests/system/golden_run.h"

namespace bertft::test {
namespace {

struct GradientTolerance {
  double relative, of_all;
};

constexpr GradientTolerance kFp32Gradient = {kGradientRelative, kGradientOfAll};
constexpr GradientTolerance kFp64Gradient = {kFp64GradientRelative, kFp64GradientOfAll};

// Element by element; `expected` is [rows, labels] in row order.
void check_logits(const std::vector<Values>& expected, const std::vector<Values>& got) {
  REQUIRE(got.size() == expected.size());
  for (size_t row = 0; row < expected.size(); ++row) {
    REQUIRE(got[row].size() == expected[row].size());
    for (size_t label = 0; label < expected[row].size(); ++label) {
      CAPTURE(row, label);
      CHECK(std::abs(got[row][label] - expected[row][label]) <=
            kLogitAbsolute + kLogitRelative * std::abs(expected[row][label]));
    }
  }
}

// The logits of a dumped step, put into the order of the table.
std::vector<Values> logits_by_row(const GoldenRun& run) {
  const std::vector<int64_t>& rows = run.trace().front().rows;
  const Values flat = run.logits();
  const size_t width = flat.size() / rows.size();
  std::vector<Values> logits(rows.size());
  for (size_t i = 0; i < rows.size(); ++i) {
    const auto begin = flat.begin() + static_cast<std::ptrdiff_t>(i * width);
    logits.at(static_cast<size_t>(rows[i])).assign(begin, begin + static_cast<std::ptrdiff_t>(width));
  }
  return logits;
}

void check_gradients(const NamedValues& expected, const NamedValues& got, const GradientTolerance& tolerance) {
  REQUIRE(got.size() == expected.size());
  const double whole = norm(expected);
  for (const auto& [name, gradient] : expected) {
    INFO(name);
    REQUIRE(got.contains(name));
    CHECK(distance(gradient, got.at(name)) <= tolerance.relative * norm(gradient) + tolerance.of_all * whole);
  }
}

// One step over all rows of the case, everything compared with the reference.
void check_whole_batch(GoldenRequest request, const GradientTolerance& tolerance) {
  request.dump_step = 1;
  request.changes = joined(whole_batch(), request.changes);
  const GoldenRun run(request);
  const auto& golden = expected_values()["cases"][request.data];
  const std::string key = golden["checkpoint"].get<std::string>() + " " + request.data;
  CHECK(run.trace().front().loss == Approx(golden["loss"].get<double>()).margin(kFp32StepLoss).epsilon(0));
  check_logits(expected_values()["logits"][key].get<std::vector<Values>>(), logits_by_row(run));
  check_gradients(read_tensors(golden_path("gradients_" + request.data + ".safetensors")), run.gradients(), tolerance);
}

void check_steps(const GoldenRequest& request, double loss_tolerance, double norm_tolerance) {
  const GoldenRun run(request);
  const auto& golden = expected_values()["cases"][request.data][request.precision];
  REQUIRE(golden["loss"].size() == run.trace().size());
  for (size_t i = 0; i < run.trace().size(); ++i) {
    const TraceLine& line = run.trace()[i];
    CAPTURE(line.step);
    CHECK(line.rows == golden["rows"][i].get<std::vector<int64_t>>());
    CHECK(std::abs(line.loss - golden["loss"][i].get<double>()) <= loss_tolerance);
    CHECK(line.grad_norm == Approx(golden["grad_norm"][i].get<double>()).epsilon(norm_tolerance));
    CHECK(line.lr == Approx(golden["lr"][i].get<double>()).epsilon(kTraceRelative));
  }
}

std::vector<std::string> cells_of(const std::string& line) {
  std::vector<std::string> cells;
  std::istringstream text(line);
  for (std::string cell; std::getline(text, cell, '\t');) cells.push_back(cell);
  return cells;
}

// What `predict --logits` says of one row.
struct Prediction {
  std::string label;
  Values logits;
};

std::vector<Prediction> read_predictions(const std::string& table) {
  std::istringstream lines(table);
  std::string line;
  std::getline(lines, line);
  const std::vector<std::string> header = cells_of(line);
  std::vector<Prediction> predictions;
  while (std::getline(lines, line)) {
    const std::vector<std::string> cells = cells_of(line);
    const auto cell = [&](const std::string& column) {
      return cells.at(static_cast<size_t>(std::find(header.begin(), header.end(), column) - header.begin()));
    };
    Prediction& prediction = predictions.emplace_back(Prediction{cell("prediction"), {}});
    for (const std::string label : expected_values()["labels"]) {
      prediction.logits.push_back(std::stod(cell("logit_" + label)));
    }
  }
  return predictions;
}

void check_labels(const std::vector<Values>& expected, const std::vector<Prediction>& predictions) {
  for (size_t row = 0; row < expected.size(); ++row) {
    CAPTURE(row);
    Values sorted = expected[row];
    std::sort(sorted.rbegin(), sorted.rend());
    if (sorted[0] - sorted[1] < kUndecidedMargin) continue;
    const auto best = std::max_element(expected[row].begin(), expected[row].end()) - expected[row].begin();
    CHECK(predictions[row].label == expected_values()["labels"][static_cast<size_t>(best)].get<std::string>());
  }
}

TEST_CASE("logits and gradients of single texts and of pairs equal the reference in fp32 with every kernel") {
  for (const Environment& choice : kernel_choices()) {
    for (const char* data : {"single", "pair"}) {
      INFO(to_text(choice) << data);
      check_whole_batch({.data = data, .environment = choice}, kFp32Gradient);
    }
  }
}

TEST_CASE("logits and gradients do not depend on how a batch is cut into micro-batches, against the reference") {
  for (const char* tokens : {"1", "100", "500"}) {
    INFO(tokens << " tokens");
    check_whole_batch({.data = "single", .changes = {std::string("train.micro_batch_tokens=") + tokens}},
                      kFp32Gradient);
  }
}

TEST_CASE("gradients in fp64 equal the reference to rounding") {
  check_whole_batch({.data = "pair", .precision = "fp64"}, kFp64Gradient);
  check_whole_batch({.data = "single", .precision = "fp64"}, kFp32Gradient);  // expected values are fp32 there
}

TEST_CASE("200 optimizer steps in fp64 follow the reference: rows, losses, rates and norms") {
  for (const char* data : {"single", "pair"}) {
    INFO(data);
    check_steps({.data = data, .precision = "fp64", .steps = 200}, kFp64StepLoss, kTraceRelative);
  }
}

TEST_CASE("20 optimizer steps in fp32 follow the reference with every kernel") {
  for (const Environment& choice : kernel_choices()) {
    for (const char* data : {"single", "pair"}) {
      INFO(to_text(choice) << data);
      check_steps({.data = data, .steps = 20, .environment = choice}, kFp32StepLoss, kFp32StepNormRelative);
    }
  }
}

TEST_CASE("predict gives the logits and labels of the reference for a folder that it has not written") {
  for (const char* checkpoint : {"bert_48", "bert_40"}) {
    for (const char* data : {"single", "pair"}) {
      const std::string key = std::string(checkpoint) + " " + data;
      INFO(key);
      const RunResult result =
          run_binary({"predict", "--model", golden_path(checkpoint), "--data",
                      golden_path("train_" + std::string(data) + ".tsv"), "--logits", "--digits", "9"});
      INFO(result.err);
      REQUIRE(result.exit_code == 0);
      const auto expected = expected_values()["logits"][key].get<std::vector<Values>>();
      const std::vector<Prediction> predictions = read_predictions(result.out);
      std::vector<Values> logits;
      for (const Prediction& prediction : predictions) logits.push_back(prediction.logits);
      check_logits(expected, logits);
      check_labels(expected, predictions);
    }
  }
}

}  // namespace
}  // namespace bertft::test
