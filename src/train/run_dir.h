// The folder of one run: who may write there, and where everything lies (README lists the files).
#pragma once

#include <cstdint>
#include <string>

namespace bertft {

class RunDir {
 public:
  explicit RunDir(std::string path) : path_(std::move(path)) {}

  // Whether a run may start here; changes nothing. Throws ConfigError when the folder has content and `may_overwrite`
  // is false, or when the content is not that of a run, and ResourceError when it cannot be looked at.
  void check_available(bool may_overwrite) const;

  // Removes what an earlier run left (only names that a run writes) and makes the folders of a new one.
  void create() const;

  const std::string& path() const { return path_; }
  std::string config_path() const { return path_ + "/config.yaml"; }
  std::string run_path() const { return path_ + "/run.json"; }
  std::string metrics_path() const { return path_ + "/metrics.jsonl"; }
  std::string results_path() const { return path_ + "/results.json"; }
  std::string log_path() const { return path_ + "/logs/rank_0000.log"; }
  std::string predictions_path(const std::string& split) const { return path_ + "/predictions/" + split + ".tsv"; }
  std::string model_path(int64_t step) const;
  std::string best_path() const { return path_ + "/best"; }

  // Points the link `best` or `last` to the model of a step.
  void link_model(const std::string& link, int64_t step) const;
  // Removes model folders that neither link points to.
  void prune_models(int64_t best_step, int64_t last_step) const;

 private:
  std::string path_;
};

}  // namespace bertft
