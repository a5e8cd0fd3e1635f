// What the tests of src/data share: tables from literal content, and errors as texts.
#pragma once

#include <string>
#include <vector>

#include "data/reader.h"
#include "tests/support/test.h"

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

// The message of the error of class E that `action` throws; fails the test when it throws nothing or something else.
template <typename E, typename Action>
std::string message_of(Action&& action) {
  try {
    action();
  } catch (const E& error) {
    return error.what();
  }
  FAIL("no error was thrown");
  return "";
}

// All cells of one column.
inline std::vector<std::string> column(const Table& table, int index) {
  std::vector<std::string> cells;
  for (int64_t row = 0; row < table.rows(); ++row) cells.emplace_back(table.cell(row, index));
  return cells;
}

}  // namespace bertft::test
