// Rows of data files as text: what every reader makes, whatever the format, and every command takes.
// Cells are views into storage that the table owns.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "data/text_arena.h"

namespace bertft {

// Indices of the columns that matter; -1 = the table has none.
struct ColumnRoles {
  int text = -1;
  int text_pair = -1;
  int label = -1;
  int id = -1;
  std::vector<int> labels = {};  // of columns.labels, in its order; empty unless all are there
  bool operator==(const ColumnRoles&) const = default;
};

// What a reader met and dealt with, for the log and the data report. All files of a list together; the texts are those
// of the first file, with those of later files behind them where they differ.
struct ReadNotes {
  std::string format;         // "tsv", "csv", "jsonl", "plain text", "folder of texts"; with the delimiter if unusual
  std::string format_reason;  // "the name ends in .csv", "data.format says so", ...
  std::string header_reason;  // "line 1 names the columns", ...
  std::string encoding;       // "utf-8", "utf-16le", "utf-16be", "gb18030"
  bool has_header = false;
  bool has_byte_order_mark = false;
  bool is_cut_by_max_rows = false;  // rows behind data.max_rows were not looked at
  // Of all bytes of the files, in order; 0 = not known, since not all were read (max_rows). StreamHash for a single
  // file.
  uint64_t content_hash = 0;
  int64_t files = 0;                               // opened
  int64_t lines = 0;                               // read, the header line included
  int64_t crlf_lines = 0;                          // of them, those that end in CR LF
  int64_t dropped_empty_lines = 0;                 // at the end of a file
  int64_t replaced_parts = 0;                      // invalid UTF-8, or halves of characters, replaced by U+FFFD
  int64_t replaced_lines = 0;                      // rows with such parts
  std::vector<std::string> first_replaced_places;  // the first three: "train.tsv:7"
  int64_t skipped_rows = 0;                        // left out as data.bad_row or data.invalid_utf8 say
  std::vector<std::string> first_skipped;          // the first three: "train.tsv:7: found 1 column, ..."
  int64_t broken_rows = 0;                         // kept and marked, as prediction does
  std::vector<std::string> first_broken;           // the first three
  int64_t rows_with_other_keys = 0;                // JSON Lines: keys that make no column
  int64_t repeated_keys = 0;                       // JSON Lines: rows with a key twice; the last counts
};

// The files of a table or stream.
struct FileList {
  std::string name;  // for messages about all of them: "train.tsv", "a.tsv and 3 more paths"
  std::vector<std::string> files;
};

class Table {
 public:
  // `path` is what messages call the file.
  Table(std::string path, std::vector<std::string> columns, ColumnRoles roles);
  // Rows of several files.
  Table(std::shared_ptr<const FileList> files, std::vector<std::string> columns, ColumnRoles roles);
  Table(Table&&) = default;
  Table& operator=(Table&&) = default;
  Table(const Table&) = delete;
  Table& operator=(const Table&) = delete;

  // As messages about the whole table name it.
  const std::string& path() const { return files_->name; }
  // The files that the rows may come from, as messages name them.
  const std::vector<std::string>& files() const { return files_->files; }
  // All columns of the file, in its order. Without a header line: the names of data.schema, else "text", "label"... for
  // those with a role and "column_3" for others.
  const std::vector<std::string>& columns() const { return columns_; }
  const ColumnRoles& roles() const { return roles_; }

  int64_t rows() const { return static_cast<int64_t>(lines_.size()); }
  // REQUIRES row in [0, rows()) and column in [0, columns().size()). The view lives as long as the table. Valid UTF-8.
  std::string_view cell(int64_t row, int column) const;
  // The cell of a role; "" when the table has no such column.
  std::string_view text(int64_t row) const { return role_cell(row, roles_.text); }
  std::string_view text_pair(int64_t row) const { return role_cell(row, roles_.text_pair); }
  std::string_view label(int64_t row) const { return role_cell(row, roles_.label); }
  // A JSON null, or a key that the row lacks; its cell is "". Cells of other formats are never missing.
  bool is_missing(int64_t row, int column) const { return cell(row, column).data() == nullptr; }

  // A faulty row that was kept (BadRow::kKeep): its cells are what could be read, "" otherwise.
  bool is_broken(int64_t row) const { return broken_.contains(row); }
  // Why, as a message says it behind the place; "" for good rows.
  const std::string& broken_reason(int64_t row) const;
  int64_t broken_rows() const { return static_cast<int64_t>(broken_.size()); }

  // The JSON text of a row of JSON Lines, as it was written, with U+FFFD (or its escape) for invalid parts; "" for
  // other formats.
  std::string_view raw(int64_t row) const { return raw_.empty() ? "" : raw_[static_cast<size_t>(row)]; }

  // Which of files() the row comes from, and on which line, from 1, it starts there.
  int32_t file(int64_t row) const { return row_files_[static_cast<size_t>(row)]; }
  int64_t line(int64_t row) const { return lines_[static_cast<size_t>(row)]; }
  // "train.tsv:17", as messages name a row.
  std::string place(int64_t row) const;

  // Of the whole stream when the table was made, so those of the last chunk are complete.
  const ReadNotes& notes() const { return notes_; }
  ReadNotes& notes() { return notes_; }

  // For readers. What views into `arena` say stays valid, also when the table is moved.
  TextArena& arena() { return arena_; }
  size_t text_bytes() const { return arena_.bytes(); }
  struct RowPlace {
    int32_t file = 0;
    int64_t line = 0;
  };
  // `cells` are views into the arena or into what outlives the table; data() == nullptr marks a missing one. `raw` is
  // "" but for JSON Lines. REQUIRES one cell per column, and raw texts for all rows or for none.
  void add_row(RowPlace place, std::span<const std::string_view> cells, std::string_view raw = "");
  // Marks the row added last.
  void mark_broken(std::string reason);
  // Adds all rows of `other`, which has the same columns and files, and takes its notes.
  void append(Table&& other);

 private:
  std::string_view role_cell(int64_t row, int column) const { return column < 0 ? "" : cell(row, column); }

  std::shared_ptr<const FileList> files_;
  std::vector<std::string> columns_;
  ColumnRoles roles_;
  ReadNotes notes_;
  TextArena arena_;
  std::vector<std::string_view> cells_;  // row-major [rows, columns]
  std::vector<std::string_view> raw_;    // [rows], or empty
  std::vector<int64_t> lines_;           // [rows]
  std::vector<int32_t> row_files_;       // [rows]
  std::unordered_map<int64_t, std::string> broken_;
};

}  // namespace bertft
