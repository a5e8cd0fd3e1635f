// help [COMMAND]: usage, and for `train` every key of the configuration, from the tables that the parser uses;
// `help configuration` prints them as the page docs/configuration.md.
#include <iostream>

#include "commands/command.h"
#include "config/options_page.h"
#include "config/run_config.h"
#include "core/error.h"

namespace bertft {
namespace {

class HelpCommand final : public Command {
 public:
  std::string name() const override { return "help"; }
  std::string summary() const override {
    return "explain a command; `help train` lists every key of the YAML, `help configuration` as a page";
  }
  bool runs_on_several_ranks() const override { return true; }
  void declare(CLI::App& app) override {
    app_ = &app;
    app.add_option("command", topic_, "the command to explain");
  }

  int run() override {
    const CLI::App* root = app_->get_parent();
    if (topic_.empty()) {
      std::cout << root->help();
      return 0;
    }
    if (topic_ == "configuration") {
      std::cout << options_page();
      return 0;
    }
    refuse_command_not_built(topic_);
    try {
      std::cout << root->get_subcommand(topic_)->help();
    } catch (const CLI::OptionNotFound&) {
      throw ConfigError("help: there is no command '" + topic_ + "'; `bert_finetune help` lists them");
    }
    if (topic_ == "train") std::cout << "\nKeys of the configuration (also for --set):\n\n" << describe_options();
    return 0;
  }

 private:
  CLI::App* app_ = nullptr;
  std::string topic_;
};

}  // namespace

std::unique_ptr<Command> make_help_command() { return std::make_unique<HelpCommand>(); }

}  // namespace bertft
