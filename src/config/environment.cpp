#include "config/environment.h"

#include <fmt/format.h>
#include <unistd.h>

#include <charconv>
#include <cstdlib>
#include <optional>
#include <set>
#include <string_view>

#include "config/rules.h"
#include "core/error.h"
#include "core/text.h"

namespace bertft {
namespace {

constexpr int64_t kMiB = int64_t{1} << 20;

// The value of the key that a variable's text means; throws ConfigError (the reason alone). nullopt: the default.
using Conversion = std::optional<std::string> (*)(const std::string& text);

std::optional<std::string> itself(const std::string& text) { return text; }

bool truth(const std::string& text) {
  if (text == "0" || text == "1") return text == "1";
  throw ConfigError("0 or 1 is needed");
}

std::optional<std::string> boolean(const std::string& text) { return truth(text) ? "true" : "false"; }

// Bytes, to whole MiB, upwards.
std::optional<std::string> mebibytes(const std::string& text) {
  int64_t bytes = 0;
  const auto [stop, error] = std::from_chars(text.data(), text.data() + text.size(), bytes);
  if (error != std::errc{} || stop != text.data() + text.size() || bytes < 0) {
    throw ConfigError("a number of bytes is needed");
  }
  return std::to_string(bytes / kMiB + (bytes % kMiB != 0 ? 1 : 0));
}

std::optional<std::string> wire_of_code(const std::string& text) {
  if (text == "0") return "fp16";
  if (text == "1") return "fp32";
  if (text == "2") return "mixed";
  throw ConfigError("0 (fp16), 1 (off: fp32) or 2 (mixed) is needed");
}

// The check itself is always made here.
std::optional<std::string> report_if_on(const std::string& text) {
  return truth(text) ? std::optional<std::string>("report") : std::nullopt;
}

struct Variable {
  const char* name;
  const char* key;
  Conversion convert;
};

constexpr Variable kVariables[] = {
    {"HOROVOD_FUSION_THRESHOLD", "comm.horovod.fusion_mb", mebibytes},
    {"HOROVOD_CYCLE_TIME", "comm.horovod.cycle_ms", itself},
    {"HOROVOD_CACHE_CAPACITY", "comm.horovod.cache_capacity", itself},
    {"HOROVOD_HIERARCHICAL_ALLREDUCE", "comm.horovod.hierarchical", boolean},
    {"HOROVOD_TIMELINE", "comm.timeline", itself},
    {"PERSEUS_ALLREDUCE_DTYPE", "comm.wire", wire_of_code},
    {"PERSEUS_ALLREDUCE_STREAMS", "comm.lanes", itself},
    {"PERSEUS_ALLREDUCE_NANCHECK", "comm.nan", report_if_on},
};

void adopt(RunConfig& config, const Variable& variable, const std::string& text) {
  const std::string origin = std::string(variable.name) + "=" + text;
  std::optional<std::string> value;
  try {
    value = variable.convert(text);
  } catch (const ConfigError& failure) {
    throw ConfigError(
        fmt::format("{}={}: {} (it stands for {})", variable.name, excerpt(text), failure.what(), variable.key));
  }
  if (!value || origin_of(config, variable.key) != "default") return;
  assign(config, variable.key, StringList{*value}, origin);
  config.origins[variable.key] = origin;
}

// Names of the two families that are set in the environment, but not those in the table.
std::set<std::string> other_variables() {
  std::set<std::string> names;
  for (char** entry = environ; *entry != nullptr; ++entry) {
    const std::string_view text(*entry);
    const std::string name(text.substr(0, text.find('=')));
    if (name.starts_with("HOROVOD_") || name.starts_with("PERSEUS_ALLREDUCE_")) names.insert(name);
  }
  for (const Variable& variable : kVariables) names.erase(variable.name);
  return names;
}

}  // namespace

std::vector<std::string> adopt_environment(RunConfig& config, std::vector<std::string>& faults) {
  for (const Variable& variable : kVariables) {
    const char* text = std::getenv(variable.name);
    if (text == nullptr || *text == '\0') continue;
    try {
      adopt(config, variable, text);
    } catch (const ConfigError& failure) {
      faults.push_back(failure.what());
    }
  }
  const std::set<std::string> others = other_variables();
  if (others.empty()) return {};
  return {"set in the environment, but not used by this program: " + join({others.begin(), others.end()}, ", ")};
}

std::vector<std::string> adopt_environment(RunConfig& config) {
  std::vector<std::string> faults;
  std::vector<std::string> notes = adopt_environment(config, faults);
  if (!faults.empty()) throw ConfigError(join_faults("environment", faults));
  return notes;
}

std::string environment_text(RunConfig config) {
  const std::map<std::string, std::string> values = config_values(config);
  std::vector<std::string> texts;
  for (const Variable& variable : kVariables) {
    const std::string origin = origin_of(config, variable.key);
    if (origin.starts_with(std::string(variable.name) + "=")) {
      texts.push_back(fmt::format("{} {} ({})", variable.key, values.at(variable.key), origin));
    }
  }
  return join(texts, ", ");
}

}  // namespace bertft
