// Parameters as views into the flat buffers, alone and side by side, and the end of a step's accumulation.
#include "model/parameter_store.h"

#include <ATen/ops/arange.h>
#include <ATen/ops/equal.h>
#include <ATen/ops/full.h>
#include <ATen/ops/zeros.h>

#include "core/error.h"
#include "tests/support/errors.h"

namespace bertft {
namespace {

using Catch::Contains;
using test::error_text;
using Shape = std::vector<int64_t>;

Layout small_layout() {
  return make_layout({{.name = "alone", .shape = {3, 5}},
                      {.name = "q", .shape = {3, 4}},
                      {.name = "k", .shape = {3, 4}, .continues_previous = true},
                      {.name = "v", .shape = {2, 4}, .continues_previous = true},
                      {.name = "word", .shape = {6, 4}, .is_lookup_table = true}},
                     1 << 20);
}

// Weights 0, 1, 2, ... so that places can be read off; gradients all 7.
ParameterStore small_store() {
  const Layout layout = small_layout();
  return ParameterStore(layout, at::arange(layout.total, at::kDouble), at::full({layout.total}, 7.0, at::kDouble));
}

TEST_CASE("A parameter is a view of its place in both buffers") {
  ParameterStore store = small_store();
  const Parameter alone = store.parameter("alone");
  REQUIRE(alone.value.sizes().vec() == Shape{3, 5});
  REQUIRE(alone.gradient.sizes().vec() == Shape{3, 5});
  REQUIRE(alone.entries == std::vector<int>{0});
  REQUIRE(alone.value[1][2].item<double>() == 7.0);  // row 1 of five, column 2
  at::Tensor gradient = alone.gradient;
  gradient.fill_(1.0);
  REQUIRE(store.gradients()[0].item<double>() == 1.0);
  REQUIRE(store.gradients()[14].item<double>() == 1.0);
  REQUIRE(store.gradients()[15].item<double>() == 7.0);
}

TEST_CASE("Neighbours act as one matrix") {
  ParameterStore store = small_store();
  const Parameter fused = store.fused({"q", "k", "v"});
  REQUIRE(fused.value.sizes().vec() == Shape{8, 4});
  REQUIRE(fused.entries == std::vector<int>{1, 2, 3});
  REQUIRE(at::equal(fused.value.narrow(0, 0, 3), store.parameter("q").value));
  REQUIRE(at::equal(fused.value.narrow(0, 3, 3), store.parameter("k").value));
  REQUIRE(at::equal(fused.value.narrow(0, 6, 2), store.parameter("v").value));
}

TEST_CASE("Names that are not there and parameters that are no neighbours are internal errors") {
  ParameterStore store = small_store();
  REQUIRE_THAT(error_text<InternalError>([&] { store.parameter("missing.weight"); }), Contains("missing.weight"));
  REQUIRE_THAT(error_text<InternalError>([&] { store.fused({"q", "v"}); }), Contains("side by side"));
  REQUIRE_THAT(error_text<InternalError>([&] { store.fused({"k", "q"}); }), Contains("side by side"));
  REQUIRE_THAT(error_text<InternalError>([&] { store.fused({"alone", "q"}); }), Contains("side by side"));
  const Layout layout = small_layout();
  error_text<InternalError>([&] { ParameterStore(layout, at::zeros({layout.total}), at::zeros({layout.total - 1})); });
  error_text<InternalError>([&] { ParameterStore(layout, at::zeros({1}), at::zeros({layout.total})); });
}

TEST_CASE("Finishing a step zeroes and names what got no gradient, and releases its units") {
  ParameterStore store = small_store();
  for (int entry = 0; entry < 5; ++entry) store.ledger().declare_use({entry});
  std::vector<int> announced;
  store.ledger().on_unit_ready([&](int unit) { announced.push_back(unit); });
  store.touched_word_rows().rows = {1, 4};
  store.ledger().begin_step();
  store.ledger().begin_micro_batch(true);
  for (const int entry : {1, 2, 3}) store.ledger().contributed({entry});
  REQUIRE(announced.empty());
  REQUIRE(store.finish_gradients() == std::vector<std::string>{"alone", "word"});
  REQUIRE(announced == std::vector<int>{0});
  REQUIRE(store.parameter("alone").gradient.abs().max().item<double>() == 0.0);
  REQUIRE(store.parameter("word").gradient.abs().max().item<double>() == 0.0);
  REQUIRE(store.touched_word_rows().rows.empty());
  REQUIRE(store.fused({"q", "k", "v"}).gradient.min().item<double>() == 7.0);
}

TEST_CASE("Finishing a complete step changes nothing") {
  ParameterStore store = small_store();
  store.touched_word_rows().rows = {1, 4};
  store.ledger().begin_step();
  for (int entry = 0; entry < 5; ++entry) store.ledger().contributed({entry});
  REQUIRE(store.finish_gradients().empty());
  REQUIRE(store.touched_word_rows().rows == std::vector<int32_t>{1, 4});
  REQUIRE(store.gradients().min().item<double>() == 7.0);
}

}  // namespace
}  // namespace bertft
