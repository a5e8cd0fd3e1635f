// LayerNorm with what surrounds it in a BERT encoder: bias, dropout and residual before it, or the sum of embeddings
// before and dropout behind. Each row is read from memory once.
#include "ops/kernels/level_kernels.h"
#include "ops/kernels/vector_math.h"

namespace bertft::ops::BERTFT_KERNEL_LEVEL {
namespace {

// The dropout factors of the elements of one row.
struct RowDropout {
  CounterKey key;
  Word first_index;  // of the elements of the row's first vector
  Word threshold;
  Float scale;
};

BERTFT_INLINE Float dropped(Float x, const RowDropout& row, int64_t column) {
  const Word index = row.first_index + broadcast(static_cast<uint32_t>(column));
  return select(is_kept(row.key, index, row.threshold), x * row.scale, Float{});
}

// Walks rows in ascending order and finds the sequence of each.
struct RowWalk {
  RowRanges ranges;
  int64_t sequence;
};

BERTFT_INLINE RowDropout enter_row(RowWalk& walk, const DropoutStream& dropout, int64_t row, int64_t width) {
  while (row >= walk.ranges.offsets[walk.sequence + 1]) ++walk.sequence;
  const int64_t row_in_sequence = row - walk.ranges.offsets[walk.sequence];
  const auto index = static_cast<uint32_t>(row_in_sequence) * static_cast<uint32_t>(width);
  return {counter_key(dropout.keys[walk.sequence]), iota() + broadcast(index), broadcast(dropout.threshold),
          broadcast(dropout.scale)};
}

int64_t count_blocks(int64_t rows) { return (rows + kRowsPerBlock - 1) / kRowsPerBlock; }

int64_t block_end(int64_t block, int64_t rows) {
  const int64_t end = (block + 1) * kRowsPerBlock;
  return end < rows ? end : rows;
}

// Mean and 1 / deviation of a row.
struct RowStatistics {
  float mean, rstd;
};

RowStatistics row_statistics(const float* x, float total, int64_t width, double epsilon) {
  const float mean = total / static_cast<float>(width);
  Float squares{};
  for_each_vector(width, [&](int64_t c, auto lanes) BERTFT_INLINE_BODY {
    const Float centered = masked(load(x + c, lanes) - broadcast(mean), lanes);
    squares = multiply_add(centered, centered, squares);
  });
  const double variance = static_cast<double>(sum_of_lanes(squares)) / static_cast<double>(width);
  return {mean, static_cast<float>(1.0 / __builtin_sqrt(variance + epsilon))};
}

// Normalizes row `row` of call.sum, whose elements add up to `total`; factor(c, y) has the last word on the output.
template <typename Factor>
BERTFT_INLINE void normalize_row(const NormForward& call, int64_t row, float total, const Factor& factor) {
  const float* sum = call.sum.data + row * call.sum.stride;
  float* output = call.output.data + row * call.output.stride;
  const RowStatistics statistics = row_statistics(sum, total, call.width, call.epsilon);
  call.mean[row] = statistics.mean;
  call.rstd[row] = statistics.rstd;
  const Float mean = broadcast(statistics.mean), rstd = broadcast(statistics.rstd);
  for_each_vector(call.width, [&](int64_t c, auto lanes) BERTFT_INLINE_BODY {
    const Float normalized = (load(sum + c, lanes) - mean) * rstd;
    const Float y = multiply_add(normalized, load(call.weight + c, lanes), load(call.bias + c, lanes));
    store(output + c, factor(y, c), lanes);
  });
}

template <bool kDropout>
void residual_norm_rows(const ResidualNormForward& call, int64_t begin, int64_t end) {
  const NormForward& norm = call.norm;
  RowWalk walk{norm.ranges, 0};
  RowDropout dropout{};
  for (int64_t row = begin; row < end; ++row) {
    if constexpr (kDropout) dropout = enter_row(walk, norm.dropout, row, norm.width);
    const float* x = call.x.data + row * call.x.stride;
    const float* residual = call.residual.data + row * call.residual.stride;
    float* sum = norm.sum.data + row * norm.sum.stride;
    Float total{};
    for_each_vector(norm.width, [&](int64_t c, auto lanes) BERTFT_INLINE_BODY {
      Float branch = load(x + c, lanes) + load(call.bias + c, lanes);
      if constexpr (kDropout) branch = dropped(branch, dropout, c);
      const Float s = branch + load(residual + c, lanes);
      store(sum + c, s, lanes);
      total += s;
    });
    normalize_row(norm, row, sum_of_lanes(total), [](Float y, int64_t) BERTFT_INLINE_BODY { return y; });
  }
}

template <bool kDropout>
void embedding_norm_rows(const EmbeddingForward& call, int64_t begin, int64_t end) {
  const NormForward& norm = call.norm;
  RowWalk walk{norm.ranges, 0};
  RowDropout dropout{};
  for (int64_t row = begin; row < end; ++row) {
    if constexpr (kDropout) dropout = enter_row(walk, norm.dropout, row, norm.width);
    const float* word = call.word.data + call.word_ids[row] * call.word.stride;
    const float* position = call.position.data + call.position_ids[row] * call.position.stride;
    const float* token_type = call.token_type.data + call.token_type_ids[row] * call.token_type.stride;
    float* sum = norm.sum.data + row * norm.sum.stride;
    Float total{};
    for_each_vector(norm.width, [&](int64_t c, auto lanes) BERTFT_INLINE_BODY {
      const Float s = load(word + c, lanes) + load(position + c, lanes) + load(token_type + c, lanes);
      store(sum + c, s, lanes);
      total += s;
    });
    normalize_row(norm, row, sum_of_lanes(total), [&](Float y, int64_t c) BERTFT_INLINE_BODY {
      if constexpr (kDropout) return dropped(y, dropout, c);
      return y;
    });
  }
}

// Partial column sums of one block of rows, [3, width]: of weight, bias and added bias gradients.
struct BlockSums {
  float *weight, *bias, *added_bias;
};

BlockSums clear_block_sums(const NormBackward& call, int64_t block) {
  float* start = call.partial_sums + block * 3 * call.width;
  for_each_vector(3 * call.width, [&](int64_t c, auto lanes) BERTFT_INLINE_BODY { store(start + c, Float{}, lanes); });
  return {start, start + call.width, start + 2 * call.width};
}

template <typename Lanes>
BERTFT_INLINE void add_to(float* sums, Float x, Lanes lanes) {
  store(sums, load(sums, lanes) + x, lanes);
}

// The two sums over a row that the gradient of LayerNorm needs, divided by the width.
struct RowMeans {
  float gradient;  // of dy weight
  float along;     // of dy weight normalized
};

// upstream(c, lanes) is the gradient of the norm's output.
template <typename Upstream>
BERTFT_INLINE RowMeans reduce_row(const NormBackward& call, int64_t row, const BlockSums& sums,
                                  const Upstream& upstream) {
  const float* x = call.sum.data + row * call.sum.stride;
  const Float mean = broadcast(call.mean[row]), rstd = broadcast(call.rstd[row]);
  Float gradient{}, along{};
  for_each_vector(call.width, [&](int64_t c, auto lanes) BERTFT_INLINE_BODY {
    const Float dy = upstream(c, lanes);
    const Float normalized = (load(x + c, lanes) - mean) * rstd;
    add_to(sums.weight + c, dy * normalized, lanes);
    add_to(sums.bias + c, dy, lanes);
    const Float scaled = dy * load(call.weight + c, lanes);
    gradient += scaled;
    along = multiply_add(scaled, normalized, along);
  });
  const auto width = static_cast<float>(call.width);
  return {sum_of_lanes(gradient) / width, sum_of_lanes(along) / width};
}

// Hands the gradient of the norm's input to use(c, lanes, gradient).
template <typename Upstream, typename Use>
BERTFT_INLINE void gradient_row(const NormBackward& call, int64_t row, const RowMeans& means, const Upstream& upstream,
                                const Use& use) {
  const float* x = call.sum.data + row * call.sum.stride;
  const Float mean = broadcast(call.mean[row]), rstd = broadcast(call.rstd[row]);
  const Float mean_gradient = broadcast(means.gradient), mean_along = broadcast(means.along);
  for_each_vector(call.width, [&](int64_t c, auto lanes) BERTFT_INLINE_BODY {
    const Float scaled = upstream(c, lanes) * load(call.weight + c, lanes);
    const Float normalized = (load(x + c, lanes) - mean) * rstd;
    use(c, lanes, (scaled - mean_gradient - normalized * mean_along) * rstd);
  });
}

template <bool kDropout>
void residual_norm_backward_block(const ResidualNormBackward& call, int64_t block) {
  const NormBackward& norm = call.norm;
  const BlockSums sums = clear_block_sums(norm, block);
  RowWalk walk{norm.ranges, 0};
  RowDropout dropout{};
  for (int64_t row = block * kRowsPerBlock; row < block_end(block, norm.rows); ++row) {
    if constexpr (kDropout) dropout = enter_row(walk, norm.dropout, row, norm.width);
    const float* dy = norm.output_gradient.data + row * norm.output_gradient.stride;
    float* d_sum = norm.sum_gradient.data + row * norm.sum_gradient.stride;
    float* dx = call.x_gradient.data + row * call.x_gradient.stride;
    const auto upstream = [&](int64_t c, auto lanes) BERTFT_INLINE_BODY { return load(dy + c, lanes); };
    const RowMeans means = reduce_row(norm, row, sums, upstream);
    gradient_row(norm, row, means, upstream, [&](int64_t c, auto lanes, Float gradient) BERTFT_INLINE_BODY {
      store(d_sum + c, gradient, lanes);
      if constexpr (kDropout) gradient = dropped(gradient, dropout, c);
      store(dx + c, gradient, lanes);
      add_to(sums.added_bias + c, gradient, lanes);
    });
  }
}

template <bool kDropout>
void embedding_norm_backward_block(const NormBackward& call, int64_t block) {
  const BlockSums sums = clear_block_sums(call, block);
  RowWalk walk{call.ranges, 0};
  RowDropout dropout{};
  for (int64_t row = block * kRowsPerBlock; row < block_end(block, call.rows); ++row) {
    if constexpr (kDropout) dropout = enter_row(walk, call.dropout, row, call.width);
    const float* dy = call.output_gradient.data + row * call.output_gradient.stride;
    float* d_sum = call.sum_gradient.data + row * call.sum_gradient.stride;
    const auto upstream = [&](int64_t c, auto lanes) BERTFT_INLINE_BODY {
      if constexpr (kDropout) return dropped(load(dy + c, lanes), dropout, c);
      return load(dy + c, lanes);
    };
    const RowMeans means = reduce_row(call, row, sums, upstream);
    gradient_row(call, row, means, upstream,
                 [&](int64_t c, auto lanes, Float gradient) BERTFT_INLINE_BODY { store(d_sum + c, gradient, lanes); });
  }
}

// gradient = the blocks' sums, added in the order of the blocks, + beta gradient; `which` of the three.
void add_blocks(const NormBackward& call, int64_t which, float* gradient) {
  const int64_t blocks = count_blocks(call.rows);
  const float* first = call.partial_sums + which * call.width;
  for_each_vector(call.width, [&](int64_t c, auto lanes) BERTFT_INLINE_BODY {
    Float total{};
    for (int64_t block = 0; block < blocks; ++block) {
      total += load(first + block * 3 * call.width + c, lanes);
    }
    if (call.beta != 0.0f) total = multiply_add(broadcast(call.beta), load(gradient + c, lanes), total);
    store(gradient + c, total, lanes);
  });
}

void add_row(int64_t width, const float* from, float* to) {
  for_each_vector(width,
                  [&](int64_t c, auto lanes) BERTFT_INLINE_BODY { add_to(to + c, load(from + c, lanes), lanes); });
}

}  // namespace

void residual_norm(const ResidualNormForward& call) {
  const int64_t rows = call.norm.rows;
#pragma omp parallel for schedule(static)
  for (int64_t block = 0; block < count_blocks(rows); ++block) {
    if (call.norm.dropout.keys != nullptr) {
      residual_norm_rows<true>(call, block * kRowsPerBlock, block_end(block, rows));
    } else {
      residual_norm_rows<false>(call, block * kRowsPerBlock, block_end(block, rows));
    }
  }
}

void residual_norm_backward(const ResidualNormBackward& call) {
#pragma omp parallel for schedule(static)
  for (int64_t block = 0; block < count_blocks(call.norm.rows); ++block) {
    if (call.norm.dropout.keys != nullptr) {
      residual_norm_backward_block<true>(call, block);
    } else {
      residual_norm_backward_block<false>(call, block);
    }
  }
  add_blocks(call.norm, 0, call.norm.weight_gradient);
  add_blocks(call.norm, 1, call.norm.bias_gradient);
  add_blocks(call.norm, 2, call.added_bias_gradient);
}

void embedding_norm(const EmbeddingForward& call) {
  const int64_t rows = call.norm.rows;
#pragma omp parallel for schedule(static)
  for (int64_t block = 0; block < count_blocks(rows); ++block) {
    if (call.norm.dropout.keys != nullptr) {
      embedding_norm_rows<true>(call, block * kRowsPerBlock, block_end(block, rows));
    } else {
      embedding_norm_rows<false>(call, block * kRowsPerBlock, block_end(block, rows));
    }
  }
}

void embedding_norm_backward(const NormBackward& call) {
#pragma omp parallel for schedule(static)
  for (int64_t block = 0; block < count_blocks(call.rows); ++block) {
    if (call.dropout.keys != nullptr) {
      embedding_norm_backward_block<true>(call, block);
    } else {
      embedding_norm_backward_block<false>(call, block);
    }
  }
  add_blocks(call, 0, call.weight_gradient);
  add_blocks(call, 1, call.bias_gradient);
}

void scatter_rows(const RowScatter& call) {
  constexpr int64_t kColumns = 64;  // threads share the columns, so each row's sums keep the order of the tokens
  const int64_t chunks = (call.width + kColumns - 1) / kColumns;
#pragma omp parallel for schedule(static)
  for (int64_t chunk = 0; chunk < chunks; ++chunk) {
    const int64_t begin = chunk * kColumns;
    const int64_t width = begin + kColumns < call.width ? kColumns : call.width - begin;
    for (int64_t row = 0; row < call.rows; ++row) {
      add_row(width, call.gradient.data + row * call.gradient.stride + begin,
              call.table.data + call.ids[row] * call.table.stride + begin);
    }
  }
}

}  // namespace bertft::ops::BERTFT_KERNEL_LEVEL
