// All options of a run in one place, where each value came from, and the rules between them.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "comm/options.h"
#include "core/option_table.h"
#include "data/options.h"
#include "model/options.h"
#include "optim/options.h"
#include "train/options.h"

namespace bertft {

struct RunConfig {
  RunOptions run;
  ModelOptions model;
  DataOptions data;
  TrainOptions train;
  OptimizerOptions optimizer;
  ScheduleOptions schedule;
  EvalOptions eval;
  OutputOptions output;
  CommOptions comm;
  // Full key ("train.epochs") -> "default", "c.yaml:12" or "--set".
  std::map<std::string, std::string> origins;

  // Fresh tables whose targets are the members above; they must not outlive this object.
  std::vector<OptionTable> tables();
};

// Sets "section.key=value" as --set does. Lists are written [a, b]. Relative paths are relative to the working folder.
// Throws ConfigError: no '=', an unknown key (the nearest known one is named), a wrong type or range.
void apply_override(RunConfig& config, const std::string& assignment, const std::string& origin);

// Sets one option by its full key. `place` begins messages: "c.yaml:12" or "--set train.epochs=x".
void assign(RunConfig& config, const std::string& full_key, const StringList& texts, const std::string& place);
void assign(RunConfig& config, const std::string& full_key, const StringMap& map, const std::string& place);

// Whether the key is one that is written as a map.
bool is_map_key(RunConfig& config, const std::string& full_key);

// Where a key's value came from: "default", "c.yaml:12", "--set".
std::string origin_of(const RunConfig& config, const std::string& key);

// Full key -> value as YAML writes it, of every option.
std::map<std::string, std::string> config_values(RunConfig& config);

// Every option as YAML, with the origin of each value as a comment. Loading the text gives the same values.
std::string print_run_config(RunConfig& config);

// Every option with type, default, unit, range and help: `help train`.
std::string describe_options();

}  // namespace bertft
