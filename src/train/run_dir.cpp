#include "train/run_dir.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <filesystem>

#include "core/error.h"
#include "core/files.h"

namespace bertft {
namespace {

namespace fs = std::filesystem;

// Everything that a run writes into its folder; each may also be there under its name with .tmp behind it.
constexpr std::array<const char*, 9> kRunNames = {"config.yaml", "run.json", "metrics.jsonl", "logs",        "models",
                                                  "best",        "last",     "predictions",   "results.json"};

bool is_run_name(std::string name) {
  if (name.ends_with(".tmp")) name.resize(name.size() - 4);
  return std::find(kRunNames.begin(), kRunNames.end(), name) != kRunNames.end();
}

// Whether a run wrote this folder: it has run.json, or (a run killed at its start) nothing that a run does not write.
bool looks_like_run(const std::string& folder, std::error_code& error) {
  if (fs::exists(folder + "/run.json", error)) return true;
  for (fs::directory_iterator entry(folder, error), end; !error && entry != end; entry.increment(error)) {
    if (!is_run_name(entry->path().filename().string())) return false;
  }
  return !error;
}

std::string model_name(int64_t step) { return fmt::format("step_{:08}", step); }

}  // namespace

void RunDir::check_available(bool may_overwrite) const {
  std::error_code error;
  const fs::file_status status = fs::status(path_, error);
  if (!fs::exists(status)) return;
  if (!fs::is_directory(status)) {
    throw ConfigError(fmt::format("output.dir: {} is a file; name a folder", path_));
  }
  const bool is_empty = fs::is_empty(path_, error);
  if (error) throw ResourceError(fmt::format("output.dir: cannot look into {}: {}", path_, error.message()));
  if (is_empty) return;
  if (!may_overwrite) {
    throw ConfigError(fmt::format(
        "output.dir: {} is not empty. Name another folder, or pass --overwrite to replace the run there", path_));
  }
  if (!looks_like_run(path_, error)) {
    throw ConfigError(
        fmt::format("output.dir: {} has content but no run.json, so it is not a run that --overwrite may replace. Name "
                    "another folder",
                    path_));
  }
}

void RunDir::create() const {
  std::error_code error;
  for (const std::string name : kRunNames) {
    for (const std::string& present : {name, name + ".tmp"}) {
      fs::remove_all(fs::path(path_) / present, error);
      if (error) throw ResourceError(fmt::format("cannot remove {}/{}: {}", path_, present, error.message()));
    }
  }
  for (const char* folder : {"logs", "models", "predictions"}) make_folders(path_ + "/" + folder);
}

std::string RunDir::model_path(int64_t step) const { return path_ + "/models/" + model_name(step); }

void RunDir::link_model(const std::string& link, int64_t step) const {
  swap_link("models/" + model_name(step), path_ + "/" + link);
}

void RunDir::prune_models(int64_t best_step, int64_t last_step) const {
  std::error_code error;
  for (const fs::directory_entry& entry : fs::directory_iterator(path_ + "/models", error)) {
    const std::string name = entry.path().filename().string();
    if (name != model_name(best_step) && name != model_name(last_step)) fs::remove_all(entry.path(), error);
  }
}

}  // namespace bertft
