#include "data/columns.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>

#include "core/error.h"
#include "core/text.h"
#include "data/faults.h"
#include "data/schema.h"

namespace bertft {
namespace {

struct WantedColumn {
  std::string role;
  std::string name;
  bool is_required;
};

std::vector<WantedColumn> wanted_columns(const TableRequest& request) {
  const ColumnNames& columns = request.columns;
  std::vector<WantedColumn> wanted = {{"text", columns.text, true}};
  if (!columns.text_pair.empty()) wanted.push_back({"text_pair", columns.text_pair, !request.is_pair_optional});
  for (const std::string& name : columns.labels) wanted.push_back({"labels", name, request.needs_label});
  if (!columns.label.empty() && columns.labels.empty()) {
    wanted.push_back({"label", columns.label, request.needs_label});
  }
  if (!columns.id.empty()) wanted.push_back({"id", columns.id, request.needs_label});
  return wanted;
}

void check_request(const TableRequest& request, const std::vector<WantedColumn>& wanted) {
  if (request.columns.text.empty())
    throw ConfigError(option_name(request, "columns.text") + " is empty: name the column of the text");
  if (request.needs_label && request.columns.label.empty() && request.columns.labels.empty()) {
    throw ConfigError(option_name(request, "columns.label") + " is empty: name the column of the label");
  }
  for (size_t a = 0; a < wanted.size(); ++a) {
    for (size_t b = a + 1; b < wanted.size(); ++b) {
      if (wanted[a].name == wanted[b].name && wanted[b].role != "id") {
        throw ConfigError(fmt::format("{} and {} both name column '{}': choose two columns",
                                      option_name(request, "columns." + wanted[a].role),
                                      option_name(request, "columns." + wanted[b].role), excerpt(wanted[a].name)));
      }
    }
  }
}

// Cells and lists cut to what a message can show.
std::string shown_columns(const std::vector<std::string>& names) {
  constexpr size_t kShown = 20;
  std::vector<std::string> shown;
  for (size_t i = 0; i < std::min(names.size(), kShown); ++i) shown.push_back("'" + excerpt(names[i], 40) + "'");
  return join(shown, ", ") + (names.size() > kShown ? fmt::format(" and {} more", names.size() - kShown) : "");
}

std::string shown_wanted(const TableRequest& request, const std::vector<WantedColumn>& wanted) {
  std::vector<std::string> shown;
  for (const WantedColumn& one : wanted) {
    if (!one.is_required) continue;
    shown.push_back(fmt::format("'{}' ({})", excerpt(one.name, 40), option_name(request, "columns." + one.role)));
  }
  return join(shown, ", ");
}

class Planner {
 public:
  Planner(const std::string& path, std::span<const std::string_view> first_line, const TableRequest& request)
      : path_(path),
        cells_(first_line.begin(), first_line.end()),
        request_(request),
        wanted_(wanted_columns(request)) {}

  Planner(const std::string& path, const std::vector<std::string>& names, const TableRequest& request)
      : path_(path), cells_(names), request_(request), wanted_(wanted_columns(request)) {}

  // The columns are called cells_; `what` says who says so.
  ColumnPlan named(const std::string& what, bool may_be_positions) const {
    check_request(request_, wanted_);
    ColumnPlan plan{.reason = what + " the columns", .names = cells_};
    std::vector<std::string> missing;
    for (const WantedColumn& one : wanted_) {
      const int index = may_be_positions ? index_in_header(one.name) : index_of_name(one.name);
      set_role(plan.roles, one.role, index);
      if (index < 0 && one.is_required) {
        missing.push_back(
            fmt::format("'{}' ({}){}", excerpt(one.name), column_option(one), nearest_hint(one.name, cells_)));
      }
    }
    if (missing.empty()) return plan;
    throw DataError(fmt::format("{}: there is no column {}; {} {}. Set {}", path_, join(missing, ", "), what,
                                shown_columns(cells_), option_name(request_, "columns.*")));
  }

  ColumnPlan plan() const {
    check_request(request_, wanted_);
    if (!request_.schema.empty()) return with_schema(schema_names(request_.schema));
    if (request_.header == "true") return with_header(option_name(request_, "header") + " says so");
    if (request_.header == "false") return without_header(option_name(request_, "header") + " says so");
    if (all_required([](const WantedColumn& one) { return position_index(one.name).has_value(); })) {
      return without_header("the columns are given by their positions");
    }
    const bool any_name =
        std::any_of(wanted_.begin(), wanted_.end(), [&](const WantedColumn& one) { return occurrences(one.name) > 0; });
    if (any_name) return with_header("line 1 names the columns");
    if (request_.is_plain_text_allowed && wants_text_only() && cells_.size() == 1) return plain_text();
    throw_no_header();
  }

 private:
  template <typename Test>
  bool all_required(Test test) const {
    return std::all_of(wanted_.begin(), wanted_.end(),
                       [&](const WantedColumn& one) { return !one.is_required || test(one); });
  }
  bool wants_text_only() const {
    return all_required([](const WantedColumn& one) { return one.role == "text"; });
  }
  int64_t occurrences(const std::string& name) const { return std::count(cells_.begin(), cells_.end(), name); }

  static void set_role(ColumnRoles& roles, const std::string& role, int index) {
    if (role == "text") roles.text = index;
    if (role == "text_pair") roles.text_pair = index;
    if (role == "label") roles.label = index;
    if (role == "id") roles.id = index;
    if (role == "labels" && index >= 0) roles.labels.push_back(index);
  }

  int index_of_name(const std::string& name) const {
    const auto at = std::find(cells_.begin(), cells_.end(), name);
    return at == cells_.end() ? -1 : static_cast<int>(at - cells_.begin());
  }

  int index_in_header(const std::string& name) const {
    if (const int index = index_of_name(name); index >= 0) return index;
    const std::optional<int> position = position_index(name);
    return position && *position < static_cast<int>(cells_.size()) ? *position : -1;
  }

  ColumnPlan with_schema(const std::vector<std::string>& names) const {
    ColumnPlan plan = Planner(path_, names, request_).named(option_name(request_, "schema") + " names", true);
    plan.is_from_schema = true;
    plan.has_header = cells_ == names;
    plan.reason = plan.has_header ? "line 1 repeats the names of the schema" : "the schema names the columns";
    return plan;
  }

  ColumnPlan with_header(const std::string& reason) const {
    ColumnPlan plan{.has_header = true, .reason = reason, .names = cells_};
    std::vector<WantedColumn> missing;
    for (const WantedColumn& one : wanted_) {
      if (occurrences(one.name) > 1) {
        throw DataError(fmt::format("{}:1: the header line names column '{}' {} times; rename all but one", path_,
                                    excerpt(one.name), occurrences(one.name)));
      }
      const int index = index_in_header(one.name);
      set_role(plan.roles, one.role, index);
      if (index < 0 && one.is_required) missing.push_back(one);
    }
    if (!missing.empty()) throw_missing(missing);
    return plan;
  }

  ColumnPlan without_header(const std::string& reason) const {
    ColumnPlan plan{.reason = reason};
    for (size_t i = 0; i < cells_.size(); ++i) plan.names.push_back(fmt::format("column_{}", i + 1));
    for (const WantedColumn& one : wanted_) {
      std::optional<int> index = position_index(one.name);
      if (!index && one.role == "text" && wants_text_only() && cells_.size() == 1) index = 0;
      const bool is_there = index && *index < static_cast<int>(cells_.size());
      if (!is_there && one.is_required) throw_no_position(one);
      if (!is_there) continue;
      set_role(plan.roles, one.role, *index);
      plan.names[static_cast<size_t>(*index)] = one.role == "labels" ? one.name : one.role;
    }
    return plan;
  }

  static ColumnPlan plain_text() {
    ColumnPlan plan{.is_plain_text = true, .reason = "line 1 has a single column that is not a wanted name"};
    plan.names = {"text"};
    plan.roles.text = 0;
    return plan;
  }

  std::string column_option(const WantedColumn& one) const { return option_name(request_, "columns." + one.role); }

  std::string line_end_hint() const {
    const bool has_cr = std::any_of(cells_.begin(), cells_.end(),
                                    [](const std::string& cell) { return cell.find('\r') != std::string::npos; });
    return has_cr ? " (the lines seem to end in CR alone; convert them to LF)" : "";
  }

  [[noreturn]] void throw_missing(const std::vector<WantedColumn>& missing) const {
    std::vector<std::string> names;
    std::vector<std::string> keys;
    for (const WantedColumn& one : missing) {
      names.push_back("'" + excerpt(one.name) + "'" + nearest_hint(one.name, cells_));
      keys.push_back(column_option(one));
    }
    throw DataError(fmt::format("{}:1: the header line lacks column {}; it has {}{}. Set {}", path_, join(names, ", "),
                                shown_columns(cells_), line_end_hint(), join(keys, " and ")));
  }

  [[noreturn]] void throw_no_position(const WantedColumn& one) const {
    throw DataError(
        fmt::format("{}:1: the file has {} column{} and no header line, so column '{}' is not known. Set {} to its "
                    "position counted from 1, or give the file a header line and say so ({})",
                    path_, cells_.size(), cells_.size() == 1 ? "" : "s", excerpt(one.name), column_option(one),
                    option_name(request_, "header")));
  }

  [[noreturn]] void throw_no_header() const {
    throw DataError(
        fmt::format("{}:1: none of the wanted columns {} stands in line 1, which has {}{}. Set {} to the names in the "
                    "header line or, for a file without one, to positions counted from 1",
                    path_, shown_wanted(request_, wanted_), shown_columns(cells_), line_end_hint(),
                    option_name(request_, "columns.*")));
  }

  const std::string& path_;
  const std::vector<std::string> cells_;
  const TableRequest& request_;
  const std::vector<WantedColumn> wanted_;
};

}  // namespace

std::optional<int> position_index(const std::string& name) {
  int position = 0;
  const auto [stop, error] = std::from_chars(name.data(), name.data() + name.size(), position);
  if (error != std::errc{} || stop != name.data() + name.size() || position < 1) return std::nullopt;
  return position - 1;
}

TableRequest table_request(const DataOptions& options, bool needs_label) {
  TableRequest request;
  request.columns = options.columns;
  request.format = options.format;
  request.header = options.header;
  request.delimiter = options.delimiter;
  request.max_splits = options.max_splits;
  request.schema = options.schema;
  request.encoding = options.encoding;
  request.invalid_utf8 = options.invalid_utf8 == "error"  ? InvalidText::kError
                         : options.invalid_utf8 == "skip" ? InvalidText::kSkip
                                                          : InvalidText::kReplace;
  request.bad_row = options.bad_row == "skip" ? BadRow::kSkip : BadRow::kError;
  request.max_rows = options.max_rows;
  request.needs_label = needs_label;
  return request;
}

std::string option_name(const TableRequest& request, const std::string& key) {
  if (!request.is_command_line) return "data." + key;
  if (key == "columns.*") return "--columns";
  if (key.starts_with("columns.")) return "--columns " + key.substr(8) + "=";
  if (key == "format") return "--input-format";
  std::string name = "--" + key;
  std::replace(name.begin(), name.end(), '_', '-');
  return name;
}

ColumnPlan plan_columns(const std::string& path, std::span<const std::string_view> first_line,
                        const TableRequest& request) {
  return Planner(path, first_line, request).plan();
}

ColumnPlan plan_named_columns(const std::string& path, const std::vector<std::string>& names, const std::string& what,
                              const TableRequest& request) {
  return Planner(path, names, request).named(what, false);
}

std::vector<std::string> named_columns(const TableRequest& request) {
  std::vector<std::string> names;
  for (const WantedColumn& one : wanted_columns(request)) names.push_back(one.name);
  return names;
}

std::vector<std::string> required_columns(const TableRequest& request) {
  std::vector<std::string> names;
  for (const WantedColumn& one : wanted_columns(request)) {
    if (one.is_required) names.push_back(one.name);
  }
  return names;
}

}  // namespace bertft
