#include "train/predictor.h"

#include <fmt/format.h>

#include <ostream>

#include "core/text.h"

namespace bertft {

PredictionWriter::PredictionWriter(std::ostream& out, const Task& task, const PredictionFormat& format, TableForm form)
    : out_(out), task_(task), format_(format), form_(form), predicted_columns_(task.prediction_columns(format)) {}

void PredictionWriter::write_header(const std::vector<std::string>& input_columns) {
  const bool is_json = form_ == TableForm::kJsonLines;
  input_columns_ = names_beside(input_columns, predicted_columns_, is_json, renamed_);
  if (is_json) return;
  std::vector<std::string_view> cells(input_columns_.begin(), input_columns_.end());
  cells.insert(cells.end(), predicted_columns_.begin(), predicted_columns_.end());
  write_line(cells);
}

void PredictionWriter::write_row(const Table& table, int64_t row, std::span<const double> outputs) {
  if (form_ == TableForm::kJsonLines) {
    write_object(table, row, outputs);
    return;
  }
  const std::vector<std::string> predicted =
      outputs.empty() ? std::vector<std::string>(predicted_columns_.size()) : task_.prediction_cells(outputs, format_);
  std::vector<std::string_view> cells;
  for (size_t column = 0; column < table.columns().size(); ++column) {
    cells.push_back(table.cell(row, static_cast<int>(column)));
  }
  cells.insert(cells.end(), predicted.begin(), predicted.end());
  write_line(cells);
}

void PredictionWriter::write_line(const std::vector<std::string_view>& cells) {
  std::string line;
  for (size_t i = 0; i < cells.size(); ++i) {
    if (form_ == TableForm::kCsv) {
      if (i > 0) line += ',';
      append_csv_cell(line, cells[i]);
    } else {
      if (i > 0) line += '\t';
      replaced_ += append_tsv_cell(line, cells[i]);
    }
  }
  out_ << line << '\n';
}

void PredictionWriter::write_object(const Table& table, int64_t row, std::span<const double> outputs) {
  const JsonMembers predicted = prediction_members(outputs);
  const std::string_view raw = table.raw(row);
  std::string line;
  if (raw.empty() || !extend_json_object(raw, predicted, renamed_, line)) {
    JsonMembers members;
    for (size_t column = 0; column < input_columns_.size(); ++column) {
      const bool is_missing = table.is_missing(row, static_cast<int>(column));
      const std::string_view cell = table.cell(row, static_cast<int>(column));
      members.emplace_back(input_columns_[column], is_missing ? "null" : json_string(cell));
    }
    if (!raw.empty()) {  // no object of JSON: the line is not lost
      std::vector<std::string> taken = input_columns_;
      taken.insert(taken.end(), predicted_columns_.begin(), predicted_columns_.end());
      members.emplace_back(free_name("line", taken), json_string(raw));
    }
    members.insert(members.end(), predicted.begin(), predicted.end());
    line = json_object(members);
  }
  out_ << line << '\n';
}

JsonMembers PredictionWriter::prediction_members(std::span<const double> outputs) const {
  JsonMembers members;
  for (const std::string& column : predicted_columns_) members.emplace_back(column, "null");
  if (outputs.empty()) return members;
  const std::vector<std::string> cells = task_.prediction_cells(outputs, format_);
  for (size_t i = 0; i < cells.size(); ++i) {
    members[i].second = is_number(members[i].first) ? json_number(cells[i]) : json_string(cells[i]);
  }
  return members;
}

bool PredictionWriter::is_number(const std::string& column) const {
  if (column == "prediction") return task_.labels().names().empty();
  return column == "probability" || column.starts_with("prob_") || column.starts_with("logit_");
}

std::vector<std::string> PredictionWriter::warnings() const {
  std::vector<std::string> warnings;
  if (replaced_ > 0) {
    warnings.push_back(fmt::format("{} tabs or line breaks inside cells became blanks", replaced_));
  }
  for (const auto& [column, name] : renamed_) {
    warnings.push_back(fmt::format("the input's column '{}' is called '{}' in the output, where its name is taken",
                                   excerpt(column), excerpt(name)));
  }
  return warnings;
}

int64_t write_predictions(std::ostream& out, const Table& table, const Task& task, const RowOutputs& outputs,
                          const PredictionFormat& format) {
  PredictionWriter writer(out, task, format);
  writer.write_header(table.columns());
  for (int64_t row = 0; row < table.rows(); ++row) writer.write_row(table, row, outputs.row(row));
  return writer.replaced_characters();
}

}  // namespace bertft
