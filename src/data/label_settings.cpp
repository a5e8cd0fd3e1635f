#include "data/label_settings.h"

#include <fmt/format.h>

#include "core/error.h"
#include "core/files.h"
#include "core/text.h"
#include "tokenize/utf8.h"

namespace bertft {
namespace {

constexpr std::string_view kByteOrderMark = "\xEF\xBB\xBF";

StringList labels_of_file(const std::string& path) {
  const std::string content = read_file(path);
  if (!is_valid_utf8(content)) throw DataError(path + ": data.labels: not valid UTF-8. Convert the file");
  std::string_view rest = content;
  if (rest.starts_with(kByteOrderMark)) rest.remove_prefix(kByteOrderMark.size());
  StringList labels;
  while (!rest.empty()) {
    const size_t end = rest.find('\n');
    std::string_view line = rest.substr(0, end);
    rest.remove_prefix(end == std::string_view::npos ? rest.size() : end + 1);
    if (!line.empty() && line.back() == '\r') line.remove_suffix(1);
    labels.emplace_back(line);
  }
  while (!labels.empty() && labels.back().empty()) labels.pop_back();
  if (labels.size() < 2) {
    throw ConfigError(fmt::format("data.labels: {} has {} label{}; a file names one label a line, at least two", path,
                                  labels.size(), labels.size() == 1 ? "" : "s"));
  }
  return labels;
}

}  // namespace

LabelType parse_label_type(const std::string& text) {
  if (text == "single") return LabelType::kSingle;
  if (text == "multi") return LabelType::kMulti;
  if (text == "real") return LabelType::kReal;
  throw ConfigError("label_type '" + excerpt(text) + "' is unknown; known: single, multi, real");
}

std::string label_type_name(LabelType type) {
  switch (type) {
    case LabelType::kMulti:
      return "multi";
    case LabelType::kReal:
      return "real";
    case LabelType::kSingle:
      break;
  }
  return "single";
}

UnknownLabel parse_unknown_label(const std::string& text) {
  if (text == "error") return UnknownLabel::kError;
  if (text == "skip") return UnknownLabel::kSkip;
  throw ConfigError("unknown_label '" + excerpt(text) + "' is unknown; known: error, skip");
}

std::string unknown_label_name(UnknownLabel unknown) { return unknown == UnknownLabel::kSkip ? "skip" : "error"; }

StringList given_labels(const StringList& option) {
  if (option.empty() || (option.size() == 1 && (option[0] == "auto" || option[0].empty()))) return {};
  return option.size() == 1 ? labels_of_file(option[0]) : option;
}

}  // namespace bertft
