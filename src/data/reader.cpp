#include "data/reader.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <filesystem>
#include <utility>

#include "core/error.h"
#include "core/files.h"
#include "core/text.h"
#include "data/tsv_reader.h"

namespace bertft {
namespace {

constexpr std::string_view kTsvRemedy =
    "Convert it to tab-separated columns, or set data.format: tsv when that is what it holds";

// The extension in lower case, without the dot.
std::string extension(const std::string& path) {
  const size_t dot = path.rfind('.');
  if (dot == std::string::npos || path.find('/', dot) != std::string::npos) return "";
  std::string text = path.substr(dot + 1);
  std::transform(text.begin(), text.end(), text.begin(),
                 [](char c) { return static_cast<char>(std::tolower(static_cast<unsigned char>(c))); });
  return text;
}

std::string_view first_line(std::string_view content) {
  const std::string_view line = content.substr(0, content.find('\n'));
  return line.substr(0, line.find_last_not_of(" \r") + 1);
}

// Line 1 names all wanted columns, but something else than a tab stands between them.
bool looks_like_csv(std::string_view line, const TableRequest& request) {
  if (line.find('\t') != std::string_view::npos) return false;
  const std::vector<std::string> names = required_columns(request);
  for (const char separator : {',', ';', '|'}) {
    if (line.find(separator) == std::string_view::npos) continue;
    const std::string padded = separator + std::string(line.substr(0, 10'000)) + separator;
    const auto is_named = [&](const std::string& name) {
      return padded.find(separator + name + separator) != std::string::npos ||
             padded.find(std::string{separator, '"'} + name + '"' + separator) != std::string::npos;
    };
    if (std::all_of(names.begin(), names.end(), is_named)) return true;
  }
  return false;
}

// One object per line, or an array of objects.
bool looks_like_json(std::string_view line) {
  const size_t start = line.find_first_not_of(" \t");
  if (start == std::string_view::npos) return false;
  const std::string_view value = line.substr(start);
  if (value[0] == '[') return value.size() == 1 || value[value.find_first_not_of(' ', 1)] == '{';
  return value[0] == '{' && value.back() == '}' && value.find('"') != std::string_view::npos;
}

// Content that no text file has.
void refuse_other_content(const std::string& path, std::string_view content) {
  if (const std::string impostor = explain_impostor(content.substr(0, 1000), path); !impostor.empty()) {
    throw DataError(impostor);
  }
  const auto starts_with = [&](std::string_view magic) { return content.substr(0, magic.size()) == magic; };
  if (starts_with("\xFF\xFE") || starts_with("\xFE\xFF")) {
    throw DataError(path + ": UTF-16: not in this build. Convert it: iconv -f UTF-16 -t UTF-8");
  }
  for (const auto& [magic, name] : {std::pair<std::string_view, const char*>{"\x1F\x8B", "gzip"},
                                    {"PK\x03\x04", "zip"},
                                    {"BZh", "bzip2"},
                                    {"\xFD"
                                     "7zXZ",
                                     "xz"},
                                    {"PAR1", "Parquet"}}) {
    if (starts_with(magic))
      throw DataError(fmt::format("{}: this is a {} file. Unpack or convert it to TSV", path, name));
  }
}

// The format of the content: "tsv" is the only one that is read; the others are refused by name.
std::string decide_format(const std::string& path, std::string_view content, const TableRequest& request) {
  if (request.format != "auto") return request.format;
  const std::string ending = extension(path);
  if (ending == "csv") return "csv";
  if (ending == "json" || ending == "jsonl" || ending == "ndjson") return "jsonl";
  if (ending == "tsv") return "tsv";
  const std::string_view line = first_line(content);
  if (looks_like_json(line)) return "jsonl";
  if (looks_like_csv(line, request)) return "csv";
  return "tsv";
}

}  // namespace

Table parse_table(const std::string& path, std::string content, const TableRequest& request) {
  refuse_other_content(path, content);
  const std::string format = decide_format(path, content, request);
  if (format == "tsv") return read_tsv(path, std::move(content), request);
  throw DataError(fmt::format("{}: {}: not in this build. {}", path, format, kTsvRemedy));
}

Table read_table(const std::string& path, const TableRequest& request) {
  if (path.find_first_of("*?") != std::string::npos && !std::filesystem::exists(path)) {
    throw DataError(path + ": there is no such file. A pattern for several files: not in this build; name one file");
  }
  return parse_table(path, read_file(path), request);
}

}  // namespace bertft
