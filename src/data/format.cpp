#include "data/format.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <vector>

#include "core/error.h"
#include "core/text.h"

namespace bertft {
namespace {

// The extension in lower case, without the dot.
std::string extension(const std::string& path) {
  const size_t dot = path.rfind('.');
  if (dot == std::string::npos || path.find('/', dot) != std::string::npos) return "";
  std::string text = path.substr(dot + 1);
  std::transform(text.begin(), text.end(), text.begin(),
                 [](char c) { return static_cast<char>(std::tolower(static_cast<unsigned char>(c))); });
  return text;
}

// "" -> `otherwise`. REQUIRES a delimiter that check_table_request accepts.
char delimiter_of(const TableRequest& request, char otherwise) {
  if (request.delimiter.empty()) return otherwise;
  return request.delimiter == "\\t" ? '\t' : request.delimiter[0];
}

bool has(std::string_view line, char c) { return line.find(c) != std::string_view::npos; }

// Line 1 has all wanted columns when it is divided at `separator`: their names, or as many cells as their positions
// say.
bool holds_wanted(std::string_view line, char separator, const TableRequest& request) {
  if (!has(line, separator)) return false;
  const auto cells = 1 + std::count(line.begin(), line.end(), separator);
  const std::string padded = separator + std::string(line.substr(0, 10'000)) + separator;
  const auto is_there = [&](const std::string& name) {
    if (const std::optional<int> index = position_index(name)) return *index < cells;
    return padded.find(separator + name + separator) != std::string::npos ||
           padded.find(std::string{separator, '"'} + name + '"' + separator) != std::string::npos;
  };
  const std::vector<std::string> names = required_columns(request);
  return std::all_of(names.begin(), names.end(), is_there);
}

bool wants_positions_only(const TableRequest& request) {
  const std::vector<std::string> names = required_columns(request);
  return std::all_of(names.begin(), names.end(), [](const auto& name) { return position_index(name).has_value(); });
}

// One object per line, or an array of objects.
bool looks_like_json(std::string_view line) {
  const size_t start = line.find_first_not_of(" \t");
  if (start == std::string_view::npos) return false;
  const std::string_view value = line.substr(start);
  if (value[0] == '[') return value.size() == 1 || value[value.find_first_not_of(' ', 1)] == '{';
  return value[0] == '{' && (value.size() == 1 || (value.back() == '}' && has(value, '"')));
}

FormatChoice choice(FileFormat format, char delimiter, const TableRequest& request, const std::string& reason) {
  return {format, delimiter, format == FileFormat::kDelimited ? request.max_splits : 0, reason};
}

// A file called .csv: commas, unless line 1 has none and something else fits.
FormatChoice choose_csv(std::string_view line, const TableRequest& request) {
  const std::string name = "the name ends in .csv";
  if (!request.delimiter.empty()) return choice(FileFormat::kCsv, delimiter_of(request, ','), request, name);
  if (has(line, ',') || !request.schema.empty()) return choice(FileFormat::kCsv, ',', request, name);
  if (holds_wanted(line, ';', request)) {
    return choice(FileFormat::kCsv, ';', request, name + ", and line 1 has semicolons instead of commas");
  }
  if (has(line, '\t')) {
    const auto format = line.starts_with('"') ? FileFormat::kCsv : FileFormat::kDelimited;
    return choice(format, '\t', request, name + ", but line 1 has tabs and no comma");
  }
  return choice(FileFormat::kCsv, ',', request, name);
}

FormatChoice choose_by_content(std::string_view line, const TableRequest& request) {
  if (looks_like_json(line)) return choice(FileFormat::kJsonLines, 0, request, "line 1 is JSON");
  if (has(line, '\t')) return choice(FileFormat::kDelimited, '\t', request, "line 1 has tabs");
  if (!wants_positions_only(request)) {
    for (const char separator : {',', ';', '|'}) {
      if (!holds_wanted(line, separator, request)) continue;
      return choice(FileFormat::kCsv, separator, request,
                    fmt::format("line 1 has the wanted names divided by '{}'", separator));
    }
  }
  return choice(FileFormat::kDelimited, '\t', request, "nothing speaks for another form");
}

}  // namespace

void check_table_request(const TableRequest& request) {
  check_file_form({request.format, request.header, request.delimiter, request.max_splits, request.schema});
}

FormatChoice choose_format(const std::string& path, std::string_view first_line, const TableRequest& request) {
  const std::string_view line = first_line.substr(0, first_line.find_last_not_of(" \r") + 1);
  const std::string says_so = option_name(request, "format") + " says so";
  if (request.format == "tsv") return choice(FileFormat::kDelimited, delimiter_of(request, '\t'), request, says_so);
  if (request.format == "csv") return choice(FileFormat::kCsv, delimiter_of(request, ','), request, says_so);
  if (request.format == "jsonl") return choice(FileFormat::kJsonLines, 0, request, says_so);
  if (request.max_splits > 0) {
    return choice(FileFormat::kDelimited, delimiter_of(request, '\t'), request,
                  option_name(request, "max_splits") + " is set");
  }
  const std::string ending = extension(path);
  if ((ending == "csv" || ending == "tsv") && looks_like_json(line) && !has(line, '\t')) {
    return choice(FileFormat::kJsonLines, 0, request, "the name ends in ." + ending + ", but line 1 is JSON");
  }
  if (ending == "csv") return choose_csv(line, request);
  if (ending == "json" || ending == "jsonl" || ending == "ndjson") {
    return choice(FileFormat::kJsonLines, 0, request, "the name ends in ." + ending);
  }
  if (ending == "tsv") {
    return choice(FileFormat::kDelimited, delimiter_of(request, '\t'), request, "the name ends in .tsv");
  }
  if (!request.delimiter.empty()) {
    const auto format = request.delimiter == "," ? FileFormat::kCsv : FileFormat::kDelimited;
    return choice(format, delimiter_of(request, ','), request, option_name(request, "delimiter") + " is set");
  }
  return choose_by_content(line, request);
}

}  // namespace bertft
