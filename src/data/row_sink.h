// What becomes of a record: a row of the table, a fault, or a row left out. The one place for the rules on bad rows,
// invalid text, empty lines and data.max_rows, whatever the format.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "data/columns.h"
#include "data/faults.h"
#include "data/record_reader.h"
#include "data/table.h"

namespace bertft {

// Bad rows: another number of cells than the file has columns, an empty line with rows behind it (in a file of several
// columns), the header line again (also with a byte order mark before it), what the format itself refuses, and a
// missing text. Empty lines at the end of a file are dropped.
class RowSink {
 public:
  // `columns` and `notes` must outlive it.
  RowSink(const TableRequest& request, const ColumnPlan& columns, ReadNotes& notes)
      : request_(request), columns_(columns), notes_(notes) {}

  // Called before the first record of a file; `index` as Table::file.
  void begin_file(const std::string& path, int32_t index, std::vector<std::string> header_cells);
  // Throws DataError with all faults of the file, if it has any.
  void end_file();

  // Takes a record; its views must live as long as `table`, whose columns are the plan's.
  void take(Record& record, Table& table);

  // data.max_rows are there: no further record is wanted.
  bool is_full() const;
  bool has_faults() const { return faults_.count() > 0; }
  // In all tables.
  int64_t rows() const { return rows_; }

 private:
  void take_empty_lines(Table& table);
  void take_row(Record& record, Table& table);
  std::string fault_of(const Record& record) const;
  bool is_header(const Record& record) const;
  std::string missing_text(const Record& record) const;
  std::string expected_text() const;
  // False when the row must not be used as it is.
  bool mend_text(Record& record, Table& table);
  void count_replaced(int64_t line, size_t parts);
  void refuse(int64_t line, const std::string& reason, Record& record, Table& table);
  void note(std::vector<std::string>& places, int64_t line, const std::string& reason) const;
  std::string place(int64_t line) const;

  const TableRequest request_;
  const ColumnPlan& columns_;
  ReadNotes& notes_;
  std::string path_;
  int32_t file_ = 0;
  std::vector<std::string> header_cells_;
  FaultList faults_;  // of the present file
  int64_t rows_ = 0;
  int64_t empty_lines_ = 0;  // since the last row
  int64_t first_empty_line_ = 0;
};

}  // namespace bertft
