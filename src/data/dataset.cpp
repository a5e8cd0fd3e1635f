#include "data/dataset.h"

#include <algorithm>
#include <atomic>
#include <exception>
#include <string>
#include <system_error>
#include <thread>
#include <utility>

#include "core/error.h"
#include "tokenize/tokenizer.h"

namespace bertft {
namespace {

constexpr int64_t kChunkRows = 512;

// Encodes the rows of a table. Threads take chunks of rows in order; what they find is joined in that order.
class ParallelEncoder {
 public:
  ParallelEncoder(const Table& table, const RowEncoder& encoder)
      : table_(table), encoder_(encoder), chunks_(static_cast<size_t>((table.rows() + kChunkRows - 1) / kChunkRows)) {}

  DatasetArrays encode(int threads) {
    {
      std::vector<std::jthread> helpers;
      const auto wanted = std::min(static_cast<size_t>(std::max(threads, 1)), chunks_.size());
      try {
        while (helpers.size() + 1 < wanted) helpers.emplace_back([this] { work(); });
      } catch (const std::system_error&) {
        // No more threads to be had: those that run, and this one, do all the work.
      }
      work();
    }
    // All chunks before a failed one were taken and finished, so the first failure is the same whatever the threads.
    for (const Chunk& chunk : chunks_) {
      if (chunk.failure) std::rethrow_exception(chunk.failure);
    }
    return joined();
  }

 private:
  struct Chunk {
    DatasetArrays arrays;  // offsets count from the chunk's start
    std::exception_ptr failure;
  };

  void work() {
    while (!has_failed_) {
      const size_t index = next_chunk_++;
      if (index >= chunks_.size()) return;
      try {
        encode_chunk(static_cast<int64_t>(index) * kChunkRows, chunks_[index].arrays);
      } catch (...) {
        chunks_[index].failure = std::current_exception();
        has_failed_ = true;
      }
    }
  }

  void encode_chunk(int64_t begin, DatasetArrays& arrays) const {
    const int64_t end = std::min(table_.rows(), begin + kChunkRows);
    arrays.part_offsets = arrays.target_offsets = {0};
    EncodedRow encoded;
    for (int64_t row = begin; row < end; ++row) {
      try {
        encoder_(row, encoded);
      } catch (const DataError& error) {
        throw DataError(table_.place(row) + ": " + error.what());
      }
      append_row(encoded, arrays);
    }
  }

  static void append_row(const EncodedRow& row, DatasetArrays& arrays) {
    check(!row.parts.empty(), "a row has at least one sequence");
    int32_t length = 0;
    int32_t untruncated = 0;
    for (const Encoding& part : row.parts) {
      const auto second = std::find(part.token_types.begin(), part.token_types.end(), 1);
      arrays.ids.insert(arrays.ids.end(), part.ids.begin(), part.ids.end());
      arrays.part_lengths.push_back(static_cast<int32_t>(part.ids.size()));
      arrays.part_second_begins.push_back(static_cast<int32_t>(second - part.token_types.begin()));
      length += arrays.part_lengths.back();
      untruncated += part.untruncated_length;
    }
    arrays.part_offsets.push_back(arrays.part_offsets.back() + static_cast<int64_t>(row.parts.size()));
    arrays.lengths.push_back(length);
    arrays.second_begins.push_back(row.parts.size() == 1 ? arrays.part_second_begins.back() : length);
    arrays.untruncated_lengths.push_back(untruncated);
    arrays.targets.insert(arrays.targets.end(), row.targets.begin(), row.targets.end());
    arrays.target_offsets.push_back(static_cast<int64_t>(arrays.targets.size()));
    arrays.features.insert(arrays.features.end(), row.features.begin(), row.features.end());
  }

  DatasetArrays joined() {
    size_t tokens = 0;
    for (const Chunk& chunk : chunks_) tokens += chunk.arrays.ids.size();
    DatasetArrays all;
    all.ids.reserve(tokens);
    all.offsets.reserve(static_cast<size_t>(table_.rows()) + 1);
    all.part_offsets = all.target_offsets = {0};
    for (Chunk& chunk : chunks_) {
      append(all.ids, chunk.arrays.ids);
      append(all.lengths, chunk.arrays.lengths);
      append(all.second_begins, chunk.arrays.second_begins);
      append(all.untruncated_lengths, chunk.arrays.untruncated_lengths);
      append(all.part_lengths, chunk.arrays.part_lengths);
      append(all.part_second_begins, chunk.arrays.part_second_begins);
      append(all.targets, chunk.arrays.targets);
      append(all.features, chunk.arrays.features);
      append_offsets(all.part_offsets, chunk.arrays.part_offsets);
      append_offsets(all.target_offsets, chunk.arrays.target_offsets);
      for (const int32_t length : chunk.arrays.lengths) all.offsets.push_back(all.offsets.back() + length);
      chunk = Chunk{};
    }
    if (!all.ids.empty()) all.feature_width = static_cast<int64_t>(all.features.size() / all.ids.size());
    drop_what_says_nothing(all);
    return all;
  }

  template <typename T>
  static void append(std::vector<T>& to, const std::vector<T>& from) {
    to.insert(to.end(), from.begin(), from.end());
  }

  static void append_offsets(std::vector<int64_t>& to, const std::vector<int64_t>& from) {
    const int64_t base = to.back();
    for (size_t i = 1; i < from.size(); ++i) to.push_back(base + from[i]);
  }

  static void drop_what_says_nothing(DatasetArrays& all) {
    if (all.part_lengths.size() == all.lengths.size()) {
      all.part_offsets = {};
      all.part_lengths = all.part_second_begins = {};
    }
    if (all.targets.empty()) all.target_offsets = {};
  }

  const Table& table_;
  const RowEncoder& encoder_;
  std::vector<Chunk> chunks_;
  std::atomic<size_t> next_chunk_ = 0;
  std::atomic<bool> has_failed_ = false;
};

// The part of a CSR array that belongs to `row`.
template <typename T>
std::span<const T> slice_of(const std::vector<T>& values, const std::vector<int64_t>& offsets, int64_t row) {
  const auto begin = static_cast<size_t>(offsets[static_cast<size_t>(row)]);
  return std::span(values).subspan(begin, static_cast<size_t>(offsets[static_cast<size_t>(row) + 1]) - begin);
}

}  // namespace

Dataset::Dataset(DatasetArrays arrays, std::shared_ptr<const Table> table)
    : arrays_(std::move(arrays)), table_(std::move(table)) {
  const size_t rows = arrays_.lengths.size();
  check(arrays_.offsets.size() == rows + 1 && arrays_.second_begins.size() == rows &&
            arrays_.untruncated_lengths.size() == rows,
        "one entry per row");
  check(arrays_.labels.empty() || arrays_.labels.size() == rows, "one label per row, or none at all");
  check(arrays_.offsets.back() == static_cast<int64_t>(arrays_.ids.size()), "offsets end at the last id");
  check(arrays_.part_offsets.empty() ||
            (arrays_.part_offsets.size() == rows + 1 &&
             arrays_.part_offsets.back() == static_cast<int64_t>(arrays_.part_lengths.size()) &&
             arrays_.part_second_begins.size() == arrays_.part_lengths.size()),
        "part offsets end at the last part");
  check(
      arrays_.target_offsets.empty() || (arrays_.target_offsets.size() == rows + 1 &&
                                         arrays_.target_offsets.back() == static_cast<int64_t>(arrays_.targets.size())),
      "target offsets end at the last target");
  check(arrays_.features.size() == arrays_.ids.size() * static_cast<size_t>(arrays_.feature_width),
        "feature_width values for each id");
}

std::span<const int32_t> Dataset::part_lengths(int64_t row) const {
  if (arrays_.part_offsets.empty()) return std::span(arrays_.lengths).subspan(static_cast<size_t>(row), 1);
  return slice_of(arrays_.part_lengths, arrays_.part_offsets, row);
}

std::span<const int32_t> Dataset::part_second_begins(int64_t row) const {
  if (arrays_.part_offsets.empty()) return std::span(arrays_.second_begins).subspan(static_cast<size_t>(row), 1);
  return slice_of(arrays_.part_second_begins, arrays_.part_offsets, row);
}

std::span<const int32_t> Dataset::targets(int64_t row) const {
  if (arrays_.target_offsets.empty()) return {};
  return slice_of(arrays_.targets, arrays_.target_offsets, row);
}

std::span<const float> Dataset::features(int64_t row) const {
  const auto width = static_cast<size_t>(arrays_.feature_width);
  return std::span(arrays_.features)
      .subspan(static_cast<size_t>(arrays_.offsets[static_cast<size_t>(row)]) * width,
               static_cast<size_t>(length(row)) * width);
}

int64_t Dataset::truncated_rows() const {
  int64_t count = 0;
  for (size_t row = 0; row < arrays_.lengths.size(); ++row) {
    count += arrays_.untruncated_lengths[row] > arrays_.lengths[row] ? 1 : 0;
  }
  return count;
}

DatasetArrays encode_rows(const Table& table, const RowEncoder& encoder, int threads) {
  return ParallelEncoder(table, encoder).encode(threads);
}

Dataset encode_dataset(std::shared_ptr<const Table> table, const Tokenizer& tokenizer, const LabelTable* labels,
                       const EncodeSettings& settings) {
  std::vector<int32_t> ids;
  if (labels != nullptr) ids = label_ids(*table, *labels);
  const bool has_pairs = table->roles().text_pair >= 0;
  const RowEncoder encoder = [&](int64_t row, EncodedRow& out) {
    out.parts.resize(1);
    if (has_pairs) {
      tokenizer.encode_pair(table->text(row), table->text_pair(row), settings.options, &out.parts[0]);
    } else {
      tokenizer.encode(table->text(row), settings.options, &out.parts[0]);
    }
  };
  DatasetArrays arrays = encode_rows(*table, encoder, settings.threads);
  arrays.labels = std::move(ids);
  return Dataset(std::move(arrays), std::move(table));
}

}  // namespace bertft
