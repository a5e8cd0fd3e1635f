// train: fine-tunes a checkpoint as a YAML file says.
#include <fmt/format.h>

#include <charconv>
#include <functional>
#include <iostream>
#include <memory>
#include <optional>

#include "comm/connect_ranks.h"
#include "comm/world.h"
#include "commands/command.h"
#include "commands/command_ranks.h"
#include "config/environment.h"
#include "config/rules.h"
#include "config/yaml.h"
#include "core/error.h"
#include "core/files.h"
#include "core/log.h"
#include "core/text.h"
#include "core/work_meter.h"
#include "data/data_path.h"
#include "train/build.h"
#include "train/owner.h"
#include "train/ranks.h"
#include "train/resume.h"
#include "train/run_dir.h"
#include "train/startup_table.h"
#include "train/state_store.h"
#include "train/trainer.h"

namespace bertft {
namespace {

class TrainCommand final : public Command {
 public:
  std::string name() const override { return "train"; }
  std::string summary() const override { return "fine-tune a checkpoint (the default command)"; }
  bool runs_on_several_ranks() const override { return true; }

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
    resume_option_ =
        app.add_option("--resume", resume_path_,
                       "go on with the run in output.dir, or in this folder (RUN or RUN/checkpoints/step_N)")
            ->expected(0, 1);
    app.add_flag("--take-over", owner_.takes_over, "write to output.dir even if another job seems to own it");
    app.add_flag("--profile", requests_.has_profile,
                 "print where the time of a step goes, and write output.dir/profile.json, a Chrome trace (rank 0)");
  }

  int run() override {
    ranks_.emplace();
    world_ = ranks_->world();
    log::start({.rank = world_.rank});
    return ranks_->run([this] { return run_together(); });
  }

 private:
  // What fails here on one rank fails on all, with one message.
  int run_together() {
    RunConfig config;
    std::optional<ResumePlace> resume;
    std::vector<std::string> notes;
    bool is_complete = false;
    ranks_->bootstrap().expect_short_waits({});
    together([&] {
      require_argument(name(), config_path_, "--config FILE");
      config = load_run_config(config_path_);
      notes = adopt_environment(config);
      for (const std::string& assignment : overrides_) apply_override(config, assignment, "--set");
      if (!comm_.empty()) apply_override(config, "comm.mode=" + comm_, "--comm");
      resume = resume_place(config);
      if (prints_config_) return;
      check_run_config(config);
      parse_dump();
      is_complete = resume && !resume->step && RunDir(config.output.dir).is_complete();
      if (is_complete) refuse_other_settings(RunDir(config.output.dir), config);
    });
    if (prints_config_ && world_.rank == 0) std::cout << print_run_config(config);
    if (prints_config_) return static_cast<int>(ExitCode::kDone);
    for (const std::string& note : notes) log::warn(note);
    ranks_->bootstrap().expect_short_waits({config.comm.stall_warn_s, config.comm.stall_abort_s});
    require_equal_facts(world_, ranks_->gather(), configuration_facts(config));
    if (!is_complete) return run_job(std::move(config), resume);
    const RunDir run_dir(config.output.dir);
    log::info(fmt::format("the run in {} is complete: nothing to resume\nresults: {}", run_dir.path(),
                          run_dir.results_path()));
    return static_cast<int>(ExitCode::kDone);
  }

  // From connect_ranks() on a rank that fails alone tells the others why before it ends, and all see a death at once.
  int run_job(RunConfig config, const std::optional<ResumePlace>& resume) {
    const RunDir run_dir(config.output.dir);
    std::optional<RunOwner> owner;
    std::optional<SavedState> saved;
    std::optional<TrainingJob> job;
    together([&] {
      saved = open_run(run_dir, resume, owner);
      if (saved) adopt_saved_run(saved->state, config);
      check_paths(config, run_dir);
      require_transport_can_work(config.comm, world_);
    });
    link_ = connect_ranks(config.comm, world_, ranks_->bootstrap());
    try {
      TrainState state = set_up(std::move(config), saved, job);
      together([&] {
        if (world_.rank == 0) start_run(*job, run_dir, state.step, owner);
      });
      together([&] { log::add_file(run_dir.log_path(world_.rank)); });
      log::info(startup_table(*job));
      const RunOutcome outcome = Trainer(*job, run_dir, owner ? &*owner : nullptr, requests_, std::move(state)).run();
      job->communicator->close();
      return finish(outcome, run_dir);
    } catch (const SharedError&) {
      if (job && job->communicator) {
        job->communicator->close();
      } else if (link_) {
        link_->close();
      }
      throw;
    } catch (const std::exception& failure) {
      if (job && job->communicator) job->communicator->abort(failure.what());
      if (link_) link_->abort(failure.what());
      throw;
    }
  }

  // The ranks of a node take turns where one of them makes what the others then find.
  TrainState set_up(RunConfig config, const std::optional<SavedState>& saved, std::optional<TrainingJob>& job) {
    const WorkPhase phase("reading data and checkpoint");
    const ComputeSettings compute = prepare_compute(config.run, world_, gather());
    const auto build = [&] { job.emplace(build_training_job(config, world_, compute, verifies_data_)); };
    together([&] {
      if (world_.local_rank == 0) build();
    });  // reads the data and fills the cache of the node
    together([&] {
      if (world_.local_rank != 0) build();
    });
    TrainState state;
    together([&] {
      check_dump_step(job->resolved.total_steps);
      state = saved ? restore_run(*saved, *job) : initial_state(*job);
    });
    connect(*job, ranks_->bootstrap(), link_);
    return state;
  }

  GatherTexts gather() {
    if (!link_) return ranks_->gather();
    return [this](const std::string& mine) { return link_->all_gather(mine); };
  }

  void together(const std::function<void()>& work) { all_or_none(world_, gather(), work); }

  // Of a run that is complete: a saved state, if there is one, tells whether this would be another run.
  static void refuse_other_settings(const RunDir& run_dir, RunConfig& config) {
    if (const auto last = StateStore(run_dir.path()).newest()) adopt_saved_run(last->state, config);
  }

  // Where --resume goes on; with a path, output.dir becomes the run that the path names.
  std::optional<ResumePlace> resume_place(RunConfig& config) const {
    if (resume_option_->count() == 0) return std::nullopt;
    if (may_overwrite_)
      throw ConfigError("--resume and --overwrite: go on with the run, or replace it; pass one of them");
    if (resume_path_.empty()) return ResumePlace{config.output.dir, std::nullopt};
    const ResumePlace place = find_resume_place(resume_path_);
    config.output.dir = place.run;
    config.origins["output.dir"] = "--resume";
    return place;
  }

  // Whether the run may begin or go on here, and from what. A folder with content is owned before anything is read.
  std::optional<SavedState> open_run(const RunDir& run_dir, const std::optional<ResumePlace>& resume,
                                     std::optional<RunOwner>& owner) const {
    const bool goes_on = resume && run_dir.holds_run();
    run_dir.check_available(may_overwrite_ || goes_on);
    if (run_dir.holds_run() && world_.rank == 0) owner.emplace(run_dir.path(), owner_);
    if (resume && !goes_on) {
      log::info(fmt::format("--resume: there is no run in {}; starting from the beginning", run_dir.path()));
    }
    return goes_on ? find_saved_state(*resume) : std::nullopt;
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
                                                                      {"--dump-step", requests_.dump_path},
                                                                      {"comm.timeline", config.comm.timeline}};
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

  // The folder of the run, and what the run says of itself. `steps_done`: of a run that goes on.
  void start_run(TrainingJob& job, const RunDir& run_dir, int64_t steps_done, std::optional<RunOwner>& owner) const {
    make_folders(run_dir.path());
    if (!owner) owner.emplace(run_dir.path(), owner_);
    if (steps_done == 0) {
      run_dir.create(run_json(job));
    } else {
      run_dir.reopen(run_json(job));
    }
    write_file_atomically(run_dir.config_path(), print_run_config(job.config));
  }

  int finish(const RunOutcome& outcome, const RunDir& run_dir) const {
    if (outcome.is_stopped) {
      log::warn(fmt::format("stopped after step {} ({}); the training state is saved. To go on:\n{}", outcome.step,
                            outcome.stop_reason, resume_command(outcome.stop_reason)));
      return static_cast<int>(ExitCode::kInterrupted);
    }
    const RunTimings& t = outcome.results.timings;
    log::info(
        fmt::format("done: {} steps in {:.1f} s ({:.1f} rows/s, {:.0f} tokens/s), evaluation {:.1f} s, first step "
                    "after {:.2f} s, all {:.1f} s\nbest model (step {}): {}\nresults: {}",
                    outcome.results.steps, t.train_s, t.samples_per_s, t.tokens_per_s, t.evaluate_s, t.first_step_s,
                    t.total_s, outcome.results.best_step, run_dir.best_path(), run_dir.results_path()));
    return static_cast<int>(ExitCode::kDone);
  }

  // The command line that goes on with this run, as a shell takes it.
  std::string resume_command(const std::string& stop_reason) const {
    std::string command = "bert_finetune train --config " + shell_quoted(config_path_);
    for (const std::string& assignment : overrides_) {
      if (!assignment.starts_with("train.stop_at_step=")) command += " --set " + shell_quoted(assignment);
    }
    if (stop_reason == "train.stop_at_step") command += " --set train.stop_at_step=none";
    if (!comm_.empty()) command += " --comm=" + shell_quoted(comm_);
    if (!requests_.trace_path.empty()) command += " --trace " + shell_quoted(requests_.trace_path);
    return command + (resume_path_.empty() ? " --resume" : " --resume=" + shell_quoted(resume_path_));
  }

  std::string config_path_;
  std::vector<std::string> overrides_;
  std::string comm_;
  std::vector<std::string> dump_;
  std::string resume_path_;
  OwnerSettings owner_;
  CLI::Option* resume_option_ = nullptr;
  bool may_overwrite_ = false;
  bool prints_config_ = false;
  bool verifies_data_ = false;
  TrainRequests requests_;
  std::optional<CommandRanks> ranks_;
  std::shared_ptr<RankLink> link_;  // of several ranks, once they are connected
  World world_;
};

}  // namespace

std::unique_ptr<Command> make_train_command() { return std::make_unique<TrainCommand>(); }

}  // namespace bertft
