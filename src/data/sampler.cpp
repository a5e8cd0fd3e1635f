#include "data/sampler.h"

#include <algorithm>
#include <numeric>
#include <tuple>

#include "core/error.h"
#include "core/rng.h"

namespace bertft {
namespace {

// Keeps the streams of the row order apart from those of dropout and initial values.
constexpr uint64_t kOrderStream = 0x6F72646572;  // "order"

int64_t length_of(std::span<const int32_t> lengths, int64_t row) { return lengths[static_cast<size_t>(row)]; }

}  // namespace

std::vector<int64_t> epoch_order(uint64_t seed, int64_t epoch, int64_t rows) {
  return permutation(rows, stream_key(seed, kOrderStream, epoch));
}

Sampler::Sampler(uint64_t seed, int64_t rows, int64_t global_batch_size)
    : seed_(seed), rows_(rows), batch_size_(std::min(rows, global_batch_size)) {
  check(rows >= 1, "a sampler needs rows");
  check(global_batch_size >= 1, "a batch holds at least one row");
}

GlobalBatch Sampler::batch(int64_t step) {
  check(step >= 1, "steps count from 1");
  const int64_t epoch = (step - 1) / steps_per_epoch();
  const int64_t in_epoch = (step - 1) % steps_per_epoch();
  if (epoch != cached_epoch_) {
    order_ = epoch_order(seed_, epoch, rows_);
    cached_epoch_ = epoch;
  }
  const int64_t begin = in_epoch * batch_size_;
  const int64_t end = std::min(rows_, begin + batch_size_);
  GlobalBatch batch{step, epoch, end == rows_, {}};
  batch.rows.assign(order_.begin() + begin, order_.begin() + end);
  return batch;
}

std::vector<std::vector<int64_t>> deal_rows(std::span<const int64_t> rows, std::span<const int32_t> lengths,
                                            int world) {
  check(world >= 1, "a world has at least one rank");
  std::vector<size_t> longest_first(rows.size());
  std::iota(longest_first.begin(), longest_first.end(), size_t{0});
  std::stable_sort(longest_first.begin(), longest_first.end(),
                   [&](size_t a, size_t b) { return length_of(lengths, rows[a]) > length_of(lengths, rows[b]); });
  struct Load {
    int64_t tokens = 0;
    std::vector<size_t> places;  // indices into rows
  };
  std::vector<Load> loads(static_cast<size_t>(world));
  for (const size_t place : longest_first) {
    const auto lightest = std::min_element(loads.begin(), loads.end(), [](const Load& a, const Load& b) {
      return std::tuple(a.tokens, a.places.size()) < std::tuple(b.tokens, b.places.size());
    });
    lightest->tokens += length_of(lengths, rows[place]);
    lightest->places.push_back(place);
  }
  std::vector<std::vector<int64_t>> dealt(loads.size());
  for (size_t rank = 0; rank < loads.size(); ++rank) {
    std::sort(loads[rank].places.begin(), loads[rank].places.end());
    for (const size_t place : loads[rank].places) dealt[rank].push_back(rows[place]);
  }
  return dealt;
}

std::vector<std::vector<int64_t>> split_micro_batches(std::span<const int64_t> rows, std::span<const int32_t> lengths,
                                                      int64_t max_tokens) {
  check(max_tokens >= 0, "a limit of tokens is not negative");
  std::vector<std::vector<int64_t>> batches;
  int64_t tokens = 0;
  for (const int64_t row : rows) {
    const int64_t length = length_of(lengths, row);
    if (batches.empty() || (max_tokens > 0 && tokens + length > max_tokens)) {
      batches.emplace_back();
      tokens = 0;
    }
    batches.back().push_back(row);
    tokens += length;
  }
  return batches;
}

std::vector<std::vector<int64_t>> evaluation_batches(std::span<const int32_t> lengths, int64_t batch_tokens) {
  std::vector<int64_t> rows(lengths.size());
  std::iota(rows.begin(), rows.end(), int64_t{0});
  std::stable_sort(rows.begin(), rows.end(),
                   [&](int64_t a, int64_t b) { return length_of(lengths, a) > length_of(lengths, b); });
  return split_micro_batches(rows, lengths, batch_tokens);
}

}  // namespace bertft
