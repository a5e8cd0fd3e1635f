#include "train/reading_settings.h"

#include <algorithm>
#include <cctype>
#include <filesystem>
#include <vector>

#include "core/error.h"
#include "core/text.h"

namespace bertft {
namespace {

void require_choice(const char* key, const std::string& value, const std::vector<std::string>& choices) {
  if (std::find(choices.begin(), choices.end(), value) != choices.end()) return;
  throw ConfigError(std::string("reading.") + key + " is '" + excerpt(value) + "'; known: " + join(choices, ", "));
}

std::string known_ending(const std::string& path) {
  std::string ending = std::filesystem::path(path).extension().string();
  if (!ending.empty()) ending.erase(0, 1);
  std::transform(ending.begin(), ending.end(), ending.begin(),
                 [](char c) { return static_cast<char>(std::tolower(static_cast<unsigned char>(c))); });
  const bool is_known =
      ending == "tsv" || ending == "csv" || ending == "json" || ending == "jsonl" || ending == "ndjson";
  return is_known ? ending : "";
}

}  // namespace

ReadingSettings reading_settings(const DataOptions& options) {
  return {.form = {options.format, options.header, options.delimiter, options.max_splits, options.schema},
          .encoding = options.encoding,
          .invalid_utf8 = options.invalid_utf8,
          .ending = options.train.empty() ? "" : known_ending(options.train.front())};
}

DataOptions reading_of_path(const ReadingSettings& reading, const std::string& path) {
  DataOptions options;
  options.encoding = reading.encoding;
  options.invalid_utf8 = reading.invalid_utf8;
  const std::string ending = known_ending(path);
  if (!ending.empty() && ending != reading.ending) return options;
  options.header = reading.form.header;
  options.delimiter = reading.form.delimiter;
  options.max_splits = reading.form.max_splits;
  options.schema = reading.form.schema;
  if (ending == reading.ending && path != "-") options.format = reading.form.format;
  return options;
}

void check_reading(const ReadingSettings& reading) {
  require_choice("format", reading.form.format, {"auto", "tsv", "csv", "jsonl"});
  require_choice("header", reading.form.header, {"auto", "true", "false"});
  require_choice("encoding", reading.encoding, {"utf-8", "utf-16", "gb18030"});
  require_choice("invalid_utf8", reading.invalid_utf8, {"replace", "error", "skip"});
  if (reading.form.max_splits < 0) throw ConfigError("reading.max_splits is negative");
  check_file_form(reading.form);
}

}  // namespace bertft
