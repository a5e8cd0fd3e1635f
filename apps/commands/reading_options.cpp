#include "commands/reading_options.h"

#include "core/error.h"
#include "data/format.h"
#include "train/reading_settings.h"

namespace bertft {
namespace {

// Parts divided by commas; "\," stands for a comma of a part.
std::vector<std::string> comma_parts(const std::string& text) {
  std::vector<std::string> parts(1);
  for (size_t i = 0; i < text.size(); ++i) {
    const bool is_escaped = text[i] == '\\' && i + 1 < text.size() && text[i + 1] == ',';
    if (is_escaped) {
      parts.back() += text[++i];
    } else if (text[i] == ',') {
      parts.emplace_back();
    } else {
      parts.back() += text[i];
    }
  }
  return parts;
}

// The keys of section data, which no path is among here, as the command line has them.
std::string in_command_words(std::string message) {
  static const std::vector<std::pair<std::string, std::string>> words = {{"data.format", "--input-format"},
                                                                         {"data.max_splits", "--max-splits"},
                                                                         {"data.delimiter", "--delimiter"},
                                                                         {"data.schema", "--schema"},
                                                                         {"data.header", "--header"}};
  for (const auto& [key, option] : words) {
    for (size_t at = message.find(key); at != std::string::npos; at = message.find(key, at + option.size())) {
      message.replace(at, key.size(), option);
    }
  }
  return message;
}

template <typename T>
void replace_if_given(T& value, const std::optional<T>& given) {
  if (given) value = *given;
}

}  // namespace

void apply_columns(ColumnNames& columns, const std::string& assignments) {
  for (const std::string& assignment : comma_parts(assignments)) {
    const size_t equals = assignment.find('=');
    const std::string role = assignment.substr(0, equals);
    std::string* target = role == "text"        ? &columns.text
                          : role == "text_pair" ? &columns.text_pair
                          : role == "label"     ? &columns.label
                          : role == "id"        ? &columns.id
                                                : nullptr;
    if (equals == std::string::npos || target == nullptr) {
      throw ConfigError("--columns: '" + assignment +
                        "' is not role=NAME; roles are text, text_pair, label, id, and a comma inside a name is "
                        "written \\,");
    }
    if (target == &columns.label && !columns.labels.empty()) {
      throw ConfigError("--columns label=: the model was trained with one column per label; rename those in the file");
    }
    *target = assignment.substr(equals + 1);
  }
}

void ReadingOptions::declare(CLI::App& app) {
  app.add_option("--columns", columns_,
                 "text=NAME,text_pair=NAME,label=NAME,id=NAME: instead of the model's own; may be given several times, "
                 "a comma inside a name is written \\,")
      ->allow_extra_args(false);
  app.add_option("--input-format", format_,
                 "form of the input: auto, tsv, csv, jsonl (default: as in training, or auto)")
      ->check(CLI::IsMember({"auto", "tsv", "csv", "jsonl"}));
  app.add_option("--header", header_, "whether line 1 names the columns: auto, true, false (default: as in training)")
      ->check(CLI::IsMember({"auto", "true", "false"}));
  app.add_option("--delimiter", delimiter_,
                 "the one character between columns, \\t for a tab (default: as in training)");
  app.add_option("--max-splits", max_splits_,
                 "divide a line at its first delimiters only, this many; 0: at all (default: as in training)")
      ->check(CLI::NonNegativeNumber);
  app.add_option("--schema", schema_,
                 "names of the columns of a file without header line: name:type:length,... (default: as in training)");
  app.add_option("--encoding", encoding_, "utf-8, utf-16 or gb18030 (default: as in training)")
      ->check(CLI::IsMember({"utf-8", "utf-16", "gb18030"}));
  app.add_option("--invalid-utf8", invalid_utf8_,
                 "parts that are no characters: replace, error, skip (default: as in training)")
      ->check(CLI::IsMember({"replace", "error", "skip"}));
}

TableRequest ReadingOptions::request(const ModelSettings& settings, const std::string& path, bool needs_label) const {
  DataOptions options = reading_of_path(settings.reading, path);
  if (format_) {
    options.format = *format_;
    options.header = "auto";
    options.delimiter = options.schema = "";
    options.max_splits = 0;
  }
  replace_if_given(options.header, header_);
  replace_if_given(options.delimiter, delimiter_);
  replace_if_given(options.max_splits, max_splits_);
  replace_if_given(options.schema, schema_);
  replace_if_given(options.encoding, encoding_);
  replace_if_given(options.invalid_utf8, invalid_utf8_);
  options.columns = settings.columns;
  for (const std::string& assignments : columns_) apply_columns(options.columns, assignments);
  TableRequest request = table_request(options, needs_label);
  request.is_plain_text_allowed = options.columns.text == settings.columns.text;
  request.is_pair_optional = settings.is_pair_optional;
  request.is_command_line = true;
  try {
    check_table_request(request);
  } catch (const ConfigError& error) {
    throw ConfigError(in_command_words(error.what()));
  }
  return request;
}

}  // namespace bertft
