#include "data/csv_reader.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "core/error.h"
#include "core/text.h"
#include "tokenize/utf8.h"

namespace bertft {
namespace {

constexpr std::string_view kByteOrderMark = "\xEF\xBB\xBF";

class CsvReader final : public RecordReader {
 public:
  CsvReader(LineReader lines, char delimiter) : lines_(std::move(lines)), delimiter_(delimiter) {}

  FilePlan plan(const TableRequest& request, const ColumnPlan*, TextArena& arena) override {
    const std::string& path = lines_.source().path();
    Record first;
    if (!next(first, arena)) throw DataError(path + ": the file is empty. Check the path");
    if (!first.fault.empty()) {
      throw DataError(
          fmt::format("{}:{}: {}. Mend line 1, or set data.format when this is no CSV", path, first.line, first.fault));
    }
    std::vector<std::string_view> cells;
    for (const std::string_view cell : first.cells) cells.push_back(arena.copy(replace_invalid_utf8(cell)));
    FilePlan plan{.columns = plan_columns(path, cells, request),
                  .format = delimiter_ == ','    ? "csv"
                            : delimiter_ == '\t' ? "csv with tabs"
                                                 : fmt::format("csv with '{}'", delimiter_)};
    if (plan.columns.has_header) {
      plan.header_cells.assign(cells.begin(), cells.end());
    } else {
      if (plan.columns.is_from_schema) plan.header_cells = plan.columns.names;
      put_back(0);
    }
    return plan;
  }

  bool next(Record& record, TextArena& arena) override {
    used_.clear();
    record.cells.clear();
    record.fault.clear();
    if (!pull(arena)) return false;
    const std::string_view line = used_.front().text;
    record.line = used_.front().number;
    record.text = without_cr(line);
    record.is_empty_line = record.text.empty();
    at_ = line.starts_with(kByteOrderMark) && line.substr(kByteOrderMark.size()).starts_with('"') ? 3 : 0;
    while (record.fault.empty() && read_cell(record, arena)) {
    }
    if (!record.fault.empty()) put_back(1);
    return true;
  }

  LineReader& lines() override { return lines_; }

 private:
  // The text of the present line without its end.
  std::string_view present() const { return without_cr(used_.back().text); }

  bool pull(TextArena& arena) {
    Line line;
    if (!lines_.next(line, arena)) return false;
    used_.push_back(line);
    at_ = 0;
    return true;
  }

  // Unreads the lines of the present record from number `from` on.
  void put_back(size_t from) {
    while (used_.size() > from) {
      lines_.unread(used_.back());
      used_.pop_back();
    }
  }

  // Reads one cell from at_; false when it was the last of the record.
  bool read_cell(Record& record, TextArena& arena) {
    const std::string_view line = present();
    if (at_ < line.size() && line[at_] == '"') return read_quoted(record, arena);
    const size_t end = std::min(line.find(delimiter_, at_), line.size());
    record.cells.push_back(line.substr(at_, end - at_));
    return step_over_delimiter(line, end);
  }

  bool step_over_delimiter(std::string_view line, size_t end) {
    at_ = end + 1;
    return end < line.size();
  }

  bool read_quoted(Record& record, TextArena& arena) {
    const int64_t opened = used_.back().number;
    const size_t first_line = used_.size();
    size_t begin = ++at_;
    std::string gathered;  // what cannot be one view: doubled quotes, further lines
    bool is_view = true;
    size_t further = 0;
    while (true) {
      const std::string_view whole = used_.back().text;
      const size_t quote = whole.find('"', at_);
      if (quote == std::string_view::npos) {  // the cell goes on in the next line
        is_view = false;
        gathered.append(whole.substr(begin));
        gathered += '\n';
        further += used_.size() > first_line ? whole.size() : 0;
        if (further > kLongestQuotedBytes) return fail_open(record, opened, "within the next 16 MiB");
        if (!used_.back().has_end || !pull(arena)) return fail_open(record, opened, "before the end of the file");
        begin = 0;
      } else if (quote + 1 < whole.size() && whole[quote + 1] == '"') {
        is_view = false;
        gathered.append(whole.substr(begin, quote + 1 - begin));
        begin = at_ = quote + 2;
      } else {
        const std::string_view last = whole.substr(begin, quote - begin);
        record.cells.push_back(is_view ? last : arena.copy(gathered.append(last)));
        return end_quoted(record, quote, opened);
      }
    }
  }

  bool end_quoted(Record& record, size_t quote, int64_t opened) {
    const std::string_view line = present();
    if (quote + 1 >= line.size() || line[quote + 1] == delimiter_) return step_over_delimiter(line, quote + 1);
    const int64_t closed = used_.back().number;
    record.fault = fmt::format(
        "text behind a closing quote: {}; the quote opened in line {}. A quote inside a quoted cell is written twice",
        excerpt(replace_invalid_utf8(line.substr(quote, 60)), 40), opened);
    if (closed != opened) record.fault += fmt::format(", a missing one lets the cell run on to line {}", closed);
    return false;
  }

  bool fail_open(Record& record, int64_t opened, const char* where) {
    record.fault = fmt::format("the quote that opens in line {} is not closed {}", opened, where);
    return false;
  }

  LineReader lines_;
  const char delimiter_;
  std::vector<Line> used_;  // the lines of the present record
  size_t at_ = 0;           // where the next cell begins in the last of them
};

}  // namespace

std::unique_ptr<RecordReader> csv_reader(LineReader lines, char delimiter) {
  return std::make_unique<CsvReader>(std::move(lines), delimiter);
}

}  // namespace bertft
