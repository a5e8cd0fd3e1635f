// The gradient of every parameter of encoder and head, in double precision, against finite differences.
#include <ATen/ops/dot.h>

#include <cmath>

#include "model/encoder.h"
#include "tests/support/test.h"
#include "tests/unit/model/tiny_model.h"

namespace bertft {
namespace {

using test::fixed_weights;
using test::tiny_config;
using test::tiny_pass;
using test::TinyModel;

double inner(const at::Tensor& a, const at::Tensor& b) {
  return at::dot(a.detach().reshape(-1), b.reshape(-1)).item<double>();
}

// |numeric - analytic| / (1 + |analytic|) of one weight; `loss` is a function of all weights.
double error_at(const ParameterStore& store, int64_t place, const std::function<double()>& loss) {
  constexpr double kStep = 1e-5;
  double& weight = store.weights().mutable_data_ptr<double>()[place];
  const double original = weight;
  weight = original + kStep;
  const double above = loss();
  weight = original - kStep;
  const double below = loss();
  weight = original;
  const double analytic = store.gradients().const_data_ptr<double>()[place];
  return std::abs((above - below) / (2.0 * kStep) - analytic) / (1.0 + std::abs(analytic));
}

// A sample of elements of every parameter: both ends and some between.
void require_gradients_by_differences(const ParameterStore& store, const std::function<double()>& loss) {
  for (const LayoutEntry& entry : store.layout().entries) {
    for (const int64_t part : {0, 1, 3, 5, 8}) {
      const int64_t element = part * (entry.size - 1) / 8;
      INFO(entry.spec.name << "[" << element << "]");
      REQUIRE(error_at(store, entry.offset + element, loss) < 1e-7);
    }
  }
}

struct Scenario {
  const char* name;
  std::vector<test::TinyRow> rows;
  double dropout = 0.0;
  double attention_dropout = 0.0;
};

std::vector<Scenario> scenarios() {
  return {{"one sequence", {{0, 6}}},
          {"one token", {{0, 1}}},
          {"several sequences", {{3, 5}, {1, 2}, {7, 9}, {1, 4, 1}}},
          {"several sequences with dropout", {{3, 5}, {1, 2}, {7, 9}, {1, 4, 1}}, 0.3, 0.2}};
}

EncoderConfig config_of(const Scenario& scenario) {
  EncoderConfig config = tiny_config();
  config.dropout = scenario.dropout;
  config.attention_dropout = scenario.attention_dropout;
  return config;
}

TEST_CASE("Gradients through encoder, pooler and classifier equal finite differences") {
  for (const Scenario& scenario : scenarios()) {
    INFO(scenario.name);
    TinyModel model(config_of(scenario));
    const ForwardPassPtr pass = tiny_pass(scenario.rows, true);
    const at::Tensor logits = model.logits(pass);
    const at::Tensor weights = fixed_weights(logits.sizes(), 1);
    test::backward_once(model.store, logits, weights);
    require_gradients_by_differences(model.store, [&] { return inner(model.logits(pass), weights); });
  }
}

TEST_CASE("Gradients through the states of all tokens equal finite differences") {
  for (const Scenario& scenario : scenarios()) {
    INFO(scenario.name);
    TinyModel model(config_of(scenario));
    const ForwardPassPtr pass = tiny_pass(scenario.rows, true);
    const auto states = [&] { return model.encoder.forward(pass, EncoderOutput::kAllTokens); };
    const at::Tensor output = states();
    const at::Tensor weights = fixed_weights(output.sizes(), 2);
    test::backward_once(model.store, output, weights);
    require_gradients_by_differences(model.store, [&] { return inner(states(), weights); });
  }
}

TEST_CASE("Dropout changes gradients: the scenarios above do not pass by chance") {
  const std::vector<Scenario> all = scenarios();
  TinyModel plain(config_of(all[2]));
  TinyModel dropped(config_of(all[3]));
  const ForwardPassPtr pass = tiny_pass(all[2].rows, true);
  REQUIRE(test::distance(plain.logits(pass), dropped.logits(pass)) > 0.01);
  const ForwardPassPtr evaluation = tiny_pass(all[2].rows, false);
  REQUIRE(test::distance(plain.logits(evaluation), dropped.logits(evaluation)) == 0.0);
}

}  // namespace
}  // namespace bertft
