// Attention of packed sequences: one task per sequence and head, whose keys and values fit the caches.
#include <omp.h>

#include "ops/kernels/level_kernels.h"
#include "ops/kernels/tile_product.h"
#include "ops/kernels/vector_math.h"

namespace bertft::ops::BERTFT_KERNEL_LEVEL {
namespace {

// One sequence and head: where its rows and columns lie.
struct Task {
  int64_t sequence, head;
  int64_t length, first_row;     // keys and values
  int64_t queries, first_query;  // rows of query, context and log_sums
  int64_t padded;                // length rounded up to whole vectors
  int64_t column, head_dim;
  float scale;  // 1 / sqrt(head_dim)
};

Task task_of(const AttentionShape& shape, int64_t index) {
  Task task{};
  task.sequence = index / shape.heads;
  task.head = index % shape.heads;
  task.first_row = shape.ranges.offsets[task.sequence];
  task.length = shape.ranges.offsets[task.sequence + 1] - task.first_row;
  task.queries = shape.first_query_only ? 1 : task.length;
  task.first_query = shape.first_query_only ? task.sequence : task.first_row;
  task.padded = (task.length + kWidth - 1) / kWidth * kWidth;
  task.column = task.head * shape.head_dim;
  task.head_dim = shape.head_dim;
  task.scale = static_cast<float>(1.0 / __builtin_sqrt(static_cast<double>(shape.head_dim)));
  return task;
}

// A thread's scratch memory, cut into pieces.
struct Scratch {
  float* keys;           // [head_dim, padded], transposed
  float* values;         // [head_dim, padded], transposed; backward only
  float* scores;         // [kQueriesPerBlock, padded]
  float* gradients;      // [kQueriesPerBlock, padded]; backward only
  float* row_values[2];  // [kQueriesPerBlock] each
};

Scratch scratch_of(const AttentionShape& shape, const Task& task) {
  Scratch scratch{};
  float* next = shape.scratch + omp_get_thread_num() * shape.scratch_floats;
  const auto take = [&next](int64_t floats) {
    float* piece = next;
    next += floats;
    return piece;
  };
  scratch.row_values[0] = take(kQueriesPerBlock);
  scratch.row_values[1] = take(kQueriesPerBlock);
  scratch.keys = take(task.head_dim * task.padded);
  scratch.scores = take(kQueriesPerBlock * task.padded);
  scratch.values = take(task.head_dim * task.padded);
  scratch.gradients = take(kQueriesPerBlock * task.padded);
  return scratch;
}

template <typename AnyMatrix>
auto* element(const AnyMatrix& matrix, int64_t row, int64_t column) {
  return matrix.data + row * matrix.stride + column;
}

// Asks for the columns of the next head in the same rows, which would otherwise wait for memory: hardware does not see
// a pattern in short pieces of many rows.
enum class Access { kRead = 0, kWrite = 1 };

template <Access kAccess>
void prefetch_next_head(const float* rows, int64_t stride, int64_t count, int64_t head_dim) {
  constexpr int64_t kLine = 16;
  for (int64_t row = 0; row < count; ++row) {
    for (int64_t c = 0; c < head_dim; c += kLine) {
      __builtin_prefetch(rows + row * stride + head_dim + c, static_cast<int>(kAccess));
    }
  }
}

void add_bias(float* rows, int64_t stride, int64_t count, int64_t width, const float* bias) {
  for (int64_t row = 0; row < count; ++row) {
    for_each_vector(width, [&](int64_t c, auto lanes) BERTFT_INLINE_BODY {
      store(rows + row * stride + c, load(rows + row * stride + c, lanes) + load(bias + c, lanes), lanes);
    });
  }
}

// to [width, padded] = the transpose of from [length, width]; columns behind `length` repeat the last one, so that they
// need no attention where a largest score is looked for.
void transpose_rows(const float* from, int64_t stride, const Task& task, float* to) {
  for (int64_t row = 0; row < task.length; row += kWidth) {
    const int64_t last = task.length - row < kWidth ? task.length - row - 1 : kWidth - 1;
    for_each_vector(task.head_dim, [&](int64_t c, auto lanes) BERTFT_INLINE_BODY {
      Float block[kWidth];
#pragma GCC unroll 16
      for (int64_t i = 0; i < kWidth; ++i) {
        block[i] = load(from + (row + (i < last ? i : last)) * stride + c, lanes);
      }
      transpose(block);
#pragma GCC unroll 16
      for (int64_t i = 0; i < kWidth; ++i) {
        if (i < count_of(lanes)) store(to + (c + i) * task.padded + row, block[i]);
      }
    });
  }
}

// scores [queries, padded] = query rows times the transposed keys, without the scale.
void multiply_by_transposed(const float* rows, int64_t stride, int64_t count, const float* transposed, const Task& task,
                            float* to) {
  multiply({.a = rows,
            .a_row = stride,
            .a_depth = 1,
            .b = transposed,
            .b_stride = task.padded,
            .c = to,
            .c_stride = task.padded,
            .rows = count,
            .columns = task.padded,
            .depth = task.head_dim});
}

// The dropout decisions of one row of probabilities.
struct ProbabilityDropout {
  CounterKey key;
  Word first_index, threshold;
};

BERTFT_INLINE ProbabilityDropout dropout_of(const AttentionShape& shape, const Task& task, int64_t query) {
  const auto length = static_cast<uint32_t>(task.length);
  const uint32_t index = (static_cast<uint32_t>(task.head) * length + static_cast<uint32_t>(query)) * length;
  return {counter_key(shape.dropout.keys[task.sequence]), iota() + broadcast(index),
          broadcast(shape.dropout.threshold)};
}

BERTFT_INLINE Int is_kept(const ProbabilityDropout& dropout, int64_t key) {
  return is_kept(dropout.key, dropout.first_index + broadcast(static_cast<uint32_t>(key)), dropout.threshold);
}

// The largest score of a row, scaled, and the sum of exp(scale score - largest) before dropout.
struct RowSoftmax {
  float largest, sum;
};

// Turns one row of scores into exponentials, dropped where dropout says so.
template <bool kDropout>
RowSoftmax exponentiate(float* scores, const AttentionShape& shape, const Task& task, int64_t query) {
  Float largest = load(scores);
  for (int64_t j = kWidth; j < task.padded; j += kWidth) {
    largest = larger(load(scores + j), largest);
  }
  const float largest_score = largest_lane(largest) * task.scale;
  ProbabilityDropout dropout{};
  if constexpr (kDropout) dropout = dropout_of(shape, task, query);
  Float sum{};
  for_each_vector(task.length, [&](int64_t j, auto lanes) BERTFT_INLINE_BODY {
    const Float x = multiply_add(load(scores + j), broadcast(task.scale), broadcast(-largest_score));
    Float e = exp_of_negative(x);
    sum += masked(e, lanes);
    if constexpr (kDropout) e = select(is_kept(dropout, j), e, Float{});
    store(scores + j, e);
  });
  return {largest_score, sum_of_lanes(sum)};
}

template <bool kDropout>
void attend(const AttentionForward& call, const Task& task) {
  const AttentionShape& shape = call.shape;
  const Scratch scratch = scratch_of(shape, task);
  float* query = element(call.query, task.first_query, task.column);
  float* key = element(call.key, task.first_row, task.column);
  float* value = element(call.value, task.first_row, task.column);
  prefetch_next_head<Access::kWrite>(query, call.query.stride, task.queries, task.head_dim);
  prefetch_next_head<Access::kWrite>(key, call.key.stride, task.length, task.head_dim);
  prefetch_next_head<Access::kWrite>(value, call.value.stride, task.length, task.head_dim);
  add_bias(query, call.query.stride, task.queries, task.head_dim, call.query_bias + task.column);
  add_bias(key, call.key.stride, task.length, task.head_dim, call.key_bias + task.column);
  add_bias(value, call.value.stride, task.length, task.head_dim, call.value_bias + task.column);
  transpose_rows(key, call.key.stride, task, scratch.keys);
  float* largest = scratch.row_values[0];
  float* sums = scratch.row_values[1];
  float* log_sums = call.log_sums + task.head * shape.query_rows + task.first_query;
  for (int64_t begin = 0; begin < task.queries; begin += kQueriesPerBlock) {
    const int64_t count = task.queries - begin < kQueriesPerBlock ? task.queries - begin : kQueriesPerBlock;
    multiply_by_transposed(query + begin * call.query.stride, call.query.stride, count, scratch.keys, task,
                           scratch.scores);
    for (int64_t i = 0; i < count; ++i) {
      const RowSoftmax row = exponentiate<kDropout>(scratch.scores + i * task.padded, shape, task, begin + i);
      largest[i] = row.largest;
      sums[i] = row.sum;
    }
    for_each_vector(count, [&](int64_t i, auto lanes) BERTFT_INLINE_BODY {
      const Float sum = load(sums + i, lanes);
      store(log_sums + begin + i, load(largest + i, lanes) + log_of_positive(sum), lanes);
      const float kept_scale = kDropout ? shape.dropout.scale : 1.0f;
      store(sums + i, broadcast(kept_scale) / sum, lanes);
    });
    multiply({.a = scratch.scores,
              .a_row = task.padded,
              .a_depth = 1,
              .b = value,
              .b_stride = call.value.stride,
              .c = element(call.context, task.first_query + begin, task.column),
              .c_stride = call.context.stride,
              .rows = count,
              .columns = task.head_dim,
              .depth = task.length,
              .row_scale = sums});
  }
}

// Turns one row of scores into dropped probabilities, and one row of their gradients into those of the scores.
template <bool kDropout>
void differentiate_softmax(float* scores, float* gradients, const AttentionShape& shape, const Task& task,
                           int64_t query, float log_sum, float row_sum) {
  ProbabilityDropout dropout{};
  if constexpr (kDropout) dropout = dropout_of(shape, task, query);
  for (int64_t j = 0; j < task.padded; j += kWidth) {
    const Float x = multiply_add(load(scores + j), broadcast(task.scale), broadcast(-log_sum));
    const Float probability = exp_of_negative(x);
    Float gradient = load(gradients + j), kept = probability;
    if constexpr (kDropout) {
      const Float factor = select(is_kept(dropout, j), broadcast(shape.dropout.scale), Float{});
      gradient *= factor;
      kept *= factor;
    }
    store(scores + j, kept);
    store(gradients + j, probability * (gradient - broadcast(row_sum)) * broadcast(task.scale));
  }
}

float dot(const float* a, const float* b, int64_t width) {
  Float sum{};
  for_each_vector(width, [&](int64_t c, auto lanes)
                             BERTFT_INLINE_BODY { sum = multiply_add(load(a + c, lanes), load(b + c, lanes), sum); });
  return sum_of_lanes(sum);
}

// c [rows, head_dim] (+)= transposed(weights [count, padded]) times rows of b, for one block of queries.
void add_transposed_product(const float* weights, const Task& task, int64_t count, const float* b, int64_t b_stride,
                            const Matrix& to, bool adds) {
  multiply({.a = weights,
            .a_row = 1,
            .a_depth = task.padded,
            .b = b,
            .b_stride = b_stride,
            .c = element(to, task.first_row, task.column),
            .c_stride = to.stride,
            .rows = task.length,
            .columns = task.head_dim,
            .depth = count,
            .adds = adds});
}

void prefetch_backward(const AttentionBackward& call, const Task& task) {
  const auto read = [&](const ConstMatrix& x, int64_t row, int64_t count) {
    prefetch_next_head<Access::kRead>(element(x, row, task.column), x.stride, count, task.head_dim);
  };
  const auto write = [&](const Matrix& x, int64_t row, int64_t count) {
    prefetch_next_head<Access::kWrite>(element(x, row, task.column), x.stride, count, task.head_dim);
  };
  read(call.query, task.first_query, task.queries);
  read(call.context, task.first_query, task.queries);
  read(call.context_gradient, task.first_query, task.queries);
  read(call.key, task.first_row, task.length);
  read(call.value, task.first_row, task.length);
  write(call.query_gradient, task.first_query, task.queries);
  write(call.key_gradient, task.first_row, task.length);
  write(call.value_gradient, task.first_row, task.length);
}

template <bool kDropout>
void attend_backward(const AttentionBackward& call, const Task& task) {
  const AttentionShape& shape = call.shape;
  const Scratch scratch = scratch_of(shape, task);
  prefetch_backward(call, task);
  const float* key = element(call.key, task.first_row, task.column);
  transpose_rows(key, call.key.stride, task, scratch.keys);
  transpose_rows(element(call.value, task.first_row, task.column), call.value.stride, task, scratch.values);
  const float* log_sums = call.log_sums + task.head * shape.query_rows + task.first_query;
  for (int64_t begin = 0; begin < task.queries; begin += kQueriesPerBlock) {
    const int64_t count = task.queries - begin < kQueriesPerBlock ? task.queries - begin : kQueriesPerBlock;
    const int64_t first = task.first_query + begin;
    const float* query = element(call.query, first, task.column);
    const float* upstream = element(call.context_gradient, first, task.column);
    const float* context = element(call.context, first, task.column);
    multiply_by_transposed(query, call.query.stride, count, scratch.keys, task, scratch.scores);
    multiply_by_transposed(upstream, call.context_gradient.stride, count, scratch.values, task, scratch.gradients);
    for (int64_t i = 0; i < count; ++i) {
      const float row_sum =
          dot(upstream + i * call.context_gradient.stride, context + i * call.context.stride, task.head_dim);
      differentiate_softmax<kDropout>(scratch.scores + i * task.padded, scratch.gradients + i * task.padded, shape,
                                      task, begin + i, log_sums[begin + i], row_sum);
    }
    multiply({.a = scratch.gradients,
              .a_row = task.padded,
              .a_depth = 1,
              .b = key,
              .b_stride = call.key.stride,
              .c = element(call.query_gradient, first, task.column),
              .c_stride = call.query_gradient.stride,
              .rows = count,
              .columns = task.head_dim,
              .depth = task.length});
    add_transposed_product(scratch.gradients, task, count, query, call.query.stride, call.key_gradient, begin > 0);
    add_transposed_product(scratch.scores, task, count, upstream, call.context_gradient.stride, call.value_gradient,
                           begin > 0);
  }
}

}  // namespace

void attention(const AttentionForward& call) {
  const int64_t tasks = call.shape.ranges.count * call.shape.heads;
#pragma omp parallel for schedule(dynamic, 4)
  for (int64_t index = 0; index < tasks; ++index) {
    if (call.shape.dropout.keys != nullptr) {
      attend<true>(call, task_of(call.shape, index));
    } else {
      attend<false>(call, task_of(call.shape, index));
    }
  }
}

void attention_backward(const AttentionBackward& call) {
  const int64_t tasks = call.shape.ranges.count * call.shape.heads;
#pragma omp parallel for schedule(dynamic, 4)
  for (int64_t index = 0; index < tasks; ++index) {
    if (call.shape.dropout.keys != nullptr) {
      attend_backward<true>(call, task_of(call.shape, index));
    } else {
      attend_backward<false>(call, task_of(call.shape, index));
    }
  }
}

}  // namespace bertft::ops::BERTFT_KERNEL_LEVEL
