#include "data/delimited_reader.h"

#include <fmt/format.h>

#include <utility>

#include "core/error.h"
#include "tokenize/utf8.h"

namespace bertft {
namespace {

class DelimitedReader final : public RecordReader {
 public:
  DelimitedReader(LineReader lines, char delimiter, int64_t max_splits)
      : lines_(std::move(lines)), delimiter_(delimiter), max_splits_(max_splits) {}

  FilePlan plan(const TableRequest& request, const ColumnPlan*, TextArena& arena) override {
    const std::string& path = lines_.source().path();
    Line line;
    if (!lines_.next(line, arena)) throw DataError(path + ": the file is empty. Check the path");
    std::vector<std::string_view> cells;
    split(arena.copy(replace_invalid_utf8(without_cr(line.text))), cells);
    FilePlan plan{.columns = plan_columns(path, cells, request), .format = format_name()};
    is_plain_text_ = plan.columns.is_plain_text;
    if (is_plain_text_) plan.format = "plain text";
    if (plan.columns.has_header) {
      plan.header_cells.assign(cells.begin(), cells.end());
    } else {
      if (plan.columns.is_from_schema) plan.header_cells = plan.columns.names;
      lines_.unread(line);
    }
    return plan;
  }

  bool next(Record& record, TextArena& arena) override {
    Line line;
    if (!lines_.next(line, arena)) return false;
    record.line = line.number;
    record.text = without_cr(line.text);
    record.is_empty_line = record.text.empty();
    if (is_plain_text_) {
      record.cells.assign(1, record.text);
    } else {
      split(record.text, record.cells);
    }
    return true;
  }

  LineReader& lines() override { return lines_; }

 private:
  void split(std::string_view line, std::vector<std::string_view>& cells) const {
    cells.clear();
    for (int64_t splits = 0; max_splits_ == 0 || splits < max_splits_; ++splits) {
      const size_t at = line.find(delimiter_);
      if (at == std::string_view::npos) break;
      cells.push_back(line.substr(0, at));
      line.remove_prefix(at + 1);
    }
    cells.push_back(line);
  }

  std::string format_name() const {
    if (delimiter_ == '\t' && max_splits_ == 0) return "tsv";
    const std::string between = delimiter_ == '\t' ? "a tab" : fmt::format("'{}'", delimiter_);
    if (max_splits_ == 0) return fmt::format("columns divided by {}", between);
    return fmt::format("columns divided at the first {}{}",
                       max_splits_ == 1 ? "" : std::to_string(max_splits_) + " of ", between);
  }

  LineReader lines_;
  const char delimiter_;
  const int64_t max_splits_;
  bool is_plain_text_ = false;
};

}  // namespace

std::unique_ptr<RecordReader> delimited_reader(LineReader lines, char delimiter, int64_t max_splits) {
  return std::make_unique<DelimitedReader>(std::move(lines), delimiter, max_splits);
}

}  // namespace bertft
