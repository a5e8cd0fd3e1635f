// The folder of one run: who may write there, and where everything lies (README lists the files).
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace bertft {

class RunDir {
 public:
  explicit RunDir(std::string path) : path_(std::move(path)) {}

  // Whether a run may start here; changes nothing. Throws ConfigError when the folder has content (other than who owns
  // it) and `may_overwrite` is false, or when its run.json is not that of a run, and ResourceError when it cannot be
  // looked at.
  void check_available(bool may_overwrite) const;

  // Whether the folder holds a run, and whether that run came to its end.
  bool holds_run() const;
  bool is_complete() const;

  // Throws ConfigError when `path`, which is `what` ("data.train"), lies where create() would remove it: a checkpoint
  // or a file of the run that would be replaced cannot be the input of the new one, nor can an output be placed there.
  void require_outside(const std::string& path, const std::string& what) const;

  // Writes run.json, by which the folder is known as a run from then on, removes the other files that an earlier run
  // left (by their names; whatever else lies there stays), and makes the folders of a new one.
  void create(const std::string& run_json) const;

  // The same for a run that goes on: run.json is written anew, results of an earlier end are removed, all else stays.
  void reopen(const std::string& run_json) const;

  const std::string& path() const { return path_; }
  std::string config_path() const { return path_ + "/config.yaml"; }
  std::string run_path() const { return path_ + "/run.json"; }
  std::string metrics_path() const { return path_ + "/metrics.jsonl"; }
  std::string results_path() const { return path_ + "/results.json"; }
  std::string profile_path() const { return path_ + "/profile.json"; }
  std::string log_path(int rank) const;
  std::string predictions_path(const std::string& split) const { return path_ + "/predictions/" + split + ".tsv"; }
  std::string errors_path(const std::string& split) const { return path_ + "/predictions/" + split + "_errors.tsv"; }
  std::string model_path(int64_t step) const;
  std::string tensorboard_path() const { return path_ + "/tensorboard"; }
  std::string best_path() const { return path_ + "/best"; }

  // Points the link `best` or `last` to the model of a step.
  void link_model(const std::string& link, int64_t step) const;
  // Removes all model folders but those of the given steps.
  void prune_models(const std::vector<int64_t>& kept_steps) const;

 private:
  void make_own_folders() const;

  std::string path_;
};

}  // namespace bertft
