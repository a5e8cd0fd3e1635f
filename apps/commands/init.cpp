// init: writes a checkpoint with random weights in the form of published ones.
#include <fmt/format.h>

#include <iostream>

#include "commands/command.h"
#include "core/error.h"
#include "core/text.h"
#include "train/new_checkpoint.h"

namespace bertft {
namespace {

class InitCommand final : public Command {
 public:
  std::string name() const override { return "init"; }
  std::string summary() const override { return "write a checkpoint with random weights"; }

  void declare(CLI::App& app) override {
    app.add_option("--family", settings_.family, "the family of models: bert")->capture_default_str();
    app.add_option("--size", settings_.size,
                   "tiny (2 layers, width 128), mini (4, 256), small (4, 512), base (12, 768)")
        ->capture_default_str();
    app.add_option("--vocab", settings_.vocab_path, "vocab.txt: one WordPiece a line");
    app.add_flag("--cased", settings_.keeps_case, "the tokenizer keeps capital letters and accents");
    app.add_option("--output", settings_.output, "the new folder");
    app.add_option("--seed", seed_, "of the weights")->capture_default_str();
  }

  int run() override {
    require_argument(name(), settings_.vocab_path, "--vocab FILE");
    require_argument(name(), settings_.output, "--output DIR");
    if (seed_ < 0) throw ConfigError(fmt::format("--seed: {} is out of range; 0 or more is needed", seed_));
    settings_.seed = static_cast<uint64_t>(seed_);
    const NewCheckpointFacts facts = write_new_checkpoint(settings_);
    std::cout << fmt::format("{}: {} {}, {} layers, hidden {}, vocabulary {}, {} parameters, seed {}\n",
                             settings_.output, settings_.family, settings_.size, facts.layers, facts.hidden_size,
                             with_thousands(facts.vocab_size), with_thousands(facts.parameters), seed_);
    return 0;
  }

 private:
  NewCheckpoint settings_;
  int64_t seed_ = 42;
};

}  // namespace

std::unique_ptr<Command> make_init_command() { return std::make_unique<InitCommand>(); }

}  // namespace bertft
