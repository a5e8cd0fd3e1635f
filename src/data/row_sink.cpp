#include "data/row_sink.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "core/text.h"
#include "data/json_scanner.h"
#include "tokenize/utf8.h"

namespace bertft {
namespace {

constexpr size_t kShownPlaces = 3;
constexpr std::string_view kByteOrderMark = "\xEF\xBB\xBF";

std::string shown(std::string_view text) { return excerpt(replace_invalid_utf8(text.substr(0, 200))); }

}  // namespace

void RowSink::begin_file(const std::string& path, int32_t index, std::vector<std::string> header_cells) {
  path_ = path;
  file_ = index;
  header_cells_ = std::move(header_cells);
  faults_ = FaultList();
  empty_lines_ = 0;
}

void RowSink::end_file() {
  notes_.dropped_empty_lines += empty_lines_;
  faults_.throw_if_any(
      fmt::format("{}: {} faulty row{}", path_, with_thousands(faults_.count()), faults_.count() == 1 ? "" : "s"),
      request_.is_command_line ? "Mend or remove them"
                               : "Mend or remove them, or have them left out: data.bad_row or data.invalid_utf8: skip");
}

bool RowSink::is_full() const { return request_.max_rows > 0 && rows_ + faults_.count() >= request_.max_rows; }

void RowSink::take(Record& record, Table& table) {
  if (record.is_empty_line && columns_.names.size() > 1) {
    if (empty_lines_++ == 0) first_empty_line_ = record.line;
    return;
  }
  take_empty_lines(table);
  if (is_full()) return;
  take_row(record, table);
}

// Empty lines with a row behind them are faults.
void RowSink::take_empty_lines(Table& table) {
  Record empty;
  const int64_t count = std::exchange(empty_lines_, 0);
  for (int64_t i = 0; i < count && !is_full(); ++i) {
    empty.cells.clear();
    refuse(first_empty_line_ + i, "the line is empty" + expected_text(), empty, table);
  }
}

void RowSink::take_row(Record& record, Table& table) {
  if (const std::string fault = fault_of(record); !fault.empty()) {
    refuse(record.line, fault, record, table);
    return;
  }
  if (!mend_text(record, table)) return;
  if (record.has_other_keys) ++notes_.rows_with_other_keys;
  if (record.has_repeated_keys) ++notes_.repeated_keys;
  table.add_row({file_, record.line}, record.cells, record.raw);
  ++rows_;
}

std::string RowSink::fault_of(const Record& record) const {
  if (!record.fault.empty()) return record.fault;
  if (is_header(record)) return "the header line again";
  if (record.cells.size() != columns_.names.size()) {
    return fmt::format("found {} column{}{}: {}", record.cells.size(), record.cells.size() == 1 ? "" : "s",
                       expected_text(), shown(record.text));
  }
  return missing_text(record);
}

bool RowSink::is_header(const Record& record) const {
  if (header_cells_.empty() || record.cells.size() != header_cells_.size()) return false;
  std::string_view first = record.cells.front();
  if (first.starts_with(kByteOrderMark)) first.remove_prefix(kByteOrderMark.size());
  return first == header_cells_.front() &&
         std::equal(record.cells.begin() + 1, record.cells.end(), header_cells_.begin() + 1);
}

std::string RowSink::missing_text(const Record& record) const {
  for (const int role : {columns_.roles.text, columns_.roles.text_pair}) {
    if (role < 0 || record.cells[static_cast<size_t>(role)].data() != nullptr) continue;
    return fmt::format("'{}' is null or missing", excerpt(columns_.names[static_cast<size_t>(role)]));
  }
  return "";
}

// ", expected 2 columns (text, label)".
std::string RowSink::expected_text() const {
  std::vector<std::string> names;
  for (size_t i = 0; i < std::min<size_t>(columns_.names.size(), 10); ++i) {
    names.push_back(excerpt(columns_.names[i], 30));
  }
  const bool is_cut = names.size() < columns_.names.size();
  return fmt::format(", expected {} columns ({}{})", columns_.names.size(), join(names, ", "), is_cut ? ", ..." : "");
}

bool RowSink::mend_text(Record& record, Table& table) {
  size_t parts = 0;
  for (std::string_view& cell : record.cells) {
    if (!is_valid_utf8(cell)) cell = table.arena().copy(replace_invalid_utf8(cell, &parts));
  }
  if (!record.raw.empty()) {
    size_t raw_parts = 0;
    std::string mended = json_with_whole_pairs(record.raw, &raw_parts);
    if (!is_valid_utf8(mended)) mended = replace_invalid_utf8(mended, &raw_parts);
    if (raw_parts > 0) record.raw = table.arena().copy(mended);
  }
  if (parts == 0) return true;
  if (request_.invalid_utf8 == InvalidText::kReplace) {
    count_replaced(record.line, parts);
    return true;
  }
  const std::string reason = fmt::format("{} invalid part{} in the text ({} is {})", parts, parts == 1 ? "" : "s",
                                         option_name(request_, "invalid_utf8"),
                                         request_.invalid_utf8 == InvalidText::kError ? "error" : "skip");
  if (request_.invalid_utf8 == InvalidText::kError) {
    faults_.add([&] { return place(record.line) + reason; });
  } else if (request_.bad_row == BadRow::kKeep) {
    refuse(record.line, reason, record, table);
  } else {
    ++notes_.skipped_rows;
    note(notes_.first_skipped, record.line, reason);
  }
  return false;
}

void RowSink::count_replaced(int64_t line, size_t parts) {
  notes_.replaced_parts += static_cast<int64_t>(parts);
  if (++notes_.replaced_lines <= static_cast<int64_t>(kShownPlaces)) {
    notes_.first_replaced_places.push_back(fmt::format("{}:{}", path_, line));
  }
}

void RowSink::refuse(int64_t line, const std::string& reason, Record& record, Table& table) {
  switch (request_.bad_row) {
    case BadRow::kError:
      faults_.add([&] { return place(line) + reason; });
      return;
    case BadRow::kSkip:
      ++notes_.skipped_rows;
      note(notes_.first_skipped, line, reason);
      return;
    case BadRow::kKeep:
      break;
  }
  size_t parts = 0;
  record.cells.resize(columns_.names.size(), table.arena().copy(""));
  for (std::string_view& cell : record.cells) {
    if (!is_valid_utf8(cell)) cell = table.arena().copy(replace_invalid_utf8(cell, &parts));
  }
  const std::string raw = replace_invalid_utf8(record.raw);
  table.add_row({file_, line}, record.cells, record.raw.empty() ? "" : table.arena().copy(raw));
  table.mark_broken(reason);
  ++rows_;
  ++notes_.broken_rows;
  if (parts > 0) count_replaced(line, parts);
  note(notes_.first_broken, line, reason);
}

void RowSink::note(std::vector<std::string>& places, int64_t line, const std::string& reason) const {
  if (places.size() < kShownPlaces) places.push_back(place(line) + reason);
}

std::string RowSink::place(int64_t line) const { return fmt::format("{}:{}: ", path_, line); }

}  // namespace bertft
