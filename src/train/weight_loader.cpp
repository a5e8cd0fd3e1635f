#include "train/weight_loader.h"

#include <fmt/format.h>

#include <algorithm>

#include "checkpoint/convert.h"
#include "checkpoint/model_folder.h"
#include "core/error.h"
#include "core/hash.h"
#include "core/text.h"
#include "model/families.h"
#include "model/initializer.h"

namespace bertft {
namespace {

void copy_tensor(const TensorView& view, const at::Tensor& weights, const LayoutEntry& entry) {
  if (weights.scalar_type() == at::kDouble) {
    copy_to_f64(view, weights.mutable_data_ptr<double>() + entry.offset);
  } else {
    copy_to_f32(view, weights.mutable_data_ptr<float>() + entry.offset);
  }
}

// The head starts new: whatever of it the file holds is treated as not wanted.
void drop_head(LoadPlan& plan, const std::vector<WantedTensor>& wanted, const TensorFile& file) {
  for (size_t i = 0; i < wanted.size(); ++i) {
    const bool is_classifier = wanted[i].is_head_side && !wanted[i].name.starts_with("pooler.");
    if (!is_classifier || plan.source[i] < 0) continue;
    plan.ignored.push_back({file.tensors()[static_cast<size_t>(plan.source[i])].name, "model.head is new"});
    plan.source[i] = -1;
    plan.created.push_back(wanted[i].name);
    plan.loaded.erase(std::find(plan.loaded.begin(), plan.loaded.end(), wanted[i].name));
  }
}

void require_head(const LoadPlan& plan, const std::vector<WantedTensor>& wanted, const std::string& path) {
  for (const HeadMismatch& mismatch : plan.mismatched) {
    const WantedTensor& tensor = wanted[static_cast<size_t>(mismatch.wanted)];
    throw CheckpointError(fmt::format(
        "model.head is keep, but {} has {} of shape [{}] and this run needs [{}]: another number of labels. Use the "
        "labels of that checkpoint, or model.head: new",
        path, tensor.name, fmt::join(mismatch.file_shape, ", "), fmt::join(tensor.shape, ", ")));
  }
  for (const std::string& name : plan.created) {
    throw CheckpointError(fmt::format(
        "model.head is keep, but {} has no {}. Use a fine-tuned checkpoint, or model.head: auto", path, name));
  }
}

}  // namespace

HeadUse parse_head_use(const std::string& text) {
  if (text == "keep") return HeadUse::kKeep;
  return text == "new" ? HeadUse::kNew : HeadUse::kAuto;
}

std::vector<WantedTensor> wanted_tensors(const ModelBundle& model) {
  std::vector<WantedTensor> wanted;
  for (const LayoutEntry& entry : model.store().layout().entries) {
    wanted.push_back({entry.spec.name, entry.spec.shape, model.is_head_side(entry.spec.name)});
  }
  return wanted;
}

NameRules name_rules(const EncoderConfig& config) {
  const Family& family = *find_family(config.model_type);
  return {{family.prefix}, family.ignored_prefixes, family.ignored_names};
}

at::ScalarType stored_type(const TensorFile& file) {
  const auto& tensors = file.tensors();
  const bool is_double =
      std::any_of(tensors.begin(), tensors.end(), [](const TensorView& view) { return view.dtype == DType::kF64; });
  return is_double ? at::kDouble : at::kFloat;
}

LoadSummary load_weights(ModelBundle& model, const std::string& path, HeadUse head, uint64_t seed) {
  const ModelFiles files = find_model_files(path);
  LoadSummary summary = load_weights(model, TensorFile::open(files.weights), head, seed);
  if (!files.passed_over.empty()) summary.notes.push_back("also there, not read: " + join(files.passed_over, ", "));
  return summary;
}

LoadSummary load_weights(ModelBundle& model, const TensorFile& file, HeadUse head, uint64_t seed) {
  LoadSummary summary;
  summary.weights_path = file.path();
  summary.notes = file.notes();
  const std::vector<WantedTensor> wanted = wanted_tensors(model);
  summary.plan = plan_load(file, wanted, name_rules(model.config()));
  if (head == HeadUse::kNew) drop_head(summary.plan, wanted, file);
  if (head == HeadUse::kKeep) require_head(summary.plan, wanted, summary.weights_path);
  require_finite(file, summary.plan);
  summary.checksum = file.checksum();
  const Layout& layout = model.store().layout();
  for (size_t i = 0; i < wanted.size(); ++i) {
    const LayoutEntry& entry = layout.entries[i];
    if (summary.plan.source[i] >= 0) {
      copy_tensor(file.tensors()[static_cast<size_t>(summary.plan.source[i])], model.store().weights(), entry);
    } else {
      initialize(model.store(), entry, model.config().initializer_range, seed);
    }
  }
  return summary;
}

std::string LoadSummary::report() const {
  std::string text = fmt::format("{}: {} tensors loaded ({} parameters), {:.0f} % of the encoder, checksum {}",
                                 weights_path, plan.loaded.size(), with_thousands(plan.loaded_elements),
                                 100.0 * plan.encoder_share, hash_text(checksum));
  if (!plan.created.empty()) text += "\n  new, initialized: " + join(plan.created, ", ");
  for (const std::string& note : notes) text += "\n  note: " + note;
  for (const IgnoredTensor& ignored : plan.ignored)
    text += "\n  ignored: " + ignored.name + " (" + ignored.reason + ")";
  return text;
}

}  // namespace bertft
