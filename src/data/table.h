// The rows of one data file as text: what every reader makes, whatever the format, and every command takes.
// Cells are views into storage that the table owns: the content of the file, and repaired or unescaped copies.
#pragma once

#include <cstdint>
#include <deque>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace bertft {

// Indices of the columns that matter; -1 = the table has none.
struct ColumnRoles {
  int text = -1;
  int text_pair = -1;
  int label = -1;
  int id = -1;
};

// What a reader met and dealt with, for the log and the data report.
struct ReadNotes {
  std::string format;         // "tsv" or "plain text"
  std::string header_reason;  // "line 1 names the columns", ...
  bool has_header = false;
  bool has_byte_order_mark = false;
  bool is_cut_by_max_rows = false;  // rows behind data.max_rows were not looked at
  int64_t lines = 0;                // read, the header line included
  int64_t crlf_lines = 0;           // of them, those that end in CR LF
  int64_t dropped_empty_lines = 0;  // at the end of the file
  int64_t replaced_parts = 0;       // invalid UTF-8 replaced by U+FFFD
  int64_t replaced_lines = 0;
  std::vector<int64_t> first_replaced_lines;  // the first three
};

class Table {
 public:
  // `path` is what messages call the file.
  Table(std::string path, std::vector<std::string> columns, ColumnRoles roles);
  Table(Table&&) = default;
  Table& operator=(Table&&) = default;
  Table(const Table&) = delete;
  Table& operator=(const Table&) = delete;

  const std::string& path() const { return path_; }
  // All columns of the file, in its order. Without a header line: "text", "label"... for those with a role, else
  // "column_3".
  const std::vector<std::string>& columns() const { return columns_; }
  const ColumnRoles& roles() const { return roles_; }

  int64_t rows() const { return static_cast<int64_t>(lines_.size()); }
  // REQUIRES row in [0, rows()) and column in [0, columns().size()). The view lives as long as the table.
  std::string_view cell(int64_t row, int column) const;
  // The cell of a role; "" when the table has no such column.
  std::string_view text(int64_t row) const { return role_cell(row, roles_.text); }
  std::string_view text_pair(int64_t row) const { return role_cell(row, roles_.text_pair); }
  std::string_view label(int64_t row) const { return role_cell(row, roles_.label); }

  // The line of the file on which the row starts, from 1.
  int64_t line(int64_t row) const { return lines_[static_cast<size_t>(row)]; }
  // "train.tsv:17", as messages name a row.
  std::string place(int64_t row) const;

  const ReadNotes& notes() const { return notes_; }
  ReadNotes& notes() { return notes_; }

  // For readers. Takes ownership of storage; the view stays valid, also when the table is moved.
  std::string_view keep(std::string storage);
  // `cells` are views into kept storage. REQUIRES one cell per column.
  void add_row(int64_t line, std::span<const std::string_view> cells);

 private:
  std::string_view role_cell(int64_t row, int column) const { return column < 0 ? "" : cell(row, column); }

  std::string path_;
  std::vector<std::string> columns_;
  ColumnRoles roles_;
  ReadNotes notes_;
  std::deque<std::string> storage_;      // elements keep their address when the deque grows or moves
  std::vector<std::string_view> cells_;  // row-major [rows, columns]
  std::vector<int64_t> lines_;           // [rows]
};

}  // namespace bertft
