// Makes a data set of tables that come one behind the other: a whole file in memory, or the pieces of a stream that
// never is in memory as a whole.
#pragma once

#include <string>
#include <unordered_map>

#include "data/dataset.h"
#include "data/row_encoder.h"
#include "data/unknown_tokens.h"

namespace bertft {

class CacheWriter;

class DatasetBuilder {
 public:
  // `tokenizer` says which id is unknown and which characters are to blame; it must outlive the builder. With a
  // writer, which is good, the ids go to its file as long as it can take them, and are not kept in memory.
  DatasetBuilder(const Tokenizer& tokenizer, RowEncoder encoder, int threads, CacheWriter* writer = nullptr);

  // Encodes and appends the rows of a table. All tables have the same columns. Throws as encode_rows.
  void add(const Table& table);

  // The arrays of all rows, and what is known of them; to be called once each, behind the last table. `ids` are empty
  // when the writer has them.
  DatasetArrays take_arrays();
  DataNotes take_notes(const ReadNotes& read, const std::vector<std::string>& files);

 private:
  void append_labels(const Table& table);
  void count_unknown(const Table& table, const DatasetArrays& encoded);
  void append(DatasetArrays& encoded);
  void append_ids(const std::vector<int32_t>& ids);

  const Tokenizer& tokenizer_;
  const RowEncoder encoder_;
  const int threads_;
  CacheWriter* writer_;
  int64_t ids_ = 0;  // appended, wherever they are
  DatasetArrays arrays_;
  DataNotes notes_;
  std::unordered_map<std::string, int32_t> label_numbers_;
  CharacterCounts characters_;
  int64_t searched_rows_ = 0;
};

// A data set of one table, in memory.
Dataset encode_table(const Table& table, const Tokenizer& tokenizer, const RowEncoder& encoder, int threads);

}  // namespace bertft
