#include <fmt/format.h>

#include <algorithm>

#include "checkpoint/convert.h"
#include "checkpoint/load_plan.h"
#include "core/error.h"
#include "core/text.h"

namespace bertft {
namespace {

constexpr size_t kShownFaults = 5;
constexpr size_t kShownNames = 3;

// The first few of `parts`, and how many more there are.
std::string first_of(const std::vector<std::string>& parts, size_t shown, std::string_view separator) {
  const size_t count = std::min(parts.size(), shown);
  const std::vector<std::string> first(parts.begin(), parts.begin() + static_cast<std::ptrdiff_t>(count));
  std::string text = join(first, separator);
  if (parts.size() > count) text += fmt::format("{}and {} more", separator, parts.size() - count);
  return text;
}

// For a file in which not one name of the encoder was found.
std::string describe_stranger(const TensorFile& file, const LoadPlan& plan) {
  if (file.tensors().empty()) return "the file holds no tensors";
  std::vector<std::string> names;
  for (const TensorView& tensor : file.tensors()) names.push_back(excerpt(tensor.name, 100));
  return fmt::format("none of the model's {} encoder tensors is in the file, which holds {}", plan.encoder_tensors,
                     first_of(names, kShownNames, ", "));
}

}  // namespace

LoadPlan plan_load(const TensorFile& file, const std::vector<WantedTensor>& wanted, const NameRules& rules) {
  LoadPlan plan = match_tensors(file, wanted, rules);
  if (plan.faults.empty()) return plan;
  if (plan.encoder_found == 0 && plan.encoder_tensors > 0) {
    throw CheckpointError(fmt::format(
        "{}: {}; {}. Take the weights of a supported family, with the names that its published checkpoints use",
        file.path(), describe_stranger(file, plan), plan.faults.front()));
  }
  throw CheckpointError(fmt::format(
      "{}: the weights do not fit the model that config.json describes ({} of {} encoder tensors match): {}. "
      "Use the config.json that was saved with these weights",
      file.path(), plan.encoder_matched, plan.encoder_tensors, first_of(plan.faults, kShownFaults, "; ")));
}

std::optional<NonFiniteWeight> first_non_finite(const TensorFile& file, const LoadPlan& plan) {
  for (const int source : plan.source) {
    if (source < 0) continue;
    const TensorView& tensor = file.tensors()[static_cast<size_t>(source)];
    if (const int64_t index = first_non_finite(tensor); index >= 0) return NonFiniteWeight{tensor.name, index};
  }
  return std::nullopt;
}

void require_finite(const TensorFile& file, const LoadPlan& plan) {
  const std::optional<NonFiniteWeight> found = first_non_finite(file, plan);
  if (!found) return;
  throw CheckpointError(fmt::format(
      "{}: element {} of tensor '{}' is not a finite number. Training cannot start from it: the file is damaged or "
      "comes from a run that diverged, take an earlier or another checkpoint",
      file.path(), found->index, excerpt(found->tensor, 200)));
}

}  // namespace bertft
