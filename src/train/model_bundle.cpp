#include "train/model_bundle.h"

#include <ATen/ops/from_blob.h>
#include <ATen/ops/zeros.h>
#include <fmt/format.h>

#include <utility>

#include "core/error.h"
#include "model/families.h"

namespace bertft {

ModelBundle::ModelBundle(EncoderConfig config, std::unique_ptr<Task> task, at::ScalarType type, int64_t frozen_stages,
                         const Gradients& gradients_place)
    : config_(std::move(config)), task_(std::move(task)) {
  std::vector<ParameterSpec> specs;
  task_->append_head_specs(config_, specs);
  Encoder::append_specs(config_, specs);
  if (frozen_stages > config_.layers + 1) {
    throw ConfigError(
        fmt::format("model.freeze: {} layers, but the checkpoint has {}", frozen_stages - 1, config_.layers));
  }
  for (ParameterSpec& spec : specs) spec.is_trainable = spec.depth + frozen_stages <= config_.layers + 1;
  Layout layout = make_layout(specs, gradients_place.unit_elements);
  const size_t element_bytes = type == at::kDouble ? sizeof(double) : sizeof(float);
  gradient_memory_ = gradients_place.make(layout, element_bytes);
  at::Tensor weights = at::zeros({layout.total}, type);
  at::Tensor gradients = at::from_blob(gradient_memory_->data(), {layout.trainable_total}, at::TensorOptions(type));
  store_ = std::make_unique<ParameterStore>(std::move(layout), std::move(weights), std::move(gradients));
  encoder_ = std::make_unique<Encoder>(config_, *store_);
  task_->build_head(config_, *store_);
}

std::unique_ptr<GradientBuffer> ModelBundle::private_gradients(const Layout& layout, size_t element_bytes) {
  return std::make_unique<GradientBuffer>(layout.trainable_total, element_bytes);
}

at::Tensor ModelBundle::forward(const ForwardPassPtr& pass) const {
  return task_->forward(encoder_->forward(pass, task_->encoder_output()), *pass);
}

std::string ModelBundle::published_name(const std::string& name) const {
  const bool has_prefix =
      name.starts_with("embeddings.") || name.starts_with("encoder.") || name.starts_with("pooler.");
  return has_prefix ? find_family(config_.model_type)->prefix + name : name;
}

bool ModelBundle::is_head_side(const std::string& name) const {
  return !name.starts_with("embeddings.") && !name.starts_with("encoder.");
}

}  // namespace bertft
