#include "train/predictor.h"

#include <fmt/format.h>

#include <ostream>
#include <sstream>

#include "core/files.h"
#include "core/log.h"

namespace bertft {
namespace {

// One line of TSV under construction.
class TsvLine {
 public:
  void add(std::string_view cell) {
    if (!is_empty_) text_ += '\t';
    is_empty_ = false;
    for (const char c : cell) {
      const bool is_separator = c == '\t' || c == '\r' || c == '\n';
      replaced_ += is_separator ? 1 : 0;
      text_ += is_separator ? ' ' : c;
    }
  }
  const std::string& finish() {
    text_ += '\n';
    return text_;
  }
  int64_t replaced() const { return replaced_; }

 private:
  std::string text_;
  bool is_empty_ = true;
  int64_t replaced_ = 0;
};

}  // namespace

int64_t write_predictions(std::ostream& out, const Table& table, const Task& task, const RowOutputs& outputs,
                          const PredictionFormat& format) {
  int64_t replaced = 0;
  TsvLine header;
  for (const std::string& column : table.columns()) header.add(column);
  for (const std::string& column : task.prediction_columns(format)) header.add(column);
  out << header.finish();
  replaced += header.replaced();
  for (int64_t row = 0; row < table.rows(); ++row) {
    TsvLine line;
    for (size_t column = 0; column < table.columns().size(); ++column) {
      line.add(table.cell(row, static_cast<int>(column)));
    }
    for (const std::string& cell : task.prediction_cells(outputs.row(row), format)) line.add(cell);
    out << line.finish();
    replaced += line.replaced();
  }
  return replaced;
}

void write_predictions_file(const std::string& path, const Table& table, const Task& task, const RowOutputs& outputs,
                            const PredictionFormat& format) {
  std::ostringstream text;
  const int64_t replaced = write_predictions(text, table, task, outputs, format);
  write_file_atomically(path, text.str());
  if (replaced > 0) log::warn(fmt::format("{}: {} tabs or line breaks inside cells became blanks", path, replaced));
}

}  // namespace bertft
