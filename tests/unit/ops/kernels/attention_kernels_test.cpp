// The attention kernels against plain loops in double precision.
#include <omp.h>

#include <cmath>
#include <cstdlib>
#include <memory>

#include "tests/support/test.h"
#include "tests/unit/ops/kernels/kernel_testing.h"

namespace bertft::ops::test {
namespace {

struct AttentionCase {
  std::vector<int32_t> lengths;
  int64_t heads, head_dim;
  bool first_query_only, drops;
};

using Rows = std::vector<double>;  // [T, H]

// Everything that the kernels read, and what they should write.
struct AttentionSetting {
  explicit AttentionSetting(const AttentionCase& shape_)
      : shape(shape_), offsets(offsets_of(shape.lengths)), rows(offsets.back()), width(shape.heads * shape.head_dim) {
    for (size_t s = 0; s < shape.lengths.size(); ++s) {
      keys.push_back(s * 104729 + 5);
    }
    dropout = stream_of(keys, shape.drops);
    query_rows = shape.first_query_only ? static_cast<int64_t>(shape.lengths.size()) : rows;
    query = random_values(query_rows * width, 1), key = random_values(rows * width, 2);
    value = random_values(rows * width, 3), upstream = random_values(query_rows * width, 4);
    bias = random_values(width, 5);
    const auto biased = [&](const std::vector<float>& x) {
      Rows result(x.begin(), x.end());
      for (size_t i = 0; i < result.size(); ++i) {
        result[i] += bias[i % static_cast<size_t>(width)];
      }
      return result;
    };
    q = biased(query), k = biased(key), v = biased(value);
    context.resize(q.size()), d_q.resize(q.size()), d_k.resize(k.size()), d_v.resize(v.size());
    for (size_t s = 0; s < shape.lengths.size(); ++s) {
      for (int64_t head = 0; head < shape.heads; ++head) {
        expect(static_cast<int64_t>(s), head);
      }
    }
  }

  size_t at(int64_t row, int64_t head, int64_t d) const {
    return static_cast<size_t>(row * width + head * shape.head_dim + d);
  }

  void expect(int64_t s, int64_t head) {
    const int64_t begin = offsets[static_cast<size_t>(s)], n = shape.lengths[static_cast<size_t>(s)];
    const double scale = 1.0 / std::sqrt(static_cast<double>(shape.head_dim));
    for (int64_t i = 0; i < (shape.first_query_only ? 1 : n); ++i) {
      const int64_t row = shape.first_query_only ? s : begin + i;
      const auto n_size = static_cast<size_t>(n);
      std::vector<double> probability(n_size), factor(n_size), d_probability(n_size);
      double sum = 0.0, row_sum = 0.0;
      for (int64_t j = 0; j < n; ++j) {
        double score = 0.0, d = 0.0;
        for (int64_t c = 0; c < shape.head_dim; ++c) {
          score += q[at(row, head, c)] * k[at(begin + j, head, c)];
          d += static_cast<double>(upstream[at(row, head, c)]) * v[at(begin + j, head, c)];
        }
        const auto index = static_cast<size_t>(j);
        factor[index] = factor_of(dropout, s, (head * n + i) * n + j);
        probability[index] = std::exp(scale * score);
        d_probability[index] = d * factor[index];
        sum += probability[index];
      }
      for (size_t j = 0; j < n_size; ++j) {
        probability[j] /= sum;
        row_sum += probability[j] * d_probability[j];
      }
      for (int64_t j = 0; j < n; ++j) {
        const auto index = static_cast<size_t>(j);
        const double kept = probability[index] * factor[index];
        const double d_score = probability[index] * (d_probability[index] - row_sum) * scale;
        for (int64_t c = 0; c < shape.head_dim; ++c) {
          context[at(row, head, c)] += kept * v[at(begin + j, head, c)];
          d_v[at(begin + j, head, c)] += kept * upstream[at(row, head, c)];
          d_q[at(row, head, c)] += d_score * k[at(begin + j, head, c)];
          d_k[at(begin + j, head, c)] += d_score * q[at(row, head, c)];
        }
      }
    }
  }

  AttentionCase shape;
  std::vector<int32_t> offsets;
  int64_t rows, width, query_rows = 0;
  std::vector<uint64_t> keys;
  DropoutStream dropout{};
  std::vector<float> query, key, value, upstream, bias;
  Rows q, k, v, context, d_q, d_k, d_v;
};

std::vector<AttentionCase> attention_cases() {
  std::vector<AttentionCase> cases;
  for (const bool first : {false, true}) {
    for (const bool drops : {false, true}) {
      cases.push_back({{1}, 1, 8, first, drops});
      cases.push_back({{2, 13, 1, 16, 17}, 3, 32, first, drops});
      cases.push_back({{5, 33}, 2, 20, first, drops});
      cases.push_back({{70}, 2, 64, first, drops});
      cases.push_back({{9, 4}, 1, 7, first, drops});
      cases.push_back({{3}, 1, 100, first, drops});
    }
  }
  return cases;
}

void check_attention(const AttentionSetting& s, const CpuKernels& kernels) {
  int64_t longest = 0;
  for (const int32_t length : s.shape.lengths) {
    longest = std::max<int64_t>(longest, length);
  }
  const int64_t floats = attention_scratch_floats(longest, s.shape.head_dim);
  const std::unique_ptr<float, decltype(&std::free)> scratch(
      static_cast<float*>(std::aligned_alloc(64, static_cast<size_t>(floats * omp_get_max_threads()) * sizeof(float))),
      &std::free);
  const AttentionShape shape = {{s.offsets.data(), static_cast<int64_t>(s.shape.lengths.size())},
                                s.shape.heads,
                                s.shape.head_dim,
                                s.query_rows,
                                s.shape.first_query_only,
                                s.dropout,
                                scratch.get(),
                                floats};
  std::vector<float> query = s.query, key = s.key, value = s.value, context(query.size());
  std::vector<float> log_sums(static_cast<size_t>(s.shape.heads * s.query_rows));
  kernels.attention({shape,
                     {query.data(), s.width},
                     {key.data(), s.width},
                     {value.data(), s.width},
                     s.bias.data(),
                     s.bias.data(),
                     s.bias.data(),
                     {context.data(), s.width},
                     log_sums.data()});
  CHECK(distance(key, s.k) < 1e-6);
  CHECK(distance(context, s.context) < 2e-6);
  std::vector<float> d_query(query.size(), NAN), d_key(key.size(), NAN), d_value(key.size(), NAN);
  kernels.attention_backward({shape,
                              {query.data(), s.width},
                              {key.data(), s.width},
                              {value.data(), s.width},
                              {context.data(), s.width},
                              {s.upstream.data(), s.width},
                              log_sums.data(),
                              {d_query.data(), s.width},
                              {d_key.data(), s.width},
                              {d_value.data(), s.width}});
  // Probabilities are recomputed from rounded logarithms, whose error grows with the scores.
  CHECK(distance(d_query, s.d_q) < 1e-5);
  CHECK(distance(d_key, s.d_k) < 1e-5);
  CHECK(distance(d_value, s.d_v) < 1e-5);
}

}  // namespace

TEST_CASE("attention kernels agree with plain loops") {
  for (const AttentionCase& shape : attention_cases()) {
    const AttentionSetting setting(shape);
    for_each_level([&](const CpuKernels& kernels, InstructionSet level) {
      CAPTURE(instruction_set_name(level), shape.lengths, shape.head_dim, shape.first_query_only, shape.drops);
      check_attention(setting, kernels);
    });
  }
}

}  // namespace bertft::ops::test
