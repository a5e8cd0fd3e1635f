#include "train/state_store.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cstring>
#include <filesystem>

#include "core/error.h"
#include "core/files.h"
#include "core/log.h"

namespace bertft {
namespace {

namespace fs = std::filesystem;

constexpr const char* kStateFile = "state.json";
constexpr const char* kWeights = "weights";
constexpr std::string_view kPrefix = "step_";

// The step in a folder's name; nothing for other names, "step_00000005.tmp" among them.
std::optional<int64_t> step_of(const std::string& name) {
  if (!name.starts_with(kPrefix)) return std::nullopt;
  int64_t step = 0;
  const char* end = name.data() + name.size();
  const auto [stop, error] = std::from_chars(name.data() + kPrefix.size(), end, step);
  if (error != std::errc{} || stop != end || step < 0) return std::nullopt;
  return step;
}

TensorView view_of(const std::string& name, const at::Tensor& flat) {
  const bool is_double = flat.scalar_type() == at::kDouble;
  check(flat.is_cpu() && flat.is_contiguous() && (is_double || flat.scalar_type() == at::kFloat), "a flat CPU buffer");
  return {name,
          is_double ? DType::kF64 : DType::kF32,
          {flat.numel()},
          static_cast<const std::byte*>(flat.const_data_ptr()),
          flat.nbytes()};
}

void copy_into(const StateFolder& folder, const std::string& name, const at::Tensor& flat) {
  const TensorView& saved = folder.tensor(name);
  if (saved.bytes != flat.nbytes() || saved.dtype != view_of(name, flat).dtype) {
    throw CheckpointError(fmt::format("{}: {} has {} bytes of {}, this run needs {}", folder.path(), name, saved.bytes,
                                      dtype_name(saved.dtype), flat.nbytes()));
  }
  std::memcpy(flat.mutable_data_ptr(), saved.data, saved.bytes);
}

}  // namespace

std::string StateStore::path(int64_t step) const { return fmt::format("{}/{}{:08}", folder_, kPrefix, step); }

std::vector<int64_t> StateStore::steps() const {
  std::vector<int64_t> steps;
  std::error_code error;
  for (const fs::directory_entry& entry : fs::directory_iterator(folder_, error)) {
    if (const auto step = step_of(entry.path().filename().string())) steps.push_back(*step);
  }
  std::sort(steps.begin(), steps.end());
  return steps;
}

SavedState StateStore::at(int64_t step) const {
  StateFolder folder = StateFolder::open(path(step));
  TrainState state = parse_train_state(folder.file(kStateFile), path(step) + "/" + kStateFile);
  if (state.step != step) {
    throw CheckpointError(fmt::format("{}: holds the state of step {}", path(step), state.step));
  }
  return {std::move(state), std::move(folder)};
}

std::optional<SavedState> StateStore::newest() const {
  std::vector<int64_t> all = steps();
  std::reverse(all.begin(), all.end());
  for (const int64_t step : all) {
    try {
      return at(step);
    } catch (const Error& failure) {
      log::warn(fmt::format("skipping a damaged training state: {}", failure.what()));
    }
  }
  return std::nullopt;
}

void StateStore::save(const TrainState& state, const ModelBundle& model, Optimizer& optimizer, int64_t keep) const {
  make_folders(folder_);
  std::vector<TensorView> tensors = {view_of(kWeights, model.store().weights())};
  for (const NamedState& moment : optimizer.state())
    tensors.push_back(view_of("optimizer." + moment.name, moment.tensor));
  write_state_folder(path(state.step), tensors, {{kStateFile, train_state_text(state)}});
  prune(state.step, keep);
}

void StateStore::prune(int64_t newest_step, int64_t keep) const {
  std::vector<int64_t> removed = steps();
  const auto later = std::upper_bound(removed.begin(), removed.end(), newest_step);
  const auto kept = std::min<int64_t>(std::max<int64_t>(keep, 1), later - removed.begin());
  removed.erase(later - kept, later);
  std::error_code error;
  for (const int64_t step : removed) fs::remove_all(path(step), error);
  for (const fs::directory_entry& entry : fs::directory_iterator(folder_, error)) {
    const std::string name = entry.path().filename().string();
    if (name.starts_with(kPrefix) && name.ends_with(".tmp")) fs::remove_all(entry.path(), error);
  }
}

std::vector<int64_t> StateStore::models_referred_to() const {
  std::vector<int64_t> models;
  for (const int64_t step : steps()) {
    try {
      const std::string file = path(step) + "/" + kStateFile;
      const TrainState state = parse_train_state(read_file(file), file);
      models.push_back(state.best.step);
      models.push_back(state.last_model_step);
    } catch (const Error&) {
      continue;  // a damaged state cannot be resumed, so it needs no model
    }
  }
  return models;
}

void restore(const SavedState& saved, ModelBundle& model, Optimizer& optimizer) {
  if (saved.state.layout_hash != model.store().layout().parameters_hash()) {
    throw CheckpointError(saved.folder.path() +
                          ": the parameters of this run are others than those that were saved. Start a new run");
  }
  copy_into(saved.folder, kWeights, model.store().weights());
  for (const NamedState& moment : optimizer.state()) copy_into(saved.folder, "optimizer." + moment.name, moment.tensor);
  optimizer.set_applied_steps(saved.state.applied_steps);
}

}  // namespace bertft
