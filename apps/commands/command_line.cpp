// What every command line is checked for: arguments that are needed, and commands that other builds have.
#include <map>

#include "commands/command.h"
#include "core/error.h"

namespace bertft {

void require_argument(const std::string& command, const std::string& value, const std::string& what) {
  if (!value.empty()) return;
  throw ConfigError("command line: " + command + " needs " + what + ". `bert_finetune help " + command +
                    "` shows what is known");
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
