#include "commands/command.h"

namespace bertft {

std::vector<std::unique_ptr<Command>> all_commands() {
  std::vector<std::unique_ptr<Command>> commands;
  commands.push_back(make_train_command());
  commands.push_back(make_check_command());
  commands.push_back(make_evaluate_command());
  commands.push_back(make_predict_command());
  commands.push_back(make_tokenize_command());
  commands.push_back(make_inspect_command());
  commands.push_back(make_init_command());
  commands.push_back(make_comm_bench_command());
  commands.push_back(make_help_command());
  return commands;
}

}  // namespace bertft
