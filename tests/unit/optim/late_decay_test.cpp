// AdamW that leaves out rows of the word table which no gradient has touched, against AdamW that does not: bit for bit.
#include "optim/late_decay.h"

#include <ATen/ops/equal.h>
#include <ATen/ops/zeros.h>
#include <ATen/ops/zeros_like.h>

#include <algorithm>
#include <limits>
#include <vector>

#include "core/rng.h"
#include "optim/adamw.h"
#include "optim/flat_norm.h"
#include "tests/support/test.h"

namespace bertft {
namespace {

constexpr int64_t kRows = 203, kWidth = 24;
constexpr int kTable = 1;

// A table between two other parameters; the first of them shares its settings.
Layout table_layout() {
  return make_layout({{.name = "matrix", .shape = {7, 9}},
                      {.name = "table", .shape = {kRows, kWidth}, .is_lookup_table = true},
                      {.name = "norm", .shape = {5}, .has_weight_decay = false}},
                     kDefaultUnitElements);
}

struct Draw {
  uint64_t state;
  uint32_t below(uint32_t bound) {
    state = state * 6364136223846793005ull + 1442695040888963407ull;
    return static_cast<uint32_t>((state >> 33) % bound);
  }
};

at::Tensor random_values(const Layout& layout, Draw& draw, at::ScalarType type) {
  const at::Tensor values = at::zeros({layout.total}, at::kDouble);
  for (const LayoutEntry& entry : layout.entries) {
    for (int64_t i = 0; i < entry.size; ++i) {
      values.mutable_data_ptr<double>()[entry.offset + i] = static_cast<double>(draw.below(20001)) / 1e4 - 1.0;
    }
  }
  return values.to(type);
}

std::vector<int32_t> random_rows(Draw& draw) {
  std::vector<int32_t> rows;
  for (uint32_t i = draw.below(12); i > 0; --i)
    rows.push_back(static_cast<int32_t>(draw.below(draw.below(2) ? 20 : kRows)));
  std::sort(rows.begin(), rows.end());
  rows.erase(std::unique(rows.begin(), rows.end()), rows.end());
  return rows;
}

// Zero in the rows of the table that are not in `rows`.
at::Tensor random_gradient(const Layout& layout, const std::vector<int32_t>& rows, Draw& draw, at::ScalarType type) {
  const at::Tensor gradient = random_values(layout, draw, type);
  for (int32_t row = 0; row < kRows; ++row) {
    if (std::binary_search(rows.begin(), rows.end(), row)) continue;
    gradient.narrow(0, layout.entries[kTable].offset + row * kWidth, kWidth).zero_();
  }
  return gradient;
}

at::Tensor row_of(const at::Tensor& flat, const Layout& layout, int64_t row) {
  return flat.narrow(0, layout.entries[kTable].offset + row * kWidth, kWidth);
}

void copy_state(Optimizer& from, Optimizer& to) {
  std::vector<NamedState> source = from.state(), destination = to.state();
  for (size_t i = 0; i < source.size(); ++i) destination[i].tensor.copy_(source[i].tensor);
  to.set_applied_steps(from.applied_steps());
}

TEST_CASE("Rows that no gradient touched decay late and to the same bits") {
  const Layout layout = table_layout();
  for (const at::ScalarType type : {at::kFloat, at::kDouble}) {
    for (const double decay : {0.0, 0.01, 0.3}) {
      for (uint64_t seed = 1; seed <= 5; ++seed) {
        CAPTURE(c10::toString(type), decay, seed);
        Draw draw{seed};
        const at::Tensor weights = random_values(layout, draw, type), late = weights.clone();
        const OptimizerOptions options = {.weight_decay = decay, .layer_decay = 0.9};
        AdamW every(weights, layout, options), leaving(weights, layout, options);
        for (int step = 0; step < 60; ++step) {
          const std::vector<int32_t> rows = random_rows(draw);
          const at::Tensor gradient = random_gradient(layout, rows, draw, type);
          const double rate = step == 0 ? 0.0 : 0.01 / (1 + step % 7);
          every.step(weights, gradient, rate, 0.7);
          leaving.step(late, gradient, rate, 0.7, {.entry = kTable, .rows = rows});
          const std::vector<int32_t> read = random_rows(draw);
          leaving.settle_rows(late, read);
          for (const int32_t row : read) REQUIRE(at::equal(row_of(late, layout, row), row_of(weights, layout, row)));
          if (draw.below(15) == 0) leaving.settle(late);
          if (draw.below(15) == 0) copy_state(every, leaving);  // as a training that goes on
        }
        leaving.settle(late);
        REQUIRE(at::equal(late, weights));
        for (size_t i = 0; i < 2; ++i) REQUIRE(at::equal(every.state()[i].tensor, leaving.state()[i].tensor));
      }
    }
  }
}

TEST_CASE("Rows wait as long as nobody reads them") {
  const Layout layout = table_layout();
  Draw draw{3};
  const at::Tensor before = random_values(layout, draw, at::kFloat), weights = before.clone();
  AdamW optimizer(weights, layout, {.weight_decay = 0.1});
  const std::vector<int32_t> rows = {4, 5, 9};
  optimizer.step(weights, random_gradient(layout, rows, draw, at::kFloat), 0.01, 1.0, {.entry = kTable, .rows = rows});
  for (const int32_t row : rows) CHECK_FALSE(at::equal(row_of(weights, layout, row), row_of(before, layout, row)));
  CHECK(at::equal(row_of(weights, layout, 6), row_of(before, layout, 6)));
  optimizer.settle_rows(weights, std::vector<int32_t>{6, 6});
  CHECK(at::equal(row_of(weights, layout, 6), row_of(before, layout, 6).mul(static_cast<float>(1.0 - 0.01 * 0.1))));
}

TEST_CASE("Without knowledge of the rows, or with a scale that is no number, every row is updated") {
  const Layout layout = table_layout();
  for (const double scale : {1.0, std::numeric_limits<double>::quiet_NaN()}) {
    CAPTURE(scale);
    Draw draw{8};
    const at::Tensor weights = random_values(layout, draw, at::kFloat), late = weights.clone();
    AdamW every(weights, layout, {}), leaving(weights, layout, {});
    const std::vector<int32_t> rows = {1, 7};
    const TableRows touched = {.entry = kTable, .rows = rows};
    for (int step = 0; step < 6; ++step) {
      const at::Tensor gradient = random_gradient(layout, rows, draw, at::kFloat);
      const bool is_special = step == 3;
      every.step(weights, gradient, 0.01, is_special ? scale : 1.0);
      leaving.step(late, gradient, 0.01, is_special ? scale : 1.0, is_special && scale == 1.0 ? TableRows{} : touched);
    }
    leaving.settle(late);
    CHECK(at::equal(late.nan_to_num(7.0), weights.nan_to_num(7.0)));
    CHECK(weights.isnan().any().item<bool>() == !(scale == 1.0));
  }
}

TEST_CASE("The norm of a gradient needs only the rows that it touches") {
  const Layout layout = table_layout();
  Draw draw{5};
  for (int i = 0; i < 20; ++i) {
    const std::vector<int32_t> rows = random_rows(draw);
    const at::Tensor gradient = random_gradient(layout, rows, draw, at::kFloat);
    const TableRows touched = {.entry = kTable, .rows = rows};
    REQUIRE(gradient_norm(gradient, layout, touched).norm == gradient_norm(gradient, layout).norm);
    if (rows.empty()) continue;
    row_of(gradient, layout, rows.back())[3] = std::numeric_limits<float>::infinity();
    REQUIRE(gradient_norm(gradient, layout, touched).first_non_finite == kTable);
  }
}

}  // namespace
}  // namespace bertft
