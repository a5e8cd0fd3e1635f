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

namespace bertft {

// Writes TSV row by row. A tab, CR or LF inside a cell becomes a blank and is counted.
class PredictionWriter {
 public:
  // All references must outlive this object.
  PredictionWriter(std::ostream& out, const Task& task, const PredictionFormat& format);

  void write_header(const std::vector<std::string>& input_columns);
  // `outputs` empty: the row could not be read and has no prediction; its cells stay empty.
  void write_row(const Table& table, int64_t row, std::span<const double> outputs);

  int64_t replaced_characters() const { return replaced_; }

 private:
  std::ostream& out_;
  const Task& task_;
  const PredictionFormat format_;
  int64_t replaced_ = 0;
};

// All rows of a table, whose outputs have its row numbers. Returns how many characters were replaced.
int64_t write_predictions(std::ostream& out, const Table& table, const Task& task, const RowOutputs& outputs,
                          const PredictionFormat& format);

}  // namespace bertft
