// What must not change what the encoder computes: which states are asked for, how sequences are packed, how a batch is
// cut into micro-batches, the type of the numbers.
#include "model/encoder.h"

#include <ATen/core/grad_mode.h>
#include <ATen/ops/cat.h>
#include <ATen/ops/index_select.h>
#include <ATen/ops/zeros_like.h>

#include <set>

#include "core/error.h"
#include "tests/support/errors.h"
#include "tests/unit/model/tiny_model.h"

namespace bertft {
namespace {

using test::distance;
using test::fixed_weights;
using test::tiny_config;
using test::tiny_pass;
using test::TinyModel;
using test::TinyRow;
using test::weights_by_row;

const std::vector<TinyRow> kRows = {{3, 5}, {1, 2}, {7, 9}, {1, 4, 1}, {0, 1}, {4, 6}};

EncoderConfig config_with_dropout() {
  EncoderConfig config = tiny_config();
  config.dropout = 0.25;
  config.attention_dropout = 0.2;
  config.classifier_dropout = 0.3;
  return config;
}

// Gradients of sum(logits * weights by row), added up over passes: one optimizer step.
at::Tensor gradients_of(TinyModel& model, const std::vector<ForwardPassPtr>& passes) {
  ParameterStore& store = model.store;
  store.ledger().begin_step();
  for (size_t i = 0; i < passes.size(); ++i) {
    store.ledger().begin_micro_batch(i + 1 == passes.size());
    const at::Tensor logits = model.logits(passes[i]);
    logits.backward(weights_by_row(*passes[i], test::kTinyLabels, logits.scalar_type()));
  }
  store.finish_gradients();
  return store.gradients().clone();
}

TEST_CASE("The states of first tokens are the first rows of all states, in value and gradient") {
  TinyModel model(config_with_dropout());
  for (const bool is_training : {false, true}) {
    const ForwardPassPtr pass = tiny_pass(kRows, is_training);
    const at::Tensor weights = fixed_weights({static_cast<int64_t>(kRows.size()), 8}, 5);
    const at::Tensor first = model.encoder.forward(pass, EncoderOutput::kFirstTokens);
    test::backward_once(model.store, first, weights);
    const at::Tensor first_gradients = model.store.gradients().clone();
    const at::Tensor all = model.encoder.forward(pass, EncoderOutput::kAllTokens);
    REQUIRE(all.size(0) == 27);
    const at::Tensor rows = ops::first_rows(pass->sequences, at::kCPU);
    const at::Tensor selected = at::index_select(all, 0, rows);
    test::backward_once(model.store, selected, weights);
    REQUIRE(distance(first, selected) < 1e-13);
    REQUIRE(distance(first_gradients, model.store.gradients()) < 1e-12);
    REQUIRE(first_gradients.abs().max().item<double>() > 0.1);
  }
}

TEST_CASE("A packed batch computes what its sequences compute one by one, dropout included") {
  TinyModel model(config_with_dropout());
  const ForwardPassPtr together = tiny_pass(kRows, true);
  const at::Tensor packed = model.logits(together);
  std::vector<at::Tensor> alone;
  std::vector<ForwardPassPtr> passes;
  for (const TinyRow& row : kRows) {
    passes.push_back(tiny_pass({row}, true));
    alone.push_back(model.logits(passes.back()));
  }
  REQUIRE(distance(packed, at::cat(alone)) < 1e-13);
  REQUIRE(distance(gradients_of(model, {together}), gradients_of(model, passes)) < 1e-12);
}

TEST_CASE("The order of sequences in a batch changes nothing but the order of outputs") {
  TinyModel model(config_with_dropout());
  const std::vector<TinyRow> reversed(kRows.rbegin(), kRows.rend());
  const at::Tensor forwards = model.logits(tiny_pass(kRows, true));
  const at::Tensor backwards = model.logits(tiny_pass(reversed, true));
  REQUIRE(distance(forwards, backwards.flip(0)) < 1e-13);
}

TEST_CASE("Micro-batches add up to the gradient of the batch") {
  TinyModel model(config_with_dropout());
  const at::Tensor whole = gradients_of(model, {tiny_pass(kRows, true)});
  const auto part = [](size_t begin, size_t end) {
    return tiny_pass(
        {kRows.begin() + static_cast<std::ptrdiff_t>(begin), kRows.begin() + static_cast<std::ptrdiff_t>(end)}, true);
  };
  REQUIRE(distance(gradients_of(model, {part(0, 3), part(3, 6)}), whole) < 1e-12);
  REQUIRE(distance(gradients_of(model, {part(0, 1), part(1, 5), part(5, 6)}), whole) < 1e-12);
  // Nothing of an earlier step is left: not even rows of the word table that only it had touched.
  const at::Tensor one = gradients_of(model, {part(4, 5)});
  TinyModel fresh(config_with_dropout());
  REQUIRE(distance(one, gradients_of(fresh, {part(4, 5)})) == 0.0);
}

TEST_CASE("Units are announced in the order of the layout, each once, in the last micro-batch") {
  TinyModel model(tiny_config());
  std::vector<int> announced;
  model.store.ledger().on_unit_ready([&](int unit) { announced.push_back(unit); });
  gradients_of(model, {tiny_pass({kRows[0]}, true), tiny_pass({kRows[1]}, true)});
  std::vector<int> expected(model.store.layout().units.size());
  for (size_t unit = 0; unit < expected.size(); ++unit) expected[unit] = static_cast<int>(unit);
  REQUIRE(expected.size() > 10);
  REQUIRE(announced == expected);
}

TEST_CASE("Single precision computes the same to its rounding, dropout mask included") {
  TinyModel exact(config_with_dropout(), at::kDouble);
  TinyModel single(config_with_dropout(), at::kFloat);
  single.store.weights().copy_(exact.store.weights());
  exact.store.weights().copy_(single.store.weights());
  const ForwardPassPtr pass = tiny_pass(kRows, true);
  REQUIRE(distance(single.logits(pass), exact.logits(pass)) < 1e-5);
  const at::Tensor expected = gradients_of(exact, {pass});
  const at::Tensor computed = gradients_of(single, {pass});
  for (const LayoutEntry& entry : exact.store.layout().entries) {
    INFO(entry.spec.name);
    const auto part = [&](const at::Tensor& flat) { return flat.narrow(0, entry.offset, entry.size).to(at::kDouble); };
    const double error = part(computed).sub(part(expected)).norm().item<double>();
    REQUIRE(error <= 1e-5 * part(expected).norm().item<double>() + 1e-6);
  }
}

TEST_CASE("Without gradients nothing is recorded") {
  const at::NoGradGuard no_gradients;
  TinyModel model(tiny_config());
  REQUIRE_FALSE(model.logits(tiny_pass(kRows, false)).requires_grad());
}

TEST_CASE("Dropout keys name seed, step, row, part, layer and site, and nothing else") {
  const auto key = [](const TinyRow& row, int64_t step, uint64_t seed, int64_t layer, DropoutSite site) {
    auto pass = std::make_shared<ForwardPass>(*tiny_pass({{99, 3}, row}, true, step));
    pass->seed = seed;
    return pass->dropout(0.5, layer, site).keys.at(1);
  };
  const uint64_t base = key({3, 5, 0}, 1, 42, 0, DropoutSite::kHead);
  const std::set<uint64_t> all = {base,
                                  key({4, 5, 0}, 1, 42, 0, DropoutSite::kHead),
                                  key({3, 5, 1}, 1, 42, 0, DropoutSite::kHead),
                                  key({3, 5, 0}, 2, 42, 0, DropoutSite::kHead),
                                  key({3, 5, 0}, 1, 43, 0, DropoutSite::kHead),
                                  key({3, 5, 0}, 1, 42, 1, DropoutSite::kHead),
                                  key({3, 5, 0}, 1, 42, 0, DropoutSite::kAttentionOutput)};
  REQUIRE(all.size() == 7);
  REQUIRE(key({3, 8, 0}, 1, 42, 0, DropoutSite::kHead) == base);  // the length does not matter
  REQUIRE(tiny_pass({{3, 5, 0}}, true)->dropout(0.1, 0, DropoutSite::kHead).keys ==
          std::vector<uint64_t>{base});  // nor do probability and packing
}

TEST_CASE("Dropout is active in training only, and only with a rate") {
  REQUIRE(tiny_pass(kRows, true)->dropout(0.1, 0, DropoutSite::kHead).is_active());
  REQUIRE_FALSE(tiny_pass(kRows, true)->dropout(0.0, 0, DropoutSite::kHead).is_active());
  REQUIRE_FALSE(tiny_pass(kRows, false)->dropout(0.1, 0, DropoutSite::kHead).is_active());
}

TEST_CASE("Layers have masks of their own, and so have steps") {
  TinyModel model(config_with_dropout());
  const at::Tensor first = model.logits(tiny_pass(kRows, true, 1));
  REQUIRE(distance(first, model.logits(tiny_pass(kRows, true, 1))) == 0.0);
  REQUIRE(distance(first, model.logits(tiny_pass(kRows, true, 2))) > 0.01);
}

}  // namespace
}  // namespace bertft
