#include "ops/dropout.h"

#include <ATen/TensorOperators.h>
#include <ATen/core/LegacyTypeDispatch.h>
#include <ATen/ops/arange.h>
#include <ATen/ops/ge.h>
#include <ATen/ops/mul.h>
#include <ATen/ops/tensor.h>

#include "core/error.h"
#include "core/rng.h"
#include "ops/aten_path.h"

namespace bertft::ops {
namespace {

constexpr int64_t kLow32 = 0xFFFFFFFF;

int64_t low_word(uint64_t key) { return static_cast<int64_t>(key & 0xFFFFFFFFu); }
int64_t high_word(uint64_t key) { return static_cast<int64_t>(key >> 32); }

// counter_bits of core/rng.h in 64-bit integers: index, low and high hold 32-bit words.
at::Tensor counter_bits_of(const at::Tensor& index, const at::Tensor& low, const at::Tensor& high) {
  at::Tensor x = (index + low).bitwise_and(kLow32);
  x = x.bitwise_xor(x.bitwise_right_shift(16));
  x = x.mul(0x21F0AAAD).bitwise_and(kLow32);
  x = x.bitwise_xor(high);
  x = x.bitwise_xor(x.bitwise_right_shift(15));
  x = x.mul(0x735A2D97).bitwise_and(kLow32);
  return x.bitwise_xor(x.bitwise_right_shift(15));
}

at::Tensor factors_from_bits(const at::Tensor& bits, double probability, const at::Tensor& like) {
  const at::Tensor kept = bits.ge(static_cast<int64_t>(dropout_threshold(probability)));
  return kept.to(like.scalar_type()).mul(1.0 / (1.0 - probability));
}

}  // namespace

at::Tensor aten::counter_factors(const at::Tensor& index, uint64_t key, double probability, const at::Tensor& like) {
  const auto options = index.options();
  return factors_from_bits(counter_bits_of(index.bitwise_and(kLow32), at::tensor(low_word(key), options),
                                           at::tensor(high_word(key), options)),
                           probability, like);
}

at::Tensor dropout_factors(const Sequences& sequences, int64_t width, const Dropout& dropout, const at::Tensor& like) {
  check(dropout.is_active(), "dropout factors exist only when dropout is active");
  check(static_cast<int64_t>(dropout.keys.size()) == sequences.count(), "dropout needs one key per sequence");
  const at::AutoDispatchBelowADInplaceOrView no_autograd;
  std::vector<int64_t> first_index;  // per row: the index of its first element
  std::vector<int64_t> low, high;    // per row: the words of its sequence's key
  for (size_t s = 0; s < dropout.keys.size(); ++s) {
    for (int64_t row = 0; row < sequences.offsets[s + 1] - sequences.offsets[s]; ++row) {
      first_index.push_back(row * width);
      low.push_back(low_word(dropout.keys[s]));
      high.push_back(high_word(dropout.keys[s]));
    }
  }
  const auto column = [&](const std::vector<int64_t>& words) {
    return at::tensor(words, at::kLong).to(like.device()).unsqueeze(1);
  };
  const auto integers = like.options().dtype(at::kLong);
  const at::Tensor index = (column(first_index) + at::arange(width, integers)).bitwise_and(kLow32);
  return factors_from_bits(counter_bits_of(index, column(low), column(high)), dropout.probability, like);
}

at::Tensor dropout(const at::Tensor& x, const Sequences& sequences, const Dropout& settings) {
  if (!settings.is_active()) return x;
  check(x.dim() == 2 && x.size(0) == sequences.rows(), "dropout: x must have one row per token");
  return x * dropout_factors(sequences, x.size(1), settings, x);
}

}  // namespace bertft::ops
