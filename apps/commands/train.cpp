// train: fine-tunes a checkpoint as a YAML file says.
#include <fmt/format.h>

#include <charconv>
#include <iostream>

#include "commands/command.h"
#include "config/yaml.h"
#include "core/error.h"
#include "core/files.h"
#include "core/log.h"
#include "data/data_path.h"
#include "train/build.h"
#include "train/evaluator.h"
#include "train/run_dir.h"
#include "train/startup_table.h"
#include "train/trainer.h"

namespace bertft {
namespace {

class TrainCommand final : public Command {
 public:
  std::string name() const override { return "train"; }
  std::string summary() const override { return "fine-tune a checkpoint (the default command)"; }

  void declare(CLI::App& app) override {
    app.add_option("--config", config_path_, "the YAML file of the run");
    app.add_option("--set", overrides_, "section.key=value, overrides the YAML; may be repeated")
        ->allow_extra_args(false);
    app.add_option("--comm", comm_, "aiacc or horovod: sets comm.mode");
    app.add_flag("--overwrite", may_overwrite_, "replace the run in output.dir");
    app.add_option("--trace", requests_.trace_path, "write one JSON line per step to this file");
    app.add_option("--dump-step", dump_, "N FILE.safetensors: write logits and gradients of step N")->expected(2);
    app.add_flag("--verify-data", verifies_data_, "read the data files even when they are cached, and compare");
    app.add_flag("--print-config", prints_config_, "print the resolved configuration with origins, and stop");
    resume_option_ = app.add_option("--resume", resume_, "not in this build")->expected(0, 1);
    app.add_flag("--profile", has_profile_, "not in this build");
  }

  int run() override {
    require_argument(name(), config_path_, "--config FILE");
    refuse_what_is_not_built();
    RunConfig config = load_run_config(config_path_);
    for (const std::string& assignment : overrides_) apply_override(config, assignment, "--set");
    if (!comm_.empty()) apply_override(config, "comm.mode=" + comm_, "--comm");
    if (prints_config_) {
      std::cout << print_run_config(config);
      return 0;
    }
    check_run_config(config);
    parse_dump();
    const RunDir run_dir(config.output.dir);
    run_dir.check_available(may_overwrite_);
    check_paths(config, run_dir);
    TrainingJob job = build_training_job(std::move(config), verifies_data_);
    check_dump_step(job.resolved.total_steps);
    start_run(job, run_dir);
    const RunResults results = Trainer(job, run_dir, requests_).run();
    say_results(results, run_dir);
    return 0;
  }

 private:
  void refuse_what_is_not_built() const {
    if (resume_option_->count() > 0) {
      throw ConfigError("--resume: not in this build; training state is not saved. Start again with --overwrite");
    }
    if (has_profile_) throw ConfigError("--profile: not in this build");
  }

  void parse_dump() {
    if (dump_.empty()) return;
    const std::string& text = dump_[0];
    const auto [stop, error] = std::from_chars(text.data(), text.data() + text.size(), requests_.dump_step);
    if (error != std::errc{} || stop != text.data() + text.size() || requests_.dump_step < 1) {
      throw ConfigError(
          fmt::format("--dump-step: '{}' is not a step; write --dump-step N FILE.safetensors, N from 1", text));
    }
    requests_.dump_path = dump_[1];
  }

  // Before anything is removed or written: no input may lie in the run that is replaced, no output may be an input, and
  // there must be a folder for each output.
  void check_paths(const RunConfig& config, const RunDir& run_dir) const {
    std::vector<std::pair<std::string, std::string>> inputs = {{"model.checkpoint", config.model.checkpoint}};
    const auto add_inputs = [&](const char* key, const StringList& paths) {
      if (paths.empty()) return;
      for (const DataPath& path : find_data_paths(paths)) inputs.emplace_back(key, path.path);
    };
    add_inputs("data.train", config.data.train);
    add_inputs("data.dev", config.data.dev);
    add_inputs("data.test", config.data.test);
    const std::vector<std::pair<std::string, std::string>> outputs = {{"--trace", requests_.trace_path},
                                                                      {"--dump-step", requests_.dump_path}};
    for (const auto& [what, path] : inputs) run_dir.require_outside(path, what);
    for (const auto& [what, path] : outputs) {
      run_dir.require_outside(path, what);
      require_output_place(path, what);
      for (const auto& [input, input_path] : inputs) require_different_files(path, what, input_path, input);
      require_different_files(path, what, config_path_, "--config");
    }
  }

  void check_dump_step(int64_t total_steps) const {
    if (requests_.dump_step <= total_steps) return;
    throw ConfigError(
        fmt::format("--dump-step: step {} is behind the last step, {}", requests_.dump_step, total_steps));
  }

  static void start_run(TrainingJob& job, const RunDir& run_dir) {
    run_dir.create(run_json(job));
    write_file_atomically(run_dir.config_path(), print_run_config(job.config));
    log::add_file(run_dir.log_path());
    log::info(startup_table(job));
  }

  static void say_results(const RunResults& results, const RunDir& run_dir) {
    const RunTimings& t = results.timings;
    log::info(
        fmt::format("done: {} steps in {:.1f} s ({:.1f} rows/s, {:.0f} tokens/s), evaluation {:.1f} s, first step "
                    "after {:.2f} s, all {:.1f} s\nbest model (step {}): {}\nresults: {}",
                    results.steps, t.train_s, t.samples_per_s, t.tokens_per_s, t.evaluate_s, t.first_step_s, t.total_s,
                    results.best_step, run_dir.best_path(), run_dir.results_path()));
  }

  std::string config_path_;
  std::vector<std::string> overrides_;
  std::string comm_;
  std::vector<std::string> dump_;
  std::string resume_;
  CLI::Option* resume_option_ = nullptr;
  bool may_overwrite_ = false;
  bool prints_config_ = false;
  bool verifies_data_ = false;
  bool has_profile_ = false;
  TrainRequests requests_;
};

}  // namespace

std::unique_ptr<Command> make_train_command() { return std::make_unique<TrainCommand>(); }

}  // namespace bertft
