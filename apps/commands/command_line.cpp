// What every command line is checked for: arguments that are needed, and commands that other builds have.
#include <CLI/Error.hpp>
#include <algorithm>
#include <map>

#include "commands/command.h"
#include "core/error.h"
#include "core/text.h"

namespace bertft {

void require_argument(const std::string& command, const std::string& value, const std::string& what) {
  if (!value.empty()) return;
  throw ConfigError("command line: " + command + " needs " + what + ". `bert_finetune help " + command +
                    "` shows what is known");
}

std::string explain_parse_error(const CLI::ParseError& failure, const CLI::App& app,
                                const std::vector<std::string>& arguments) {
  const std::string hint = ". `bert_finetune help " + app.get_name() + "` shows what is known";
  std::vector<std::string> known;
  for (const CLI::Option* option : app.get_options()) known.push_back(option->get_name());
  for (const std::string& argument : arguments) {
    const std::string name = argument.substr(0, argument.find('='));
    if (!name.starts_with("--") || std::count(known.begin(), known.end(), name) > 0) continue;
    const auto nearest = nearest_word(name, known);
    return "command line: unknown option " + name + (nearest ? "; did you mean " + *nearest + "?" : hint);
  }
  return std::string("command line: ") + failure.what() + hint;
}

void refuse_command_not_built(const std::string& name) {
  static const std::map<std::string, std::string> commands = {
      {"check",
       "`train` checks configuration, data and checkpoint before the first step and before it writes anything"},
      {"init", "start from a published checkpoint"},
      {"comm-bench", "there is one process and nothing to exchange"},
      {"report", "results.json and metrics.jsonl in the run's folder hold the numbers"},
      {"compare", "results.json and metrics.jsonl in the runs' folders hold the numbers"},
      {"serve", "use predict"},
      {"port", "write the YAML by hand; `help train` lists its keys"},
  };
  const auto found = commands.find(name);
  if (found != commands.end()) throw ConfigError("command '" + name + "': not in this build; " + found->second);
}

}  // namespace bertft
