#include "train/predictor.h"

#include <ostream>

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

PredictionWriter::PredictionWriter(std::ostream& out, const Task& task, const PredictionFormat& format)
    : out_(out), task_(task), format_(format) {}

void PredictionWriter::write_header(const std::vector<std::string>& input_columns) {
  TsvLine header;
  for (const std::string& column : input_columns) header.add(column);
  for (const std::string& column : task_.prediction_columns(format_)) header.add(column);
  out_ << header.finish();
  replaced_ += header.replaced();
}

void PredictionWriter::write_row(const Table& table, int64_t row, std::span<const double> outputs) {
  TsvLine line;
  for (size_t column = 0; column < table.columns().size(); ++column) {
    line.add(table.cell(row, static_cast<int>(column)));
  }
  const std::vector<std::string> cells = outputs.empty()
                                             ? std::vector<std::string>(task_.prediction_columns(format_).size())
                                             : task_.prediction_cells(outputs, format_);
  for (const std::string& cell : cells) line.add(cell);
  out_ << line.finish();
  replaced_ += line.replaced();
}

int64_t write_predictions(std::ostream& out, const Table& table, const Task& task, const RowOutputs& outputs,
                          const PredictionFormat& format) {
  PredictionWriter writer(out, task, format);
  writer.write_header(table.columns());
  for (int64_t row = 0; row < table.rows(); ++row) writer.write_row(table, row, outputs.row(row));
  return writer.replaced_characters();
}

}  // namespace bertft
