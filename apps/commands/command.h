// A command of the executable: one file each in this folder, one line each in all_commands.cpp.
#pragma once

#include <CLI/App.hpp>
#include <CLI/Error.hpp>
#include <memory>
#include <string>
#include <vector>

namespace bertft {

class Command {
 public:
  virtual ~Command() = default;
  virtual std::string name() const = 0;
  virtual std::string summary() const = 0;
  // Declares options and arguments on `app`, with members as targets.
  virtual void declare(CLI::App& app) = 0;
  // Whether the command makes sense as several processes under a launcher.
  virtual bool runs_on_several_ranks() const { return false; }
  // After parsing. Returns the exit code; throws errors of core/error.h.
  virtual int run() = 0;
};

std::unique_ptr<Command> make_train_command();
std::unique_ptr<Command> make_check_command();
std::unique_ptr<Command> make_evaluate_command();
std::unique_ptr<Command> make_predict_command();
std::unique_ptr<Command> make_tokenize_command();
std::unique_ptr<Command> make_inspect_command();
std::unique_ptr<Command> make_init_command();
std::unique_ptr<Command> make_comm_bench_command();
std::unique_ptr<Command> make_help_command();

// One of each, in the order of --help.
std::vector<std::unique_ptr<Command>> all_commands();

// Throws ConfigError when an argument that `command` cannot do without was not given. (Not left to the parser, which
// would report it before a misspelt option.)
void require_argument(const std::string& command, const std::string& value, const std::string& what);

// Throws ConfigError when `path` is not one that a file can be written to: a folder, or in a folder that is not there.
void require_output_place(const std::string& path, const std::string& what);

// Throws ConfigError when an output would replace an input.
void require_different_files(const std::string& output, const std::string& output_name, const std::string& input,
                             const std::string& input_name);

// What the parser said, made one message: with the nearest known option for one that `app` does not have.
std::string explain_parse_error(const CLI::ParseError& failure, const CLI::App& app,
                                const std::vector<std::string>& arguments);

// Throws ConfigError when `name` is a command that other builds have.
void refuse_command_not_built(const std::string& name);

}  // namespace bertft
