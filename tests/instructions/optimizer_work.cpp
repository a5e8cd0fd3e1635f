// One pass of the optimizer over flat buffers: the gradient's norm, AdamW, and both parts of LAMB.
#include <memory>

#include "optim/kernels/adamw_update.h"
#include "optim/kernels/lamb_block.h"
#include "optim/kernels/square_sum.h"
#include "tests/instructions/kernel_data.h"
#include "tests/instructions/workloads.h"

namespace bertft {
namespace {

struct Flat {
  static constexpr int64_t kElements = 3 * (1 << 15) + 77;  // whole blocks of work and a part of one

  Flat() : weights(instructions::random_values(kElements, 1)), gradients(instructions::random_values(kElements, 2)) {
    for (size_t i = 0; i < weights.size(); ++i) {
      first_moment.push_back(0.1F * gradients[i]);
      second_moment.push_back(0.001F * gradients[i] * gradients[i]);
    }
  }

  std::vector<float> weights, gradients, first_moment, second_moment;
  double result = 0.0;
};

std::function<void()> norm_work() {
  const auto flat = std::make_shared<Flat>();
  return [flat] { flat->result = square_sum(flat->gradients.data(), Flat::kElements); };
}

std::function<void()> adamw_work() {
  const auto flat = std::make_shared<Flat>();
  return [flat] {
    const AdamWConstants<float> constants = {0.999F, 1e-8F, 0.1F, 0.001F, 0.5F, 1e-4F, 0.03F, 0.9999F};
    adamw_update(flat->weights.data(), flat->gradients.data(), flat->first_moment.data(), flat->second_moment.data(),
                 Flat::kElements, constants);
  };
}

// AdamW for the rows of a table of words that a step has touched: single ones, and neighbours.
std::function<void()> adamw_rows_work() {
  const auto flat = std::make_shared<Flat>();
  const auto rows = std::make_shared<std::vector<int32_t>>();
  const auto count = static_cast<int32_t>(Flat::kElements / instructions::kWidth);
  for (int32_t row = 0; row < count; ++row) {
    if (row % 3 == 0 || row % 8 < 2) rows->push_back(row);
  }
  return [flat, rows] {
    const AdamWConstants<float> constants = {0.999F, 1e-8F, 0.1F, 0.001F, 0.5F, 1e-4F, 0.03F, 0.9999F};
    adamw_update_rows(flat->weights.data(), flat->gradients.data(), flat->first_moment.data(),
                      flat->second_moment.data(), instructions::kWidth, *rows, constants);
  };
}

std::function<void()> lamb_work() {
  const auto flat = std::make_shared<Flat>();
  return [flat] {
    const LambConstants<float> constants = {0.999F, 1e-6F, 0.1F, 0.001F, 0.5F, 0.01F, 0.1F, 0.03F};
    flat->result = lamb_moments(flat->weights.data(), flat->gradients.data(), flat->first_moment.data(),
                                flat->second_moment.data(), Flat::kElements, constants)
                       .directions;
    lamb_move(flat->weights.data(), flat->first_moment.data(), flat->second_moment.data(), Flat::kElements, 1e-4F,
              constants);
  };
}

}  // namespace

std::vector<Workload> optimizer_workloads() {
  return {
      {"optimizer_norm", [] { return norm_work(); }},
      {"optimizer_adamw", [] { return adamw_work(); }},
      {"optimizer_adamw_rows", [] { return adamw_rows_work(); }},
      {"optimizer_lamb", [] { return lamb_work(); }},
  };
}

}  // namespace bertft
