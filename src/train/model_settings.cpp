#include "train/model_settings.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <filesystem>
#include <map>
#include <nlohmann/json.hpp>
#include <set>

#include "core/error.h"
#include "core/files.h"

namespace bertft {
namespace {

using Json = nlohmann::ordered_json;

Json parse_json(const std::string& path) {
  try {
    return Json::parse(read_file(path));
  } catch (const nlohmann::json::exception& failure) {
    throw CheckpointError(fmt::format("{}: not valid JSON: {}", path, failure.what()));
  }
}

template <typename T>
T field(const Json& json, const char* key, const std::string& path) {
  try {
    return json.at(key).get<T>();
  } catch (const nlohmann::json::exception&) {
    throw CheckpointError(fmt::format(
        "{}: {} is missing or of the wrong type. Restore the file, or delete it to use the defaults", path, key));
  }
}

// id2label in the order of its numbers, which must be 0..n-1.
std::vector<std::string> labels_of(const Json& config, const std::string& path) {
  if (!config.contains("id2label") || !config["id2label"].is_object()) {
    throw CheckpointError(path + ": no id2label: this is no fine-tuned classifier. Train one first");
  }
  std::map<int64_t, std::string> by_id;
  for (const auto& [key, value] : config["id2label"].items()) {
    int64_t id = -1;
    const auto [stop, error] = std::from_chars(key.data(), key.data() + key.size(), id);
    if (error != std::errc{} || stop != key.data() + key.size() || !value.is_string()) {
      throw CheckpointError(
          fmt::format("{}: id2label has the entry {}: {}; numbers and names are needed", path, key, value.dump()));
    }
    if (!by_id.emplace(id, value.get<std::string>()).second) {
      throw CheckpointError(fmt::format("{}: id2label has two entries for {}", path, id));
    }
  }
  std::vector<std::string> labels;
  for (const auto& [id, label] : by_id) {
    if (id != static_cast<int64_t>(labels.size())) {
      throw CheckpointError(fmt::format("{}: id2label has no entry {}", path, labels.size()));
    }
    labels.push_back(label);
  }
  if (labels.size() < 2) throw CheckpointError(path + ": id2label has fewer than two labels: this is no classifier");
  for (size_t id = 0; id < labels.size(); ++id) {
    if (labels[id].find_first_not_of(" \t\r\n") == std::string::npos) {
      throw CheckpointError(fmt::format("{}: id2label has an empty name for {}; give each class a name", path, id));
    }
  }
  if (std::set<std::string>(labels.begin(), labels.end()).size() != labels.size()) {
    throw CheckpointError(path + ": id2label names one label twice; give each class a name of its own");
  }
  return labels;
}

// What transformers' problem_type says of a directory that was written elsewhere.
LabelType label_type_of(const Json& config) {
  if (!config.contains("problem_type") || !config["problem_type"].is_string()) return LabelType::kSingle;
  const auto type = config["problem_type"].get<std::string>();
  if (type == "multi_label_classification") return LabelType::kMulti;
  return type == "regression" ? LabelType::kReal : LabelType::kSingle;
}

constexpr int64_t kShortestLength = 3;  // [CLS], one token, [SEP]
constexpr int64_t kLongestLength = 1 << 20;

// How label cells are read. A folder of an older build says nothing of it: each cell is a label.
void read_label_settings(const Json& json, const std::string& path, LabelSettings& settings) {
  settings.is_of_model = true;
  if (!json.contains("label_type")) return;
  settings.type = parse_label_type(field<std::string>(json, "label_type", path));
  for (const auto& pair : field<std::vector<std::array<std::string, 2>>>(json, "label_map", path)) {
    settings.map.emplace_back(pair[0], pair[1]);
  }
  settings.pattern = field<std::string>(json, "label_pattern", path);
  settings.unknown = parse_unknown_label(field<std::string>(json, "unknown_label", path));
}

// How files are read. A folder of an older build says nothing of it.
void read_reading(const Json& json, const std::string& path, ReadingSettings& reading) {
  if (!json.contains("reading")) return;
  const Json values = field<Json>(json, "reading", path);
  reading.form.format = field<std::string>(values, "format", path);
  reading.form.header = field<std::string>(values, "header", path);
  reading.form.delimiter = field<std::string>(values, "delimiter", path);
  reading.form.max_splits = field<int64_t>(values, "max_splits", path);
  reading.form.schema = field<std::string>(values, "schema", path);
  reading.encoding = field<std::string>(values, "encoding", path);
  reading.invalid_utf8 = field<std::string>(values, "invalid_utf8", path);
  reading.ending = field<std::string>(values, "ending", path);
  check_reading(reading);
}

// What bert_finetune.json holds. A value that only another build knows is a fault of the folder, not of the command.
void read_file_settings(const Json& json, const std::string& path, ModelSettings& settings) {
  settings.task = field<std::string>(json, "task", path);
  const Json columns = field<Json>(json, "columns", path);
  settings.columns.text = field<std::string>(columns, "text", path);
  settings.columns.text_pair = field<std::string>(columns, "text_pair", path);
  settings.columns.label = field<std::string>(columns, "label", path);
  settings.columns.id = field<std::string>(columns, "id", path);
  if (columns.contains("labels")) settings.columns.labels = field<StringList>(columns, "labels", path);
  settings.label_settings.columns = settings.columns.labels;
  if (columns.contains("labels")) settings.columns.labels = field<StringList>(columns, "labels", path);
  settings.label_settings.columns = settings.columns.labels;
  const Json length = field<Json>(json, "max_length", path);
  if (!length.is_number_integer() || length < kShortestLength || length > kLongestLength) {
    throw CheckpointError(fmt::format("{}: max_length is {}: an integer between {} and {} is needed", path,
                                      length.dump(), kShortestLength, kLongestLength));
  }
  settings.max_length = length.get<int32_t>();
  try {
    settings.truncation = parse_truncation(field<std::string>(json, "truncation", path));
    settings.compat = parse_compat(field<std::string>(json, "compat", path));
    read_label_settings(json, path, settings.label_settings);
    read_reading(json, path, settings.reading);
  } catch (const ConfigError& failure) {
    throw CheckpointError(path + ": " + failure.what());
  }
}

}  // namespace

Truncation parse_truncation(const std::string& text) {
  if (text == "longest_first") return Truncation::kLongestFirst;
  if (text == "only_first") return Truncation::kOnlyFirst;
  if (text == "head_tail") return Truncation::kHeadTail;
  throw ConfigError("truncation '" + text + "' is not in this build; known: longest_first, only_first, head_tail");
}

std::string truncation_name(Truncation truncation) {
  switch (truncation) {
    case Truncation::kOnlyFirst:
      return "only_first";
    case Truncation::kHeadTail:
      return "head_tail";
    case Truncation::kLongestFirst:
      break;
  }
  return "longest_first";
}

Compat parse_compat(const std::string& text) {
  if (text == "hf") return Compat::kHf;
  if (text == "google") return Compat::kGoogle;
  throw ConfigError("compat '" + text + "' is not in this build; known: hf, google");
}

std::string compat_name(Compat compat) { return compat == Compat::kGoogle ? "google" : "hf"; }

std::string settings_text(const ModelSettings& settings) {
  Json json;
  json["task"] = settings.task;
  json["columns"] = {{"text", settings.columns.text},
                     {"text_pair", settings.columns.text_pair},
                     {"label", settings.columns.label},
                     {"id", settings.columns.id},
                     {"labels", settings.columns.labels}};
  if (!settings.columns.labels.empty()) json["columns"]["labels"] = settings.columns.labels;
  const LabelSettings& labels = settings.label_settings;
  json["label_type"] = label_type_name(labels.type);
  json["label_map"] = Json::array();
  for (const auto& [text, label] : labels.map) json["label_map"].push_back({text, label});
  json["label_pattern"] = labels.pattern;
  json["unknown_label"] = unknown_label_name(labels.unknown);
  const ReadingSettings& reading = settings.reading;
  json["reading"] = {{"format", reading.form.format},        {"header", reading.form.header},
                     {"delimiter", reading.form.delimiter},  {"max_splits", reading.form.max_splits},
                     {"schema", reading.form.schema},        {"encoding", reading.encoding},
                     {"invalid_utf8", reading.invalid_utf8}, {"ending", reading.ending}};
  json["max_length"] = settings.max_length;
  json["truncation"] = truncation_name(settings.truncation);
  json["compat"] = compat_name(settings.compat);
  return json.dump(2) + "\n";
}

ModelSettings read_model_settings(const std::string& folder) {
  ModelSettings settings;
  const std::string config_path = folder + "/config.json";
  const Json config = parse_json(config_path);
  const std::string path = folder + "/bert_finetune.json";
  if (std::filesystem::exists(path)) {
    read_file_settings(parse_json(path), path, settings);
  } else {
    settings.columns.text_pair = "text_pair";
    settings.is_pair_optional = true;
    settings.label_settings.type = label_type_of(config);
  }
  if (settings.label_settings.type != LabelType::kReal) settings.labels = labels_of(config, config_path);
  return settings;
}

int32_t foreign_max_length(const Tokenizer& tokenizer, const EncoderConfig& config) {
  const int64_t limit = tokenizer.model_max_length();
  return static_cast<int32_t>(limit > 0 ? std::min(limit, config.max_positions) : config.max_positions);
}

}  // namespace bertft
