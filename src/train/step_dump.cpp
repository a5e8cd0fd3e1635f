#include "train/step_dump.h"

#include <vector>

#include "checkpoint/safetensors.h"
#include "core/error.h"

namespace bertft {

void write_step_dump(const std::string& path, const ModelBundle& model, const StepResult& result) {
  check(result.logits.defined(), "the step kept no logits");
  const at::Tensor logits = result.logits.cpu().contiguous();
  const at::Tensor gradients = result.gradients.cpu();
  const DType type = gradients.scalar_type() == at::kDouble ? DType::kF64 : DType::kF32;
  const auto element_bytes = static_cast<size_t>(gradients.element_size());
  std::vector<TensorView> views;
  views.push_back(
      {"logits", type, logits.sizes().vec(), static_cast<const std::byte*>(logits.const_data_ptr()), logits.nbytes()});
  const auto* base = static_cast<const std::byte*>(gradients.const_data_ptr());
  for (const LayoutEntry& entry : model.store().layout().entries) {
    if (!entry.spec.is_trainable) break;  // frozen parameters come last and have no gradient
    views.push_back({"grad." + model.published_name(entry.spec.name), type, entry.spec.shape,
                     base + static_cast<size_t>(entry.offset) * element_bytes,
                     static_cast<size_t>(entry.size) * element_bytes});
  }
  write_safetensors(path, views);
}

}  // namespace bertft
