// The executable against the reference with every update rule, schedule, layer-wise rates, frozen parts and bf16.
// The expected values were made by tests/golden/make_variants.py, which knows nothing of the executable.
#include <cmath>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "core/files.h"
#include "tests/support/test.h"
#include "tests/support/tolerances.h"
#include "tests/system/golden_run.h"

namespace bertft::test {
namespace {

const nlohmann::json& variants() {
  static const nlohmann::json json = nlohmann::json::parse(read_file(golden_path("variants.json")));
  return json;
}

TEST_CASE("update rules, schedules, layer-wise rates and frozen parts follow the reference in fp64") {
  REQUIRE(variants()["fp64"].size() == 12);
  for (const auto& one : variants()["fp64"]) {
    INFO(one["name"]);
    const GoldenRun run({.data = "pair",
                         .precision = "fp64",
                         .steps = one["steps"],
                         .changes = one["changes"].get<std::vector<std::string>>()});
    for (size_t i = 0; i < run.trace().size(); ++i) {
      const TraceLine& line = run.trace()[i];
      CAPTURE(line.step);
      CHECK(std::abs(line.loss - one["loss"][i].get<double>()) <= kFp64StepLoss);
      CHECK(line.grad_norm == Approx(one["grad_norm"][i].get<double>()).epsilon(kTraceRelative));
      CHECK(line.lr == Approx(one["lr"][i].get<double>()).epsilon(kTraceRelative));
    }
  }
}

bool starts_with_any(const std::string& name, const std::vector<std::string>& beginnings) {
  for (const std::string& beginning : beginnings) {
    if (name.starts_with(beginning)) return true;
  }
  return false;
}

TEST_CASE("frozen parameters have no gradient and keep their bits, and the others have the gradients that they had") {
  struct Case {
    const char* freeze;
    std::vector<std::string> frozen;
  };
  const std::vector<Case> cases = {
      {"embeddings", {"bert.embeddings."}},
      {"1", {"bert.embeddings.", "bert.encoder.layer.0."}},
      {"2", {"bert.embeddings.", "bert.encoder.layer.0.", "bert.encoder.layer.1."}},
      {"3", {"bert.embeddings.", "bert.encoder."}},
  };
  const NamedValues start = read_tensors(golden_path("bert_48/model.safetensors"));
  const NamedValues gradients = read_tensors(golden_path("gradients_single.safetensors"));
  for (const Case& c : cases) {
    INFO("model.freeze: " << c.freeze);
    const GoldenRun run(
        {.data = "single",
         .steps = 2,
         .dump_step = 1,
         .changes = joined(whole_batch(), {std::string("model.freeze=") + c.freeze, "schedule.warmup_ratio=0"})});
    const NamedValues got = run.gradients();
    const NamedValues weights = run.weights();
    for (const auto& [name, expected] : gradients) {
      INFO(name);
      const bool is_frozen = starts_with_any(name, c.frozen);
      REQUIRE(got.contains(name) == !is_frozen);
      CHECK((weights.at(name) == start.at(name)) == is_frozen);
      if (is_frozen) continue;
      CHECK(distance(expected, got.at(name)) <= kGradientRelative * norm(expected) + kGradientOfAll * norm(gradients));
    }
  }
}

TEST_CASE("bf16 equals a rendering of the reference that rounds the inputs of its products, with every kernel") {
  const auto& golden = variants()["bf16"];
  for (const Environment& choice : kernel_choices()) {
    INFO(to_text(choice));
    const GoldenRun run({.data = "single",
                         .precision = "bf16",
                         .steps = 20,
                         .changes = {"optimizer.learning_rate=" + golden["learning_rate"].dump()},
                         .environment = choice});
    double squares = 0.0;
    for (size_t i = 0; i < run.trace().size(); ++i) {
      const double difference = run.trace()[i].loss - golden["loss"][i].get<double>();
      squares += difference * difference;
    }
    // Much nearer to the rendering than fp32 is.
    const double loss_distance = std::sqrt(squares / static_cast<double>(run.trace().size()));
    CHECK(kBf16LossShare * golden["unrounded_loss_rms"].get<double>() >= loss_distance);
    const GoldenRun whole({.data = "single",
                           .precision = "bf16",
                           .steps = 1,
                           .dump_step = 1,
                           .changes = whole_batch(),
                           .environment = choice});
    const Values flat = whole.logits();
    const std::vector<int64_t>& rows = whole.trace().front().rows;
    const size_t width = flat.size() / rows.size();
    Values expected;
    for (const int64_t row : rows) {
      for (size_t label = 0; label < width; ++label) {
        expected.push_back(golden["logits"][static_cast<size_t>(row)][label].get<double>());
      }
    }
    CHECK(distance(flat, expected) <= kSpreads * golden["spread"]["logits"].get<double>() * norm(expected));
    // Not fp32 by another name, and not far from it.
    const auto& full = expected_values()["logits"]["bert_48 single"];
    Values exact;
    for (const int64_t row : rows) {
      for (size_t label = 0; label < width; ++label) {
        exact.push_back(full[static_cast<size_t>(row)][label].get<double>());
      }
    }
    CHECK(distance(flat, exact) > 2 * distance(flat, expected));
    CHECK(distance(flat, exact) <= kBf16FromFp32 * norm(exact));
  }
}

}  // namespace
}  // namespace bertft::test
