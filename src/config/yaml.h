// YAML in and out: the only user of yaml-cpp.
#pragma once

#include <string>
#include <vector>

#include "config/run_config.h"
#include "core/option_table.h"

namespace bertft {

// Reads a run's configuration. ${NAME} in values is replaced by the environment variable NAME; relative paths become
// relative to the folder of the file. Throws ConfigError "file:line: ..." for broken YAML, unknown or repeated keys,
// wrong types or ranges, and unset variables: all of them in one message.
RunConfig load_run_config(const std::string& path);
// The same, but faults of single keys are added to `faults` and the others are loaded. Throws as above for a file that
// cannot be read or is no YAML.
RunConfig load_run_config(const std::string& path, std::vector<std::string>& faults);

// The texts of one value written on a command line: a scalar, or a list [a, b].
StringList parse_value_texts(const std::string& value, const std::string& place);
// The entries of a map written on a command line, {a: 1, b: 2}.
StringMap parse_value_map(const std::string& value, const std::string& place);

// An option's present value, quoted where YAML needs it.
std::string yaml_text(const Option& option);

}  // namespace bertft
