// Which rows make up which step, as pure functions of (seed, step): nothing is stored, so resuming at any step costs
// nothing, and the rows of a step are the same whatever the number of ranks and the limits of micro-batches.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace bertft {

// The order of all rows in an epoch (from 0): a permutation of 0..rows-1.
std::vector<int64_t> epoch_order(uint64_t seed, int64_t epoch, int64_t rows);

// The rows of one optimizer step.
struct GlobalBatch {
  int64_t step = 0;   // from 1
  int64_t epoch = 0;  // from 0
  bool is_last_of_epoch = false;
  std::vector<int64_t> rows;  // in the order of the epoch; the last batch of an epoch may be smaller
};

// Every row once an epoch; the last batch of an epoch holds what is left.
class Sampler {
 public:
  // REQUIRES rows >= 1 and global_batch_size >= 1.
  Sampler(uint64_t seed, int64_t rows, int64_t global_batch_size);

  int64_t steps_per_epoch() const { return (rows_ + batch_size_ - 1) / batch_size_; }

  // The batch of any step >= 1, in any order of calls. The order of one epoch is cached.
  GlobalBatch batch(int64_t step);

 private:
  uint64_t seed_;
  int64_t rows_;
  int64_t batch_size_;
  int64_t cached_epoch_ = -1;
  std::vector<int64_t> order_;  // of cached_epoch_
};

// The functions below take the token lengths of all rows of the dataset, indexed by row.

// Deals the rows of a global batch to `world` ranks so that they carry about equal numbers of tokens: longest first,
// each to the rank with the fewest tokens, then rows, then the lowest rank (the tokens of two ranks differ by at most
// the longest row). Each row goes to exactly one rank; a rank may get none. Within a rank the order of `rows` is kept,
// so a world of one gets `rows` as they are.
std::vector<std::vector<int64_t>> deal_rows(std::span<const int64_t> rows, std::span<const int32_t> lengths, int world);

// Cuts rows into micro-batches of at most `max_tokens` tokens in their order. A row that is longer is alone.
// max_tokens 0: all rows in one. No rows: no micro-batches.
std::vector<std::vector<int64_t>> split_micro_batches(std::span<const int64_t> rows, std::span<const int32_t> lengths,
                                                      int64_t max_tokens);

// The micro-batches of an evaluation over all rows: longest rows first (equal ones by row), so that like goes with
// like and a lack of memory shows at once. A function of the lengths and `batch_tokens` alone, never of the world;
// results are put in order by row number.
std::vector<std::vector<int64_t>> evaluation_batches(std::span<const int32_t> lengths, int64_t batch_tokens);

}  // namespace bertft
