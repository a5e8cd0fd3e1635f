#include "data/table.h"

#include <utility>

#include "core/error.h"

namespace bertft {

Table::Table(std::string path, std::vector<std::string> columns, ColumnRoles roles)
    : path_(std::move(path)), columns_(std::move(columns)), roles_(roles) {}

std::string_view Table::cell(int64_t row, int column) const {
  return cells_[static_cast<size_t>(row) * columns_.size() + static_cast<size_t>(column)];
}

std::string Table::place(int64_t row) const { return path_ + ":" + std::to_string(line(row)); }

std::string_view Table::keep(std::string storage) { return storage_.emplace_back(std::move(storage)); }

void Table::add_row(int64_t line, std::span<const std::string_view> cells) {
  check(cells.size() == columns_.size(), "one cell per column");
  cells_.insert(cells_.end(), cells.begin(), cells.end());
  lines_.push_back(line);
}

}  // namespace bertft
