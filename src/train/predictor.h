// Writes predictions: the input's own columns, then the task's; one row per input row, in input order.
#pragma once

#include <cstdint>
#include <iosfwd>
#include <string>

#include "data/dataset.h"
#include "tasks/row_outputs.h"
#include "tasks/task.h"

namespace bertft {

// Writes a header line and all rows as TSV. A tab, CR or LF inside a cell becomes a blank; returns how many did.
int64_t write_predictions(std::ostream& out, const Table& table, const Task& task, const RowOutputs& outputs,
                          const PredictionFormat& format);

// The same into a file, atomically; warns about replaced characters.
void write_predictions_file(const std::string& path, const Table& table, const Task& task, const RowOutputs& outputs,
                            const PredictionFormat& format);

}  // namespace bertft
