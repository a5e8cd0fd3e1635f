// Properties of the order of rows: what holds for every size, seed and world.
#include "data/sampler.h"

#include <algorithm>
#include <numeric>
#include <set>

#include "core/error.h"
#include "core/rng.h"
#include "tests/support/test.h"

namespace bertft {
namespace {

using Rows = std::vector<int64_t>;

Rows first_rows(int64_t count) {
  Rows rows(static_cast<size_t>(count));
  std::iota(rows.begin(), rows.end(), int64_t{0});
  return rows;
}

Rows sorted(Rows rows) {
  std::sort(rows.begin(), rows.end());
  return rows;
}

// Lengths as texts have them: many short ones, few long ones.
std::vector<int32_t> text_lengths(int64_t rows, uint64_t seed) {
  std::vector<int32_t> lengths;
  for (int64_t row = 0; row < rows; ++row) {
    const uint64_t bits = mix64(seed ^ mix64(static_cast<uint64_t>(row)));
    lengths.push_back(3 + static_cast<int32_t>(bits % (bits % 5 == 0 ? 126 : 20)));
  }
  return lengths;
}

int64_t tokens_of(const Rows& rows, const std::vector<int32_t>& lengths) {
  int64_t tokens = 0;
  for (const int64_t row : rows) tokens += lengths[static_cast<size_t>(row)];
  return tokens;
}

TEST_CASE("The order of an epoch is a permutation named by seed and epoch") {
  for (const int64_t rows : {1, 2, 33, 1000}) {
    const Rows order = epoch_order(42, 3, rows);
    REQUIRE(sorted(order) == first_rows(rows));
    REQUIRE(order == epoch_order(42, 3, rows));
  }
  REQUIRE(epoch_order(42, 0, 1000) != epoch_order(42, 1, 1000));
  REQUIRE(epoch_order(42, 0, 1000) != epoch_order(43, 0, 1000));
  REQUIRE(epoch_order(42, 0, 1000) != first_rows(1000));
}

TEST_CASE("Steps run through the epochs, each row once an epoch") {
  const std::vector<std::pair<int64_t, int64_t>> rows_and_batch = {{1, 1},   {1, 32},  {32, 32},
                                                                   {33, 32}, {100, 7}, {64, 1}};
  for (const auto& [rows, size] : rows_and_batch) {
    INFO(rows << " rows, batch " << size);
    Sampler sampler(7, rows, size);
    const int64_t steps = sampler.steps_per_epoch();
    REQUIRE(steps == (rows + size - 1) / size);
    for (int64_t epoch = 0; epoch < 3; ++epoch) {
      Rows seen;
      for (int64_t i = 0; i < steps; ++i) {
        const GlobalBatch batch = sampler.batch(epoch * steps + i + 1);
        REQUIRE(batch.step == epoch * steps + i + 1);
        REQUIRE(batch.epoch == epoch);
        REQUIRE(batch.is_last_of_epoch == (i == steps - 1));
        const int64_t expected = i < steps - 1 ? size : rows - (steps - 1) * size;
        REQUIRE(static_cast<int64_t>(batch.rows.size()) == expected);
        seen.insert(seen.end(), batch.rows.begin(), batch.rows.end());
      }
      REQUIRE(seen == epoch_order(7, epoch, rows));
    }
  }
}

TEST_CASE("A batch does not depend on the batches asked for before") {
  Sampler walking(7, 100, 8);
  std::vector<Rows> walked;
  for (int64_t step = 1; step <= 60; ++step) walked.push_back(walking.batch(step).rows);
  for (const int64_t step : {60, 1, 40, 14, 13, 27, 26}) {
    Sampler resumed(7, 100, 8);
    REQUIRE(resumed.batch(step).rows == walked[static_cast<size_t>(step - 1)]);
    REQUIRE(walking.batch(step).rows == walked[static_cast<size_t>(step - 1)]);
  }
}

TEST_CASE("Absurd batch sizes and wrong arguments") {
  Sampler sampler(1, 10, std::numeric_limits<int64_t>::max());
  REQUIRE(sampler.steps_per_epoch() == 1);
  REQUIRE(sampler.batch(5).epoch == 4);
  REQUIRE(sampler.batch(5).rows.size() == 10);
  REQUIRE_THROWS_AS(sampler.batch(0), InternalError);
  REQUIRE_THROWS_AS(Sampler(1, 0, 1), InternalError);
  REQUIRE_THROWS_AS(Sampler(1, 1, 0), InternalError);
}

TEST_CASE("Dealt rows are exactly the batch, and ranks carry equal tokens") {
  const std::vector<int32_t> lengths = text_lengths(500, 11);
  for (const int64_t count : {0, 1, 3, 32, 257}) {
    const Rows order = epoch_order(5, 0, 500);
    const Rows batch(order.begin(), order.begin() + count);
    for (const int world : {1, 2, 3, 8, 40}) {
      INFO(count << " rows, world " << world);
      const std::vector<Rows> dealt = deal_rows(batch, lengths, world);
      REQUIRE(dealt.size() == static_cast<size_t>(world));
      REQUIRE(dealt == deal_rows(batch, lengths, world));
      Rows all;
      int64_t least = std::numeric_limits<int64_t>::max();
      int64_t most = 0;
      for (const Rows& rows : dealt) {
        all.insert(all.end(), rows.begin(), rows.end());
        least = std::min(least, tokens_of(rows, lengths));
        most = std::max(most, tokens_of(rows, lengths));
        const auto place = [&](int64_t row) { return std::find(batch.begin(), batch.end(), row) - batch.begin(); };
        REQUIRE(std::is_sorted(rows.begin(), rows.end(), [&](int64_t a, int64_t b) { return place(a) < place(b); }));
      }
      REQUIRE(sorted(all) == sorted(batch));
      REQUIRE(most - least <= *std::max_element(lengths.begin(), lengths.end()));
    }
    REQUIRE(deal_rows(batch, lengths, 1)[0] == batch);
  }
}

TEST_CASE("Micro-batches keep the order and the limit") {
  const std::vector<int32_t> lengths = text_lengths(300, 12);
  const Rows rows = epoch_order(5, 0, 300);
  for (const int64_t limit : {1, 60, 100, 128, 1000, 1'000'000}) {
    INFO("limit " << limit);
    const std::vector<Rows> batches = split_micro_batches(rows, lengths, limit);
    Rows all;
    for (size_t i = 0; i < batches.size(); ++i) {
      REQUIRE_FALSE(batches[i].empty());
      REQUIRE((tokens_of(batches[i], lengths) <= limit || batches[i].size() == 1));
      if (i + 1 < batches.size()) {  // the next row did not fit
        REQUIRE(tokens_of(batches[i], lengths) + lengths[static_cast<size_t>(batches[i + 1][0])] > limit);
      }
      all.insert(all.end(), batches[i].begin(), batches[i].end());
    }
    REQUIRE(all == rows);
  }
  REQUIRE(split_micro_batches(rows, lengths, 0) == std::vector<Rows>{rows});
  REQUIRE(split_micro_batches({}, lengths, 100).empty());
  REQUIRE(split_micro_batches({}, lengths, 0).empty());
}

TEST_CASE("Evaluation takes every row once, longest first") {
  const std::vector<int32_t> lengths = text_lengths(300, 13);
  const std::vector<Rows> batches = evaluation_batches(lengths, 512);
  Rows all;
  for (const Rows& batch : batches) {
    REQUIRE(tokens_of(batch, lengths) <= 512);
    all.insert(all.end(), batch.begin(), batch.end());
  }
  REQUIRE(std::is_sorted(all.begin(), all.end(), [&](int64_t a, int64_t b) {
    const int32_t length_a = lengths[static_cast<size_t>(a)];
    const int32_t length_b = lengths[static_cast<size_t>(b)];
    return length_a != length_b ? length_a > length_b : a < b;
  }));
  REQUIRE(sorted(all) == first_rows(300));
  REQUIRE(evaluation_batches({}, 512).empty());
}

}  // namespace
}  // namespace bertft
