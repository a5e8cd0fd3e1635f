#include "config/run_config.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>

#include "config/yaml.h"
#include "core/error.h"
#include "core/text.h"

namespace bertft {
namespace {

std::string full_key_of(const OptionTable& table, const std::string& key) {
  return table.section.empty() ? key : table.section + "." + key;
}

std::vector<std::string> known_keys(const std::vector<OptionTable>& tables) {
  std::vector<std::string> keys;
  for (const OptionTable& table : tables) {
    for (const Option& option : table.options) keys.push_back(full_key_of(table, option.key));
  }
  return keys;
}

// Refuses what other builds know: a whole section, a key, or one value of a key.
void refuse_if_not_built(const OptionTable& table, const std::string& key, const StringList& texts,
                         const std::string& place) {
  const std::string head = key.substr(0, key.find('.'));
  for (const std::string& name : {key, head, texts.empty() ? key : key + "=" + texts.front()}) {
    const auto found = table.not_in_this_build.find(name);
    if (found == table.not_in_this_build.end()) continue;
    throw ConfigError(fmt::format("{}: {}: not in this build; {}", place, full_key_of(table, name), found->second));
  }
}

[[noreturn]] void fail_unknown(const std::vector<OptionTable>& tables, const std::string& full_key,
                               const std::string& place) {
  std::vector<std::string> keys = known_keys(tables);
  std::optional<std::string> nearest = nearest_word(full_key, keys);
  if (!nearest) {  // perhaps the right key in no or the wrong section
    const std::string leaf = full_key.substr(full_key.find_last_of('.') + 1);
    for (const std::string& key : keys) {
      if (key.substr(key.find_last_of('.') + 1) == leaf) nearest = key;
    }
  }
  throw ConfigError(fmt::format(
      "{}: unknown key '{}'{}", place, full_key,
      nearest ? "; the nearest known key is '" + *nearest + "'" : "; `bert_finetune help train` lists all keys"));
}

// So that the printed configuration means the same wherever it is read.
void make_paths_absolute(RunConfig& config) {
  for (const OptionTable& table : config.tables()) {
    for (const Option& option : table.options) {
      if (option.kind == OptionKind::kValue) continue;
      const auto make_absolute = [](std::string& path) {
        if (!path.empty()) path = std::filesystem::absolute(path).lexically_normal().string();
      };
      if (auto* const* list = std::get_if<StringList*>(&option.target)) {
        const bool is_plain =
            option.kind == OptionKind::kListOrPath && ((*list)->size() != 1 || (*list)->front() == "auto");
        if (is_plain) continue;
        std::for_each((*list)->begin(), (*list)->end(), make_absolute);
      } else {
        make_absolute(*std::get<std::string*>(option.target));
      }
    }
  }
}

std::string pad(const std::string& text, size_t width) {
  return text.size() < width ? text + std::string(width - text.size(), ' ') : text;
}

std::string describe(const OptionTable& table, const Option& option) {
  std::string line = fmt::format("  {}  ({}", pad(full_key_of(table, option.key), 28), option_type_text(option));
  if (!option.choices.empty()) line += ": " + join(option.choices, ", ");
  if (!option.unit.empty()) line += ", " + option.unit;
  if (option.min && option.max) line += fmt::format(", {} to {}", *option.min, *option.max);
  if (option.min && !option.max) line += fmt::format(", at least {}", *option.min);
  const std::string value = option_value_text(option);
  line += fmt::format("; default {}", value.empty() ? "none" : value);
  if (!option.auto_rule.empty()) line += " = " + option.auto_rule;
  return line + ")\n      " + option.help + "\n";
}

}  // namespace

std::string origin_of(const RunConfig& config, const std::string& key) {
  const auto found = config.origins.find(key);
  return found == config.origins.end() ? "default" : found->second;
}

std::vector<OptionTable> RunConfig::tables() {
  return {run_option_table(run),     model_option_table(model),         data_option_table(data),
          train_option_table(train), optimizer_option_table(optimizer), schedule_option_table(schedule),
          eval_option_table(eval),   output_option_table(output),       comm_option_table(comm)};
}

namespace {

// `Value` is what set_option takes: the texts of a scalar or list, or a map.
template <typename Value>
void assign_value(RunConfig& config, const std::string& full_key, const Value& value, const StringList& texts,
                  const std::string& place) {
  const std::vector<OptionTable> tables = config.tables();
  const size_t dot = full_key.find('.');
  const std::string section = dot == std::string::npos ? "" : full_key.substr(0, dot);
  const std::string key = dot == std::string::npos ? full_key : full_key.substr(dot + 1);
  refuse_if_not_built(tables.front(), full_key, {}, place);
  for (const OptionTable& table : tables) {
    if (table.section != section) continue;
    refuse_if_not_built(table, key, texts, place);
    for (const Option& option : table.options) {
      if (option.key != key) continue;
      set_option(option, value, place, full_key);
      return;
    }
  }
  fail_unknown(tables, full_key, place);
}

}  // namespace

void assign(RunConfig& config, const std::string& full_key, const StringList& texts, const std::string& place) {
  assign_value(config, full_key, texts, texts, place);
}

void assign(RunConfig& config, const std::string& full_key, const StringMap& map, const std::string& place) {
  assign_value(config, full_key, map, {}, place);
}

bool is_map_key(RunConfig& config, const std::string& full_key) {
  for (const OptionTable& table : config.tables()) {
    for (const Option& option : table.options) {
      if (full_key_of(table, option.key) == full_key) return takes_map(option);
    }
  }
  return false;
}

void apply_override(RunConfig& config, const std::string& assignment, const std::string& origin) {
  const size_t equals = assignment.find('=');
  if (equals == std::string::npos || equals == 0) {
    throw ConfigError(fmt::format("{} {}: write it as section.key=value", origin, excerpt(assignment)));
  }
  const std::string key = assignment.substr(0, equals);
  const std::string value = assignment.substr(equals + 1);
  const std::string place = origin + " " + assignment;
  if (value.starts_with("{") && is_map_key(config, key)) {
    assign(config, key, parse_value_map(value, place), origin);
  } else {
    assign(config, key, parse_value_texts(value, place), origin);
  }
  config.origins[key] = origin;
  make_paths_absolute(config);
}

std::map<std::string, std::string> config_values(RunConfig& config) {
  std::map<std::string, std::string> values;
  for (const OptionTable& table : config.tables()) {
    for (const Option& option : table.options) values[full_key_of(table, option.key)] = yaml_text(option);
  }
  return values;
}

std::string print_run_config(RunConfig& config) {
  std::string text;
  for (const OptionTable& table : config.tables()) {
    if (!table.section.empty()) text += table.section + ":\n";
    std::string open_group;
    for (const Option& option : table.options) {
      std::string indent = table.section.empty() ? "" : "  ";
      std::string key = option.key;
      const size_t dot = key.find('.');
      const std::string group = dot == std::string::npos ? "" : key.substr(0, dot);
      if (!group.empty()) {
        if (group != open_group) text += indent + group + ":\n";
        key = key.substr(dot + 1);
        indent += "  ";
      }
      open_group = group;
      const std::string line = fmt::format("{}{}: {}", indent, key, yaml_text(option));
      text += fmt::format("{}  # {}\n", pad(line, 44), origin_of(config, full_key_of(table, option.key)));
    }
  }
  return text;
}

std::string describe_options() {
  RunConfig defaults;
  std::string text;
  for (const OptionTable& table : defaults.tables()) {
    text += (table.section.empty() ? "top level" : table.section) + ":\n";
    for (const Option& option : table.options) text += describe(table, option);
  }
  return text;
}

}  // namespace bertft
