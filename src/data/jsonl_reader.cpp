#include "data/jsonl_reader.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <unordered_map>
#include <utility>

#include "core/error.h"
#include "core/text.h"
#include "data/json_scanner.h"
#include "tokenize/utf8.h"

namespace bertft {
namespace {

constexpr size_t kLookedAtRows = 100;
constexpr size_t kLookedAtBytes = 16 << 20;
constexpr std::string_view kByteOrderMark = "\xEF\xBB\xBF";
constexpr std::string_view kBlanks = " \t\r";

std::string_view object_of(std::string_view line) {
  return line.starts_with(kByteOrderMark) ? line.substr(kByteOrderMark.size()) : line;
}

std::string_view head_of(std::string_view path) { return path.substr(0, path.find('.')); }

// The cell that a value makes; nothing for null.
std::optional<std::string_view> cell_of(const JsonMember& member, TextArena& arena) {
  switch (member.kind) {
    case JsonKind::kNull:
      return std::nullopt;
    case JsonKind::kString:
      return json_text(member.value.substr(1, member.value.size() - 2), arena);
    case JsonKind::kObject:
    case JsonKind::kArray:
      return arena.copy(json_compact(member.value));
    default:
      return member.value;
  }
}

// The cell at the end of a dotted path that begins in `member`.
std::optional<std::string_view> cell_at(const JsonMember& member, std::string_view path, TextArena& arena) {
  const size_t dot = path.find('.');
  if (dot == std::string_view::npos) return cell_of(member, arena);
  if (member.kind != JsonKind::kObject) return std::nullopt;
  const std::string_view rest = path.substr(dot + 1);
  std::optional<std::string_view> cell;
  JsonObject object(member.value);
  for (JsonMember inner; object.next(inner);) {
    if (json_text(inner.key, arena) == head_of(rest)) cell = cell_at(inner, rest, arena);
  }
  return cell;
}

class JsonlReader final : public RecordReader {
 public:
  explicit JsonlReader(LineReader lines) : lines_(std::move(lines)) {}

  FilePlan plan(const TableRequest& request, const ColumnPlan* first, TextArena& arena) override;
  bool next(Record& record, TextArena& arena) override;
  LineReader& lines() override { return lines_; }

 private:
  struct NestedColumn {
    size_t index;
    std::string path;
  };

  void look_at(const Line& line, const std::vector<std::string>& wanted, TextArena& arena);
  void add_column(std::string_view name) { columns_.emplace_back(name); }
  void index_columns(const std::vector<std::string>& names);
  [[noreturn]] void fail_without_rows(const Line& first_line) const;
  void read_member(const JsonMember& member, Record& record, TextArena& arena) const;

  LineReader lines_;
  std::vector<std::string> columns_;
  std::string first_fault_;
  std::unordered_map<std::string_view, size_t> index_of_key_;  // into columns_
  std::vector<NestedColumn> nested_;
};

FilePlan JsonlReader::plan(const TableRequest& request, const ColumnPlan* first, TextArena& arena) {
  const std::string& path = lines_.source().path();
  std::vector<Line> looked_at;
  const std::vector<std::string> wanted = named_columns(request);
  size_t bytes = 0;
  for (Line line; looked_at.size() < kLookedAtRows && bytes < kLookedAtBytes && lines_.next(line, arena);) {
    looked_at.push_back(line);
    bytes += line.text.size();
    look_at(line, wanted, arena);
  }
  if (looked_at.empty()) throw DataError(path + ": the file is empty. Check the path");
  if (columns_.empty() || object_of(looked_at.front().text).starts_with('[')) fail_without_rows(looked_at.front());
  for (auto line = looked_at.rbegin(); line != looked_at.rend(); ++line) lines_.unread(*line);
  FilePlan plan{.columns = {}, .format = "jsonl"};
  if (first != nullptr) columns_ = first->names;
  plan.columns = plan_named_columns(path, columns_, "the keys of the first rows are", request);
  index_columns(plan.columns.names);
  return plan;
}

// Takes the columns from the first good row, and from others what is wanted and not there yet.
void JsonlReader::look_at(const Line& line, const std::vector<std::string>& wanted, TextArena& arena) {
  std::vector<std::string> keys;
  std::vector<std::string> paths;
  JsonObject object(object_of(line.text));
  for (JsonMember member; object.next(member);) {
    const std::string key = replace_invalid_utf8(json_text(member.key, arena));
    keys.push_back(key);
    for (const std::string& name : wanted) {
      if (name != key && head_of(name) == key && cell_at(member, name, arena)) paths.push_back(name);
    }
  }
  if (!object.fault().empty()) {
    const bool is_blank = line.text.find_first_not_of(kBlanks) == std::string_view::npos;
    if (first_fault_.empty() && !is_blank) first_fault_ = object.fault();
    return;
  }
  const auto is_new = [&](const std::string& name) {
    return std::find(columns_.begin(), columns_.end(), name) == columns_.end();
  };
  const bool is_first = columns_.empty();
  for (const std::string& key : keys) {
    const bool is_wanted = std::find(wanted.begin(), wanted.end(), key) != wanted.end();
    if ((is_first || is_wanted) && is_new(key)) add_column(key);
  }
  for (const std::string& name : paths) {
    if (is_new(name)) add_column(name);
  }
}

void JsonlReader::fail_without_rows(const Line& first_line) const {
  const std::string& path = lines_.source().path();
  const size_t start = first_line.text.find_first_not_of(kBlanks);
  const char first = start == std::string_view::npos ? '\0' : object_of(first_line.text)[0];
  if (first == '[') {
    throw DataError(path +
                    ":1: the file begins with an array; JSON Lines has one object per line. Convert it: jq -c "
                    "'.[]' FILE");
  }
  throw DataError(fmt::format(
      "{}:{}: not an object of JSON: {}. JSON Lines has one whole object per line; if this is something else, set "
      "data.format",
      path, first_line.number, first_fault_.empty() ? "there are no keys" : first_fault_));
}

void JsonlReader::index_columns(const std::vector<std::string>& names) {
  columns_ = names;
  for (size_t i = 0; i < columns_.size(); ++i) {
    index_of_key_.emplace(columns_[i], i);
    if (columns_[i].find('.') != std::string::npos) nested_.push_back({i, columns_[i]});
  }
}

bool JsonlReader::next(Record& record, TextArena& arena) {
  Line line;
  if (!lines_.next(line, arena)) return false;
  record.line = line.number;
  record.text = record.raw = without_cr(object_of(line.text));
  record.is_empty_line = record.text.find_first_not_of(kBlanks) == std::string_view::npos;
  record.fault.clear();
  record.has_other_keys = record.has_repeated_keys = false;
  record.cells.assign(columns_.size(), std::string_view());
  if (record.is_empty_line) return true;
  JsonObject object(record.text);
  for (JsonMember member; object.next(member);) read_member(member, record, arena);
  if (!object.fault().empty()) record.fault = "not an object of JSON: " + object.fault();
  return true;
}

void JsonlReader::read_member(const JsonMember& member, Record& record, TextArena& arena) const {
  const std::string_view key = json_text(member.key, arena);
  const auto at = index_of_key_.find(key);
  bool is_used = at != index_of_key_.end();
  if (is_used) {
    std::string_view& cell = record.cells[at->second];
    if (cell.data() != nullptr) record.has_repeated_keys = true;
    cell = cell_of(member, arena).value_or(std::string_view());
  }
  for (const NestedColumn& column : nested_) {
    if (head_of(column.path) != key || column.path == key) continue;
    is_used = true;
    std::string_view& cell = record.cells[column.index];
    if (cell.data() == nullptr) cell = cell_at(member, column.path, arena).value_or(std::string_view());
  }
  if (!is_used) record.has_other_keys = true;
}

}  // namespace

std::unique_ptr<RecordReader> jsonl_reader(LineReader lines) { return std::make_unique<JsonlReader>(std::move(lines)); }

}  // namespace bertft
