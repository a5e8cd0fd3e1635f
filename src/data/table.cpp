#include "data/table.h"

#include <utility>

#include "core/error.h"

namespace bertft {

Table::Table(std::string path, std::vector<std::string> columns, ColumnRoles roles)
    : Table(std::make_shared<const FileList>(FileList{path, {path}}), std::move(columns), roles) {}

Table::Table(std::shared_ptr<const FileList> files, std::vector<std::string> columns, ColumnRoles roles)
    : files_(std::move(files)), columns_(std::move(columns)), roles_(roles) {
  check(!files_->files.empty(), "rows come from a file");
}

std::string_view Table::cell(int64_t row, int column) const {
  return cells_[static_cast<size_t>(row) * columns_.size() + static_cast<size_t>(column)];
}

const std::string& Table::broken_reason(int64_t row) const {
  static const std::string kNone;
  const auto at = broken_.find(row);
  return at == broken_.end() ? kNone : at->second;
}

std::string Table::place(int64_t row) const {
  return files_->files[static_cast<size_t>(file(row))] + ":" + std::to_string(line(row));
}

void Table::add_row(RowPlace place, std::span<const std::string_view> cells, std::string_view raw) {
  check(cells.size() == columns_.size(), "one cell per column");
  cells_.insert(cells_.end(), cells.begin(), cells.end());
  if (!raw.empty() || !raw_.empty()) {
    raw_.resize(lines_.size());
    raw_.push_back(raw);
  }
  lines_.push_back(place.line);
  row_files_.push_back(place.file);
}

void Table::mark_broken(std::string reason) { broken_[rows() - 1] = std::move(reason); }

void Table::append(Table&& other) {
  check(columns_ == other.columns_ && files_->files == other.files_->files, "tables of one stream");
  for (auto& [row, reason] : other.broken_) broken_[rows() + row] = std::move(reason);
  if (!raw_.empty() || !other.raw_.empty()) {
    raw_.resize(lines_.size());
    raw_.insert(raw_.end(), other.raw_.begin(), other.raw_.end());
    raw_.resize(lines_.size() + other.lines_.size());
  }
  cells_.insert(cells_.end(), other.cells_.begin(), other.cells_.end());
  lines_.insert(lines_.end(), other.lines_.begin(), other.lines_.end());
  row_files_.insert(row_files_.end(), other.row_files_.begin(), other.row_files_.end());
  arena_.absorb(std::move(other.arena_));
  notes_ = std::move(other.notes_);
}

}  // namespace bertft
