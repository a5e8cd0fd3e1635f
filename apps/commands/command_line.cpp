// What every command line is checked for: arguments that are needed, and commands that other builds have.
#include <CLI/Error.hpp>
#include <algorithm>
#include <filesystem>
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

void require_output_place(const std::string& path, const std::string& what) {
  namespace fs = std::filesystem;
  if (path.empty()) return;
  const fs::path parent = fs::absolute(path).parent_path();
  if (fs::is_directory(path)) throw ConfigError(what + ": " + path + " is a folder; name a file");
  if (!fs::is_directory(parent)) throw ConfigError(what + ": there is no folder " + parent.string() + "; create it");
}

void require_different_files(const std::string& output, const std::string& output_name, const std::string& input,
                             const std::string& input_name) {
  std::error_code error;
  if (output.empty() || input.empty() || !std::filesystem::equivalent(output, input, error)) return;
  throw ConfigError(output_name + ": " + output + " is the file of " + input_name + ", which it would replace");
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
      {"report", "results.json and metrics.jsonl in the run's folder hold the numbers"},
      {"compare", "results.json and metrics.jsonl in the runs' folders hold the numbers"},
      {"serve", "use predict"},
      {"port", "write the YAML by hand; `help train` lists its keys"},
  };
  const auto found = commands.find(name);
  if (found != commands.end()) throw ConfigError("command '" + name + "': not in this build; " + found->second);
}

}  // namespace bertft
