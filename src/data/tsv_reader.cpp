#include "data/tsv_reader.h"

#include <fmt/format.h>

#include <utility>
#include <vector>

#include "core/error.h"
#include "core/text.h"
#include "data/faults.h"
#include "tokenize/utf8.h"

namespace bertft {
namespace {

constexpr std::string_view kByteOrderMark = "\xEF\xBB\xBF";

std::string_view without_mark(std::string_view text) {
  return text.substr(0, kByteOrderMark.size()) == kByteOrderMark ? text.substr(kByteOrderMark.size()) : text;
}

void split_cells(std::string_view line, std::vector<std::string_view>& cells) {
  cells.clear();
  for (size_t tab = line.find('\t'); tab != std::string_view::npos; tab = line.find('\t')) {
    cells.push_back(line.substr(0, tab));
    line.remove_prefix(tab + 1);
  }
  cells.push_back(line);
}

// Walks over the lines of a content, without their ends.
class LineCursor {
 public:
  explicit LineCursor(std::string_view content) : rest_(content) {}

  bool next(std::string_view& line, ReadNotes& notes) {
    if (rest_.empty()) return false;
    const size_t end = rest_.find('\n');
    line = rest_.substr(0, end);
    rest_.remove_prefix(end == std::string_view::npos ? rest_.size() : end + 1);
    ++number_;
    ++notes.lines;
    if (!line.empty() && line.back() == '\r') {
      line.remove_suffix(1);
      ++notes.crlf_lines;
    }
    return true;
  }
  int64_t number() const { return number_; }

 private:
  std::string_view rest_;
  int64_t number_ = 0;
};

// Reads the rows behind the header line into a table that owns the content.
class RowReader {
 public:
  RowReader(Table& table, const ColumnPlan& plan, int64_t max_rows)
      : table_(table), notes_(table.notes()), is_plain_text_(plan.is_plain_text), max_rows_(max_rows) {}

  void read(std::string_view content, bool has_header) {
    LineCursor lines(content);
    std::string_view line;
    if (has_header) lines.next(header_, notes_);
    while (lines.next(line, notes_)) {
      if (max_rows_ > 0 && table_.rows() + faults_.count() >= max_rows_) {
        notes_.is_cut_by_max_rows = true;
        break;
      }
      read_line(lines.number(), line, has_header);
    }
    notes_.dropped_empty_lines = pending_empty_lines_;
    faults_.throw_if_any(fmt::format("{}: {} faulty row{}", table_.path(), with_thousands(faults_.count()),
                                     faults_.count() == 1 ? "" : "s"),
                         "Mend or remove them");
  }

 private:
  void read_line(int64_t number, std::string_view line, bool has_header) {
    if (line.empty() && table_.columns().size() > 1) {
      if (pending_empty_lines_++ == 0) first_empty_line_ = number;
      return;
    }
    report_empty_lines();
    if (has_header && without_mark(line) == header_) {
      faults_.add([&] { return place(number) + "the header line again"; });
      return;
    }
    line = repaired(number, line);
    if (is_plain_text_) {
      cells_.assign(1, line);
    } else {
      split_cells(line, cells_);
    }
    if (cells_.size() != table_.columns().size()) {
      faults_.add([&] { return place(number) + ragged_text(line); });
      return;
    }
    table_.add_row(number, cells_);
  }

  // Empty lines with a row behind them are faults.
  void report_empty_lines() {
    for (int64_t i = 0; i < pending_empty_lines_; ++i) {
      faults_.add([&] { return place(first_empty_line_ + i) + "the line is empty" + expected_text(); });
    }
    pending_empty_lines_ = 0;
  }

  std::string_view repaired(int64_t number, std::string_view line) {
    if (is_valid_utf8(line)) return line;
    size_t parts = 0;
    const std::string_view mended = table_.keep(replace_invalid_utf8(line, &parts));
    notes_.replaced_parts += static_cast<int64_t>(parts);
    if (notes_.replaced_lines++ < 3) notes_.first_replaced_lines.push_back(number);
    return mended;
  }

  std::string place(int64_t number) const { return fmt::format("{}:{}: ", table_.path(), number); }

  std::string expected_text() const {
    std::vector<std::string> names;
    for (const std::string& name : table_.columns()) names.push_back(excerpt(name, 30));
    if (names.size() > 10) names.resize(10);
    const bool is_cut = names.size() < table_.columns().size();
    return fmt::format(", expected {} columns ({}{})", table_.columns().size(), join(names, ", "),
                       is_cut ? ", ..." : "");
  }

  std::string ragged_text(std::string_view line) const {
    return fmt::format("found {} column{}{}: {}", cells_.size(), cells_.size() == 1 ? "" : "s", expected_text(),
                       excerpt(line));
  }

  Table& table_;
  ReadNotes& notes_;
  const bool is_plain_text_;
  const int64_t max_rows_;
  std::string_view header_;
  FaultList faults_;
  std::vector<std::string_view> cells_;
  int64_t pending_empty_lines_ = 0;  // empty lines until a row follows
  int64_t first_empty_line_ = 0;
};

ColumnPlan plan_of_content(const std::string& path, std::string_view content, const TableRequest& request) {
  ReadNotes unused;
  std::string_view line;
  if (!LineCursor(content).next(line, unused)) throw DataError(path + ": the file is empty. Check the path");
  const std::string mended = replace_invalid_utf8(line);
  std::vector<std::string_view> cells;
  split_cells(mended, cells);
  return plan_columns(path, cells, request);
}

}  // namespace

Table read_tsv(const std::string& path, std::string content, const TableRequest& request) {
  const bool has_mark = without_mark(content).size() < content.size();
  const ColumnPlan plan = plan_of_content(path, without_mark(content), request);
  Table table(path, plan.names, plan.roles);
  ReadNotes& notes = table.notes();
  notes.format = plan.is_plain_text ? "plain text" : "tsv";
  notes.header_reason = plan.reason;
  notes.has_header = plan.has_header;
  notes.has_byte_order_mark = has_mark;
  RowReader(table, plan, request.max_rows).read(without_mark(table.keep(std::move(content))), plan.has_header);
  if (table.rows() == 0) {
    throw DataError(fmt::format("{}: no rows{}. Check the path, or how the file was made", path,
                                plan.has_header ? " behind the header line" : ""));
  }
  return table;
}

}  // namespace bertft
