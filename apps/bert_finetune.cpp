// bert_finetune: parses the command line and runs one command.
#include <CLI/CLI.hpp>
#include <iostream>
#include <memory>
#include <vector>

#include "comm/cuda_platform.h"
#include "comm/launcher.h"
#include "comm/start.h"
#include "commands/command.h"
#include "core/error.h"
#include "core/text.h"
#include "core/version.h"
#include "guard.h"
#include "openmp_wait.h"

namespace {

using bertft::Command;
using bertft::ConfigError;

// The command that the arguments name; `train` when they begin with an option.
Command& choose(const std::vector<std::unique_ptr<Command>>& commands, std::vector<std::string>& arguments) {
  if (arguments.front().starts_with("-")) arguments.insert(arguments.begin(), "train");
  std::vector<std::string> names;
  for (const auto& command : commands) {
    names.push_back(command->name());
    if (command->name() == arguments.front()) return *command;
  }
  bertft::refuse_command_not_built(arguments.front());
  const auto nearest = bertft::nearest_word(arguments.front(), names);
  throw ConfigError("unknown command '" + arguments.front() + "'" +
                    (nearest ? "; did you mean '" + *nearest + "'?" : "; known: " + bertft::join(names, ", ")));
}

int run(std::vector<std::string> arguments) {
  CLI::App app{"Fine-tunes BERT checkpoints on labelled text.", "bert_finetune"};
  app.set_version_flag("--version", [] {
    return bertft::version_report() + describe(bertft::cuda_platform()) + "\nMPI: " + bertft::mpi_description() + "\n";
  });
  app.require_subcommand(1);
  const auto commands = bertft::all_commands();
  for (const auto& command : commands) command->declare(*app.add_subcommand(command->name(), command->summary()));
  if (arguments.empty()) arguments = {"--help"};
  const bool is_question =
      (arguments.front() == "--version" || arguments.front() == "--help" || arguments.front() == "-h");
  Command* chosen = is_question ? nullptr : &choose(commands, arguments);
  try {
    app.parse(std::vector<std::string>(arguments.rbegin(), arguments.rend()));
  } catch (const CLI::Success& success) {
    return app.exit(success);
  } catch (const CLI::ParseError& failure) {
    const CLI::App* parsed = chosen != nullptr ? app.get_subcommand(chosen->name()) : &app;
    throw ConfigError(bertft::explain_parse_error(failure, *parsed, arguments));
  }
  if (!chosen->runs_on_several_ranks()) bertft::refuse_more_than_one_process(chosen->name());
  const int exit_code = chosen->run();
  if (!std::cout.flush())
    throw bertft::ResourceError("cannot write to standard output: is it closed, or the disk full?");
  return exit_code;
}

}  // namespace

int main(int argc, char** argv) {
  bertft::restart_with_short_openmp_wait(argv);
  return bertft::run_guarded([&] { return run(std::vector<std::string>(argv + 1, argv + argc)); });
}
