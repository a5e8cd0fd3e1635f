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

// Tokenizes the rows of a table. Threads take chunks of rows in order; what they find is joined in that order.
class ParallelEncoder {
 public:
  ParallelEncoder(const Table& table, const Tokenizer& tokenizer, const EncodeOptions& options)
      : table_(table),
        tokenizer_(tokenizer),
        options_(options),
        chunks_(static_cast<size_t>((table.rows() + kChunkRows - 1) / kChunkRows)) {}

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
    std::vector<int32_t> ids;
    std::vector<int32_t> lengths;
    std::vector<int32_t> second_begins;
    std::vector<int32_t> untruncated_lengths;
    std::exception_ptr failure;
  };

  void work() {
    while (!has_failed_) {
      const size_t index = next_chunk_++;
      if (index >= chunks_.size()) return;
      try {
        encode_chunk(static_cast<int64_t>(index) * kChunkRows, chunks_[index]);
      } catch (...) {
        chunks_[index].failure = std::current_exception();
        has_failed_ = true;
      }
    }
  }

  void encode_chunk(int64_t begin, Chunk& chunk) const {
    const int64_t end = std::min(table_.rows(), begin + kChunkRows);
    Encoding encoding;
    for (int64_t row = begin; row < end; ++row) {
      encode_row(row, encoding);
      const auto second = std::find(encoding.token_types.begin(), encoding.token_types.end(), 1);
      chunk.ids.insert(chunk.ids.end(), encoding.ids.begin(), encoding.ids.end());
      chunk.lengths.push_back(static_cast<int32_t>(encoding.ids.size()));
      chunk.second_begins.push_back(static_cast<int32_t>(second - encoding.token_types.begin()));
      chunk.untruncated_lengths.push_back(encoding.untruncated_length);
    }
  }

  void encode_row(int64_t row, Encoding& encoding) const {
    try {
      if (table_.roles().text_pair < 0) {
        tokenizer_.encode(table_.text(row), options_, &encoding);
      } else {
        tokenizer_.encode_pair(table_.text(row), table_.text_pair(row), options_, &encoding);
      }
    } catch (const DataError& error) {
      throw DataError(table_.place(row) + ": " + error.what());
    }
  }

  DatasetArrays joined() {
    size_t tokens = 0;
    for (const Chunk& chunk : chunks_) tokens += chunk.ids.size();
    DatasetArrays arrays;
    arrays.ids.reserve(tokens);
    arrays.offsets.reserve(static_cast<size_t>(table_.rows()) + 1);
    const auto append = [](std::vector<int32_t>& to, const std::vector<int32_t>& from) {
      to.insert(to.end(), from.begin(), from.end());
    };
    for (Chunk& chunk : chunks_) {
      append(arrays.ids, chunk.ids);
      append(arrays.lengths, chunk.lengths);
      append(arrays.second_begins, chunk.second_begins);
      append(arrays.untruncated_lengths, chunk.untruncated_lengths);
      for (const int32_t length : chunk.lengths) arrays.offsets.push_back(arrays.offsets.back() + length);
      chunk = Chunk{};
    }
    return arrays;
  }

  const Table& table_;
  const Tokenizer& tokenizer_;
  const EncodeOptions options_;
  std::vector<Chunk> chunks_;
  std::atomic<size_t> next_chunk_ = 0;
  std::atomic<bool> has_failed_ = false;
};

}  // namespace

Dataset::Dataset(DatasetArrays arrays, std::shared_ptr<const Table> table)
    : arrays_(std::move(arrays)), table_(std::move(table)) {
  const size_t rows = arrays_.lengths.size();
  check(arrays_.offsets.size() == rows + 1 && arrays_.second_begins.size() == rows &&
            arrays_.untruncated_lengths.size() == rows,
        "one entry per row");
  check(arrays_.labels.empty() || arrays_.labels.size() == rows, "one label per row, or none at all");
  check(arrays_.offsets.back() == static_cast<int64_t>(arrays_.ids.size()), "offsets end at the last id");
}

int64_t Dataset::truncated_rows() const {
  int64_t count = 0;
  for (size_t row = 0; row < arrays_.lengths.size(); ++row) {
    count += arrays_.untruncated_lengths[row] > arrays_.lengths[row] ? 1 : 0;
  }
  return count;
}

Dataset encode_dataset(std::shared_ptr<const Table> table, const Tokenizer& tokenizer, const LabelTable* labels,
                       const EncodeSettings& settings) {
  std::vector<int32_t> ids;
  if (labels != nullptr) ids = label_ids(*table, *labels);
  DatasetArrays arrays = ParallelEncoder(*table, tokenizer, settings.options).encode(settings.threads);
  arrays.labels = std::move(ids);
  return Dataset(std::move(arrays), std::move(table));
}

}  // namespace bertft
