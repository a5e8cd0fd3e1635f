// The rows of a table as token ids, flat in memory: what training, evaluation and prediction read from then on.
// A pure function of table, tokenizer, labels and encode options; the number of threads changes nothing but the time.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <vector>

#include "data/labels.h"
#include "data/table.h"
#include "tokenize/options.h"
#include "tokenize/tokenizer.h"

namespace bertft {

struct EncodeSettings {
  EncodeOptions options;  // max_length, truncation; count_exactly gives true length percentiles in the data report
  int threads = 1;
};

// R = rows, P = sequences of all rows. The row order is the table's.
struct DatasetArrays {
  std::vector<int32_t> ids;            // all rows one behind the other
  std::vector<int64_t> offsets = {0};  // [R + 1] first id of each row, then the size of `ids`
  std::vector<int32_t> lengths;        // [R] ids per row
  std::vector<int32_t> second_begins;  // [R] first id of token type 1 within the row; its length when there is none
  std::vector<int32_t> untruncated_lengths;  // [R] before truncation; a lower bound unless counted exactly
  std::vector<int32_t> labels;               // [R] class numbers, or empty

  // Rows of several sequences (windows of a long text, a question with its answers). Empty: one sequence a row, whose
  // second_begin is the row's.
  std::vector<int64_t> part_offsets;        // [R + 1] first part of each row, then P
  std::vector<int32_t> part_lengths;        // [P] those of a row add up to its length
  std::vector<int32_t> part_second_begins;  // [P] first id of token type 1 within the part; its length when none

  // Targets other than one class a row: any number of them each (one per token, the ends of a span). Empty: none.
  std::vector<int64_t> target_offsets;  // [R + 1]
  std::vector<int32_t> targets;

  // Real-valued inputs per token (image patches): width values for each id, or none.
  int64_t feature_width = 0;
  std::vector<float> features;  // [ids, feature_width]
};

class Dataset {
 public:
  // REQUIRES arrays of the sizes above; `table` may be null (tests), then table() must not be called.
  Dataset(DatasetArrays arrays, std::shared_ptr<const Table> table);

  int64_t rows() const { return static_cast<int64_t>(arrays_.lengths.size()); }
  int64_t tokens() const { return static_cast<int64_t>(arrays_.ids.size()); }

  std::span<const int32_t> ids(int64_t row) const {
    return std::span(arrays_.ids)
        .subspan(static_cast<size_t>(arrays_.offsets[static_cast<size_t>(row)]), static_cast<size_t>(length(row)));
  }
  int32_t length(int64_t row) const { return arrays_.lengths[static_cast<size_t>(row)]; }
  int32_t second_begin(int64_t row) const { return arrays_.second_begins[static_cast<size_t>(row)]; }

  // The lengths of the row's sequences, and the second_begin of each.
  std::span<const int32_t> part_lengths(int64_t row) const;
  std::span<const int32_t> part_second_begins(int64_t row) const;

  // Its targets; empty when the data set has none beyond labels.
  std::span<const int32_t> targets(int64_t row) const;
  int64_t feature_width() const { return arrays_.feature_width; }
  // [length(row), feature_width]; empty without features.
  std::span<const float> features(int64_t row) const;

  bool has_labels() const { return !arrays_.labels.empty(); }
  // REQUIRES has_labels().
  int32_t label(int64_t row) const { return arrays_.labels[static_cast<size_t>(row)]; }

  // Indexed by row, as the functions of sampler.h take them.
  const std::vector<int32_t>& lengths() const { return arrays_.lengths; }
  const std::vector<int32_t>& untruncated_lengths() const { return arrays_.untruncated_lengths; }
  const std::vector<int32_t>& labels() const { return arrays_.labels; }

  int64_t truncated_rows() const;

  // The rows as they were read, for outputs and messages.
  const Table& table() const { return *table_; }

 private:
  DatasetArrays arrays_;
  std::shared_ptr<const Table> table_;
};

// What one row becomes.
struct EncodedRow {
  std::vector<Encoding> parts;   // one or more sequences
  std::vector<int32_t> targets;  // beyond a label
  std::vector<float> features;   // feature_width values for each id of all parts
};

// Fills `out`, which holds an earlier row; called from several threads at once. DataError is given the row's place.
using RowEncoder = std::function<void(int64_t row, EncodedRow& out)>;

// Encodes all rows of a table with a task's own encoder. The arrays have no labels.
DatasetArrays encode_rows(const Table& table, const RowEncoder& encoder, int threads);

// Tokenizes all rows, one sequence each: pairs when the table has a second text. `labels` null: prediction, no labels.
// Throws DataError for labels (see label_ids) and for rows that the tokenizer refuses ("train.tsv:17: ...").
Dataset encode_dataset(std::shared_ptr<const Table> table, const Tokenizer& tokenizer, const LabelTable* labels,
                       const EncodeSettings& settings);

}  // namespace bertft
