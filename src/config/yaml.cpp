#include "config/yaml.h"

#include <fmt/format.h>
#include <yaml-cpp/yaml.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <set>

#include "config/rules.h"
#include "core/error.h"
#include "core/files.h"
#include "core/text.h"

namespace bertft {
namespace {

constexpr int kDeepestLevel = 4;  // sections have two; also stops at a document that contains itself

// Walks one document and assigns every scalar and list of scalars to the option of its full key.
class Loader {
 public:
  Loader(RunConfig& config, const std::string& path, std::vector<std::string>& faults)
      : config_(config), path_(path), faults_(faults), folder_(std::filesystem::absolute(path).parent_path()) {
    for (const OptionTable& table : config.tables()) {
      for (const Option& option : table.options) {
        const std::string key = table.section.empty() ? option.key : table.section + "." + option.key;
        if (option.kind == OptionKind::kPath) path_keys_.insert(key);
        if (option.kind == OptionKind::kListOrPath) list_or_path_keys_.insert(key);
      }
    }
  }

  void load(const YAML::Node& root) {
    if (root.IsNull()) throw ConfigError(path_ + ": the file is empty; it needs at least model, data and output");
    if (!root.IsMap()) fail(root, "a map of sections is needed at the top");
    walk(root, "", 1);
  }

 private:
  std::string place(const YAML::Node& node) const { return fmt::format("{}:{}", path_, node.Mark().line + 1); }

  [[noreturn]] void fail(const YAML::Node& node, const std::string& reason) const {
    throw ConfigError(place(node) + ": " + reason);
  }

  void walk(const YAML::Node& map, const std::string& prefix, int level) {
    for (const auto& pair : map) {
      try {
        take(pair.first, pair.second, prefix, level);
      } catch (const ConfigError& failure) {
        faults_.push_back(failure.what());
      }
    }
  }

  void take(const YAML::Node& key_node, const YAML::Node& value, const std::string& prefix, int level) {
    if (!key_node.IsScalar()) fail(key_node, "a key must be a plain text");
    const std::string key = prefix.empty() ? key_node.Scalar() : prefix + "." + key_node.Scalar();
    if (!seen_.insert(key).second) fail(key_node, "key '" + key + "' is set twice");
    if (level > kDeepestLevel) fail(key_node, "sections are nested too deeply");
    if (value.IsMap() && is_map_key(config_, key)) {
      set_map(key, key_node, value);
    } else if (value.IsMap()) {
      walk(value, key, level + 1);
    } else {
      set(key, key_node, value);
    }
  }

  void set(const std::string& key, const YAML::Node& key_node, const YAML::Node& value) {
    if (value.IsNull()) fail(key_node, key + ": there is no value");
    StringList texts;
    if (value.IsSequence()) {
      for (const YAML::Node& element : value) {
        if (!element.IsScalar()) fail(element, key + ": a list of plain values is needed");
        texts.push_back(finish(key, element));
      }
    } else {
      texts.push_back(finish(key, value));
    }
    if (list_or_path_keys_.count(key) > 0 && texts.size() == 1 && texts[0] != "auto") texts[0] = absolute(texts[0]);
    assign(config_, key, texts, place(key_node));
    config_.origins[key] = place(key_node);
  }

  void set_map(const std::string& key, const YAML::Node& key_node, const YAML::Node& value) {
    StringMap map;
    std::set<std::string> names;
    for (const auto& pair : value) {
      if (!pair.first.IsScalar() || !pair.second.IsScalar()) {
        fail(pair.first, key + ": a map of plain values is needed");
      }
      map.emplace_back(expand(key, pair.first), expand(key, pair.second));
      if (!names.insert(map.back().first).second) {
        fail(pair.first, key + ": '" + excerpt(map.back().first) + "' is set twice");
      }
    }
    assign(config_, key, map, place(key_node));
    config_.origins[key] = place(key_node);
  }

  std::string finish(const std::string& key, const YAML::Node& node) const {
    const std::string text = expand(key, node);
    return path_keys_.count(key) > 0 ? absolute(text) : text;
  }

  std::string absolute(const std::string& path) const {
    const bool is_relative = !path.empty() && !std::filesystem::path(path).is_absolute();
    return is_relative ? (folder_ / path).lexically_normal().string() : path;
  }

  std::string expand(const std::string& key, const YAML::Node& node) const {
    const std::string& text = node.Scalar();
    std::string expanded;
    size_t at = 0;
    while (true) {
      const size_t begin = text.find("${", at);
      expanded += text.substr(at, begin - at);
      if (begin == std::string::npos) return expanded;
      const size_t end = text.find('}', begin);
      if (end == std::string::npos) fail(node, key + ": '${' without '}' in '" + excerpt(text) + "'");
      const std::string name = text.substr(begin + 2, end - begin - 2);
      const char* value = std::getenv(name.c_str());
      if (value == nullptr) fail(node, fmt::format("{}: the environment variable {} is not set", key, name));
      expanded += value;
      at = end + 1;
    }
  }

  RunConfig& config_;
  std::string path_;
  std::vector<std::string>& faults_;
  std::filesystem::path folder_;
  std::set<std::string> path_keys_;
  std::set<std::string> list_or_path_keys_;
  std::set<std::string> seen_;  // full keys
};

std::string quoted_if_needed(const std::string& text) {
  const auto is_control = [](char c) { return static_cast<unsigned char>(c) < 0x20 || c == 0x7F; };
  const bool is_null = text.empty() || text == "~" || text == "null" || text == "Null" || text == "NULL";
  const bool is_plain = !is_null && text.find_first_of(":#{}[],&*!|>'\"%@`") == std::string::npos &&
                        std::none_of(text.begin(), text.end(), is_control) && text.front() != ' ' &&
                        text.back() != ' ' && text.front() != '-' && text.front() != '?';
  if (is_plain) return text;
  YAML::Emitter emitter;
  emitter << YAML::DoubleQuoted << text;
  return emitter.c_str();
}

}  // namespace

RunConfig load_run_config(const std::string& path) {
  std::vector<std::string> faults;
  RunConfig config = load_run_config(path, faults);
  if (!faults.empty()) throw ConfigError(join_faults(path, faults));
  return config;
}

RunConfig load_run_config(const std::string& path, std::vector<std::string>& faults) {
  std::string text;
  try {
    text = read_file(path);
  } catch (const DataError& failure) {
    throw ConfigError(std::string("--config: ") + failure.what());
  }
  RunConfig config;
  try {
    const std::vector<YAML::Node> documents = YAML::LoadAll(text);
    if (documents.size() > 1) {
      throw ConfigError(fmt::format("{}: the file holds {} documents; one is needed", path, documents.size()));
    }
    Loader(config, path, faults).load(documents.empty() ? YAML::Node() : documents.front());
  } catch (const YAML::Exception& failure) {
    throw ConfigError(fmt::format("{}:{}: not valid YAML: {}", path, failure.mark.line + 1, failure.msg));
  }
  return config;
}

StringList parse_value_texts(const std::string& value, const std::string& place) {
  if (value.empty() || value.front() != '[') return {value};
  if (value.back() != ']') throw ConfigError(fmt::format("{}: not a list: it begins with '[' and lacks ']'", place));
  try {
    StringList texts;
    for (const YAML::Node& element : YAML::Load(value)) texts.push_back(element.as<std::string>());
    return texts;
  } catch (const YAML::Exception& failure) {
    throw ConfigError(fmt::format("{}: not a list: {}", place, failure.msg));
  }
}

StringMap parse_value_map(const std::string& value, const std::string& place) {
  try {
    StringMap map;
    for (const auto& pair : YAML::Load(value)) {
      map.emplace_back(pair.first.as<std::string>(), pair.second.as<std::string>());
    }
    return map;
  } catch (const YAML::Exception& failure) {
    throw ConfigError(fmt::format("{}: not a map: {}", place, failure.msg));
  }
}

namespace {

std::string map_text(const StringMap& map) {
  std::vector<std::string> entries;
  for (const auto& [key, value] : map) entries.push_back(quoted_if_needed(key) + ": " + quoted_if_needed(value));
  return "{" + join(entries, ", ") + "}";
}

}  // namespace

std::string yaml_text(const Option& option) {
  if (const auto* map = std::get_if<StringMap*>(&option.target)) return map_text(**map);
  if (const auto* either = std::get_if<TextOrMap*>(&option.target)) {
    return (*either)->text.empty() ? map_text((*either)->map) : quoted_if_needed((*either)->text);
  }
  if (const auto* text = std::get_if<std::string*>(&option.target)) return quoted_if_needed(**text);
  if (const auto* list = std::get_if<StringList*>(&option.target)) {
    std::vector<std::string> quoted;
    for (const std::string& element : **list) quoted.push_back(quoted_if_needed(element));
    return "[" + join(quoted, ", ") + "]";
  }
  return option_value_text(option);
}

}  // namespace bertft
