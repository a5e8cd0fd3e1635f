// The rows of a table as token ids, flat in memory: what training, evaluation and prediction read from then on.
// A pure function of table, tokenizer, labels and encode options; the number of threads changes nothing but the time.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "data/labels.h"
#include "data/table.h"
#include "tokenize/options.h"

namespace bertft {

class Tokenizer;

struct EncodeSettings {
  EncodeOptions options;  // max_length, truncation; count_exactly gives true length percentiles in the data report
  int threads = 1;
};

// R = rows. The row order is the table's.
struct DatasetArrays {
  std::vector<int32_t> ids;            // all rows one behind the other
  std::vector<int64_t> offsets = {0};  // [R + 1] first id of each row, then the size of `ids`
  std::vector<int32_t> lengths;        // [R] ids per row
  std::vector<int32_t> second_begins;  // [R] first id of token type 1 within the row; its length when there is none
  std::vector<int32_t> untruncated_lengths;  // [R] before truncation; a lower bound unless counted exactly
  std::vector<int32_t> labels;               // [R] class numbers, or empty
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

// Tokenizes all rows: pairs when the table has a second text. `labels` null: prediction, no labels.
// Throws DataError for labels (see label_ids) and for rows that the tokenizer refuses ("train.tsv:17: ...").
Dataset encode_dataset(std::shared_ptr<const Table> table, const Tokenizer& tokenizer, const LabelTable* labels,
                       const EncodeSettings& settings);

}  // namespace bertft
