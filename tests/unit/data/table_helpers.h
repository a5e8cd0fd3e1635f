// What the tests of src/data share: tables from literal content.
#pragma once

#include <string>
#include <vector>

#include "data/dataset_builder.h"
#include "data/reader.h"
#include "tests/support/errors.h"
#include "tests/unit/data/tiny_tokenizer.h"

namespace bertft::test {

// A request for columns text and label.
inline TableRequest labelled_request() {
  TableRequest request;
  request.needs_label = true;
  return request;
}

inline Table labelled_table(const std::string& content, const std::string& path = "train.tsv") {
  return parse_table(path, content, labelled_request());
}

// All cells of one column.
inline std::vector<std::string> column(const Table& table, int index) {
  std::vector<std::string> cells;
  for (int64_t row = 0; row < table.rows(); ++row) cells.emplace_back(table.cell(row, index));
  return cells;
}

// The rows of a table as a data set without targets, made with tiny_tokenizer().
inline Dataset tiny_dataset(const Table& table, const EncodeOptions& options = {}, int threads = 1) {
  const Tokenizer& tokenizer = tiny_tokenizer();
  return encode_table(table, tokenizer, sequence_encoder(tokenizer, options), threads);
}

template <typename T>
std::vector<T> copied(std::span<const T> values) {
  return {values.begin(), values.end()};
}

}  // namespace bertft::test
