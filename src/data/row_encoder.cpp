#include "data/row_encoder.h"

#include <algorithm>
#include <atomic>
#include <exception>
#include <string>
#include <string_view>
#include <system_error>
#include <thread>
#include <utility>

#include "core/error.h"
#include "core/hash.h"

namespace bertft {
namespace {

constexpr int64_t kPieceRows = 512;

bool is_blank(std::string_view text) { return text.find_first_not_of(" \t\r\n\v\f") == std::string_view::npos; }

// Encodes the rows of a table. Threads take pieces of it in order; what they find is joined in that order.
class ParallelEncoder {
 public:
  ParallelEncoder(const Table& table, const RowEncoder& encoder, const EncodeSettings& settings)
      : table_(table),
        encoder_(encoder),
        settings_(settings),
        pieces_(static_cast<size_t>((table.rows() + kPieceRows - 1) / kPieceRows)) {}

  DatasetArrays encode() {
    {
      std::vector<std::jthread> helpers;
      const auto wanted = std::min(static_cast<size_t>(std::max(settings_.threads, 1)), pieces_.size());
      try {
        while (helpers.size() + 1 < wanted) helpers.emplace_back([this] { work(); });
      } catch (const std::system_error&) {
        // No more threads to be had: those that run, and this one, do all the work.
      }
      work();
    }
    // All pieces before a failed one were taken and finished, so the first failure is the same whatever the threads.
    for (const Piece& piece : pieces_) {
      if (piece.failure) std::rethrow_exception(piece.failure);
    }
    return joined();
  }

 private:
  struct Piece {
    DatasetArrays arrays;  // offsets count from the piece's start
    std::exception_ptr failure;
  };

  void work() {
    while (!has_failed_) {
      const size_t index = next_piece_++;
      if (index >= pieces_.size()) return;
      try {
        encode_piece(static_cast<int64_t>(index) * kPieceRows, pieces_[index].arrays);
      } catch (...) {
        pieces_[index].failure = std::current_exception();
        has_failed_ = true;
      }
    }
  }

  void encode_piece(int64_t begin, DatasetArrays& arrays) const {
    const int64_t end = std::min(table_.rows(), begin + kPieceRows);
    arrays.part_offsets = arrays.target_offsets = {0};
    EncodedRow encoded;
    for (int64_t row = begin; row < end; ++row) {
      try {
        encoder_(table_, row, encoded);
      } catch (const DataError& error) {
        throw DataError(table_.place(row) + ": " + error.what());
      }
      append_encoded(encoded, arrays);
      append_facts(row, arrays);
    }
  }

  static void append_encoded(const EncodedRow& row, DatasetArrays& arrays) {
    check(!row.parts.empty(), "a row has at least one sequence");
    int32_t length = 0;
    int32_t untruncated = 0;
    arrays.begins.push_back(static_cast<int64_t>(arrays.ids.size()));
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

  // Of the row that was appended last.
  void append_facts(int64_t row, DatasetArrays& arrays) const {
    arrays.text_hashes.push_back(text_hash(table_, row));
    const bool is_pair = table_.roles().text_pair >= 0;
    arrays.blank_texts.push_back(is_blank(table_.text(row)) || (is_pair && is_blank(table_.text_pair(row))) ? 1 : 0);
    arrays.files.push_back(table_.file(row));
    arrays.lines.push_back(table_.line(row));
    if (settings_.unknown_id < 0) return;
    const auto begin = arrays.ids.begin() + static_cast<std::ptrdiff_t>(arrays.begins.back());
    arrays.unknown_counts.push_back(static_cast<int32_t>(std::count(begin, arrays.ids.end(), settings_.unknown_id)));
  }

  DatasetArrays joined() {
    DatasetArrays all;
    all.part_offsets = all.target_offsets = {0};
    for (Piece& piece : pieces_) {
      shift(piece.arrays.begins, static_cast<int64_t>(all.ids.size()));
      shift(piece.arrays.part_offsets, all.part_offsets.back());
      shift(piece.arrays.target_offsets, all.target_offsets.back());
      // The end of one piece's offsets is the first of the next.
      all.part_offsets.pop_back();
      all.target_offsets.pop_back();
      for_each_array([](const char*, auto& to, const auto& from) { to.insert(to.end(), from.begin(), from.end()); },
                     all, piece.arrays);
      piece = Piece{};
    }
    if (!all.ids.empty()) all.feature_width = static_cast<int64_t>(all.features.size() / all.ids.size());
    return all;
  }

  static void shift(std::vector<int64_t>& offsets, int64_t by) {
    for (int64_t& offset : offsets) offset += by;
  }

  const Table& table_;
  const RowEncoder& encoder_;
  const EncodeSettings settings_;
  std::vector<Piece> pieces_;
  std::atomic<size_t> next_piece_ = 0;
  std::atomic<bool> has_failed_ = false;
};

}  // namespace

RowEncoder sequence_encoder(const Tokenizer& tokenizer, const EncodeOptions& options) {
  return [&tokenizer, options](const Table& table, int64_t row, EncodedRow& out) {
    out.parts.resize(1);
    if (table.roles().text_pair >= 0) {
      tokenizer.encode_pair(table.text(row), table.text_pair(row), options, &out.parts[0]);
    } else {
      tokenizer.encode(table.text(row), options, &out.parts[0]);
    }
  };
}

DatasetArrays encode_rows(const Table& table, const RowEncoder& encoder, const EncodeSettings& settings) {
  return ParallelEncoder(table, encoder, settings).encode();
}

uint64_t text_hash(const Table& table, int64_t row) { return hash64(table.text_pair(row), hash64(table.text(row))); }

}  // namespace bertft
