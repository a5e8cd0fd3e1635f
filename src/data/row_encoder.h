// From rows of text to arrays of ids, with several threads: the step between a reader's table and a data set.
// A pure function of table and encoder; the number of threads changes nothing but the time.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "data/dataset_arrays.h"
#include "data/table.h"
#include "tokenize/options.h"
#include "tokenize/tokenizer.h"

namespace bertft {

// What one row becomes.
struct EncodedRow {
  std::vector<Encoding> parts;   // one or more sequences
  std::vector<int32_t> targets;  // beyond a label
  std::vector<float> features;   // feature_width values for each id of all parts
};

// Fills `out`, which holds an earlier row; called from several threads at once. DataError is given the row's place.
using RowEncoder = std::function<void(const Table& table, int64_t row, EncodedRow& out)>;

// Each row is one sequence: a text, or a pair when the table has a second text. `tokenizer` must outlive the encoder.
RowEncoder sequence_encoder(const Tokenizer& tokenizer, const EncodeOptions& options);

struct EncodeSettings {
  int threads = 1;
  int32_t unknown_id = -1;  // that unknown_counts counts; -1: it stays empty
};

// All rows of a table, broken ones too. `label_texts` stay empty; offsets and begins count from 0.
// Throws the DataError of the first row that the encoder refuses ("train.tsv:17: ...").
DatasetArrays encode_rows(const Table& table, const RowEncoder& encoder, const EncodeSettings& settings);

// The hash of a row's text or pair, as text_hashes holds it.
uint64_t text_hash(const Table& table, int64_t row);

}  // namespace bertft
