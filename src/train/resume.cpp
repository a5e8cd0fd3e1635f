#include "train/resume.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <filesystem>
#include <utility>

#include "core/error.h"
#include "core/files.h"
#include "core/hash.h"
#include "core/log.h"
#include "core/text.h"

namespace bertft {
namespace {

namespace fs = std::filesystem;

// Keys that may differ when a run goes on: they change what is written, or where things lie, but no step. Data and
// tokenizer are compared by their content instead.
constexpr std::array<const char*, 25> kFreeKeys = {"threads",
                                                   "train.stop_at_step",
                                                   "output.dir",
                                                   "output.log_every",
                                                   "output.checkpoint_every",
                                                   "output.keep_checkpoints",
                                                   "output.tensorboard",
                                                   "output.predictions",
                                                   "data.train",
                                                   "data.dev",
                                                   "data.test",
                                                   "data.cache_dir",
                                                   "model.checkpoint",
                                                   "device",
                                                   "comm.mode",
                                                   "comm.transport",
                                                   "comm.lanes",
                                                   "comm.negotiate",
                                                   "comm.stall_warn_s",
                                                   "comm.stall_abort_s",
                                                   "comm.interface",
                                                   "comm.port_base",
                                                   "comm.horovod.cycle_ms",
                                                   "comm.horovod.fusion_mb",
                                                   "comm.horovod.cache_capacity"};

// Of what "auto" was resolved to: a difference means that sums may be taken in another order.
constexpr std::array<const char*, 5> kMachineKeys = {"threads", "instruction_set", "matrix_products", "blas_mode",
                                                     "world"};

bool is_free(const std::string& key) { return std::count(kFreeKeys.begin(), kFreeKeys.end(), key) > 0; }

std::map<std::string, std::string> hashes_of_inputs(const TrainingJob& job) {
  std::map<std::string, std::string> hashes = job.data_hashes();
  std::string tokenizer;
  for (const std::string& name : job.tokenizer_source.files) {
    tokenizer += name + "\n" + read_file(job.tokenizer_source.folder + "/" + name);
  }
  hashes["tokenizer"] = hash_text(hash64(tokenizer));
  return hashes;
}

std::string shown(const std::map<std::string, std::string>& values, const std::string& key) {
  const auto found = values.find(key);
  return found == values.end() ? "not known" : found->second;
}

void warn_if_moved(const TrainState& saved, const TrainState& now, TrainingJob& job) {
  for (const std::string key : kMachineKeys) {
    if (shown(saved.resolved, key) == shown(now.resolved, key)) continue;
    job.is_moved = true;
    log::warn(
        fmt::format("{} was {} before and is {} now: results agree with an uninterrupted run up to the order of "
                    "summation, no longer to the bit",
                    key, shown(saved.resolved, key), shown(now.resolved, key)));
  }
}

// The same global batch, whatever the number of ranks.
void require_same_batch(const TrainState& saved, const TrainState& now) {
  const std::string before = shown(saved.resolved, "global_batch_size");
  const std::string after = shown(now.resolved, "global_batch_size");
  if (before == after) return;
  throw ConfigError(fmt::format(
      "--resume: the global batch was {} rows and would be {} now, with {} ranks instead of {}. Start as many "
      "ranks as before, or set train.global_batch_size: {} instead of train.batch_size_per_rank",
      before, after, shown(now.resolved, "world"), shown(saved.resolved, "world"), before));
}

void require_same_inputs(const TrainState& saved, const TrainState& now) {
  for (const auto& [input, hash] : now.data_hashes) {
    if (shown(saved.data_hashes, input) == hash) continue;
    throw ConfigError(fmt::format(
        "--resume: the content of {} is not that of the saved run (hash {}, now {}). Restore it, or start a new run",
        input == "tokenizer" ? "the tokenizer's files" : "data." + input, shown(saved.data_hashes, input), hash));
  }
}

}  // namespace

ResumePlace find_resume_place(const std::string& path) {
  const fs::path place = fs::absolute(path).lexically_normal();
  const std::string name = place.filename().empty() ? place.parent_path().filename() : place.filename();
  const fs::path folder = place.filename().empty() ? place.parent_path() : place;
  if (name.starts_with("step_") && folder.parent_path().filename() == "checkpoints") {
    const std::string run = folder.parent_path().parent_path().string();
    for (const int64_t step : StateStore(run).steps()) {
      if (StateStore(run).path(step) == folder.string()) return {run, step};
    }
  } else if (RunDir(folder.string()).holds_run()) {
    return {folder.string(), std::nullopt};
  }
  throw ConfigError(fmt::format(
      "--resume: {} is neither the folder of a run nor one of its saved states (RUN/checkpoints/step_N)", path));
}

std::optional<SavedState> find_saved_state(const ResumePlace& place) {
  const StateStore store(place.run);
  if (place.step) return store.at(*place.step);
  std::optional<SavedState> found = store.newest();
  if (found) {
    log::info(fmt::format("resuming after step {} from {}", found->state.step, found->folder.path()));
  } else {
    log::info(fmt::format("--resume: {} has no saved state to go on from; starting from the beginning", place.run));
  }
  return found;
}

void adopt_saved_run(const TrainState& saved, RunConfig& config) {
  std::string differences;
  for (const auto& [key, value] : config_values(config)) {
    const auto before = saved.config.find(key);
    if (is_free(key) || (before != saved.config.end() && before->second == value)) continue;
    differences += fmt::format("\n  {}: {} in the saved run, now {}", key, shown(saved.config, key), value);
  }
  if (!differences.empty()) {
    throw ConfigError("--resume: these settings would make it another run:" + differences +
                      "\nRestore them, or start a new run in another output.dir");
  }
  if (config.train.stop_at_step && *config.train.stop_at_step <= saved.step) {
    throw ConfigError(
        fmt::format("train.stop_at_step is {}, but the run goes on after step {}: set a later step, or none",
                    *config.train.stop_at_step, saved.step));
  }
  if (!config.run.threads && saved.resolved.count("threads") > 0) {
    assign(config, "threads", StringList{saved.resolved.at("threads")}, "saved state");
    config.origins["threads"] = "saved state";
  }
}

TrainState initial_state(TrainingJob& job) {
  TrainState state;
  state.layout_hash = job.model->store().layout().parameters_hash();
  state.config = config_values(job.config);
  for (const auto& [name, value] : resolved_values(job.resolved)) {
    const auto* number = std::get_if<int64_t>(&value);
    state.resolved[name] = number != nullptr ? std::to_string(*number) : std::get<std::string>(value);
  }
  state.data_hashes = hashes_of_inputs(job);
  return state;
}

TrainState restore_run(const SavedState& saved, TrainingJob& job) {
  const TrainState now = initial_state(job);
  require_same_inputs(saved.state, now);
  require_same_batch(saved.state, now);
  warn_if_moved(saved.state, now, job);
  restore(saved, *job.model, *job.optimizer);
  TrainState state = saved.state;
  state.config = now.config;
  state.resolved = now.resolved;
  return state;
}

}  // namespace bertft
