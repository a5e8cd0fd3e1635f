#include "train/run_dir.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <set>
#include <utility>
#include <vector>

#include "core/error.h"
#include "core/files.h"

namespace bertft {
namespace {

namespace fs = std::filesystem;

// The files and links that a run writes beside its models and run.json; each may also be there with .tmp behind its
// name.
constexpr std::array<const char*, 11> kRunFiles = {"predictions/dev_errors.tsv",
                                                   "predictions/test_errors.tsv",
                                                   "config.yaml",
                                                   "metrics.jsonl",
                                                   "results.json",
                                                   "profile.json",
                                                   "best",
                                                   "last",
                                                   "logs/rank_0000.log",
                                                   "predictions/dev.tsv",
                                                   "predictions/test.tsv"};

// Whether run.json is one that a run wrote.
bool is_run(const std::string& run_json_path) {
  if (!fs::is_regular_file(run_json_path)) return false;
  const auto json = nlohmann::json::parse(read_file(run_json_path), nullptr, false);
  return json.is_object() && json.contains("layout_hash") && json.contains("resolved");
}

// What a run keeps under names that count: models, training states, event files.
std::vector<fs::path> numbered_files(const std::string& run) {
  std::vector<fs::path> found;
  for (const auto& [folder, prefix] : {std::pair{"/models", "step_"}, std::pair{"/checkpoints", "step_"},
                                       std::pair{"/tensorboard", "events.out.tfevents."}}) {
    std::error_code error;
    for (const fs::directory_entry& entry : fs::directory_iterator(run + folder, error)) {
      if (entry.path().filename().string().starts_with(prefix)) found.push_back(entry.path());
    }
  }
  return found;
}

// No content, or nothing but what a start leaves that was cut before run.json stood.
bool is_vacant(const std::string& path, std::error_code& error) {
  for (const fs::directory_entry& entry : fs::directory_iterator(path, error)) {
    const std::string name = entry.path().filename().string();
    if (!name.starts_with("owner.json") && name != "run.json.tmp") return false;
  }
  return true;
}

void remove_tree(const fs::path& path) {
  std::error_code error;
  fs::remove_all(path, error);
  if (error) throw ResourceError(fmt::format("cannot remove {}: {}", path.string(), error.message()));
}

// Whether `path` is `folder` or lies in it, links followed.
bool lies_in(const fs::path& path, const fs::path& folder) {
  std::error_code error;
  const fs::path inner = fs::weakly_canonical(path, error);
  const fs::path outer = fs::weakly_canonical(folder, error);
  return std::mismatch(outer.begin(), outer.end(), inner.begin(), inner.end()).first == outer.end();
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
  const bool is_empty = is_vacant(path_, error);
  if (error) throw ResourceError(fmt::format("output.dir: cannot look into {}: {}", path_, error.message()));
  if (is_empty) return;
  if (!may_overwrite) {
    throw ConfigError(
        fmt::format("output.dir: {} is not empty. Name another folder, or pass --resume to go on with the run there or "
                    "--overwrite to replace it",
                    path_));
  }
  if (!is_run(run_path())) {
    throw ConfigError(fmt::format(
        "output.dir: {} has content but no run.json of a run, so --overwrite may not replace it. Name another "
        "folder",
        path_));
  }
}

void RunDir::require_outside(const std::string& path, const std::string& what) const {
  if (path.empty()) return;
  std::vector<fs::path> removed = numbered_files(path_);
  for (const char* name : kRunFiles) removed.push_back(fs::path(path_) / name);
  for (const fs::path& place : removed) {
    if (!lies_in(path, place)) continue;
    throw ConfigError(fmt::format(
        "{}: {} belongs to the run in {} that this one would replace. Name another output.dir", what, path, path_));
  }
}

void RunDir::create(const std::string& run_json) const {
  make_folders(path_);
  write_file_atomically(run_path(), run_json);
  for (const std::string name : kRunFiles) {
    remove_tree(fs::path(path_) / name);
    remove_tree(fs::path(path_) / (name + ".tmp"));
  }
  for (const fs::path& found : numbered_files(path_)) remove_tree(found);
  make_own_folders();
}

void RunDir::reopen(const std::string& run_json) const {
  remove_tree(results_path());
  write_file_atomically(run_path(), run_json);
  make_own_folders();
}

void RunDir::make_own_folders() const {
  for (const char* folder : {"logs", "models", "predictions"}) make_folders(path_ + "/" + folder);
}

std::string RunDir::model_path(int64_t step) const { return path_ + "/models/" + model_name(step); }

void RunDir::link_model(const std::string& link, int64_t step) const {
  swap_link("models/" + model_name(step), path_ + "/" + link);
}

void RunDir::prune_models(const std::vector<int64_t>& kept_steps) const {
  std::set<std::string> kept;
  for (const int64_t step : kept_steps) kept.insert(model_name(step));
  std::error_code error;
  for (const fs::directory_entry& entry : fs::directory_iterator(path_ + "/models", error)) {
    if (kept.count(entry.path().filename().string()) == 0) fs::remove_all(entry.path(), error);
  }
}

bool RunDir::holds_run() const { return is_run(run_path()); }

std::string RunDir::log_path(int rank) const { return fmt::format("{}/logs/rank_{:04}.log", path_, rank); }

bool RunDir::is_complete() const { return holds_run() && fs::is_regular_file(results_path()); }

}  // namespace bertft
