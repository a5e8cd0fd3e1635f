// Writes predictions: the input's own columns, then the task's; one row per input row, in input order.
#pragma once

#include <cstdint>
#include <iosfwd>
#include <span>
#include <string>
#include <vector>

#include "data/dataset.h"
#include "data/table.h"
#include "tasks/row_outputs.h"
#include "tasks/task.h"
#include "train/json_row.h"
#include "train/table_text.h"

namespace bertft {

// Writes row by row, in one of the forms of table_text.h. The task's columns keep their names; columns of the input
// that are called so, too, are renamed (json_row.h). As JSON Lines a row that was read from JSON Lines keeps its text
// and gets further members; others become objects of strings. Columns `probability`, `prob_...` and `logit_...`, and
// `prediction` of a task without labels, are numbers there. A row that could not be read has empty cells, or null.
class PredictionWriter {
 public:
  // All references must outlive this object.
  PredictionWriter(std::ostream& out, const Task& task, const PredictionFormat& format,
                   TableForm form = TableForm::kTsv);

  // Called once, before the first row. JSON Lines have no header, so nothing is written.
  void write_header(const std::vector<std::string>& input_columns);
  // `outputs` empty: the row could not be read and has no prediction.
  void write_row(const Table& table, int64_t row, std::span<const double> outputs);

  // What a user should know of it: blanks for tabs, renamed columns. Whole sentences without a file name.
  std::vector<std::string> warnings() const;
  int64_t replaced_characters() const { return replaced_; }

 private:
  void write_line(const std::vector<std::string_view>& cells);
  void write_object(const Table& table, int64_t row, std::span<const double> outputs);
  JsonMembers prediction_members(std::span<const double> outputs) const;
  bool is_number(const std::string& column) const;

  std::ostream& out_;
  const Task& task_;
  const PredictionFormat format_;
  const TableForm form_;
  const std::vector<std::string> predicted_columns_;
  std::vector<std::string> input_columns_;  // as they are written
  RenamedColumns renamed_;
  int64_t replaced_ = 0;
};

// All rows of a table as TSV, whose outputs have its row numbers. Returns how many characters were replaced.
int64_t write_predictions(std::ostream& out, const Table& table, const Task& task, const RowOutputs& outputs,
                          const PredictionFormat& format);

}  // namespace bertft
