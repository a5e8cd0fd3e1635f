// An encoder with the head of a task over one pair of flat buffers: the whole model, to be trained or to be asked.
#pragma once

#include <ATen/core/Tensor.h>

#include <functional>
#include <memory>
#include <string>

#include "comm/gradient_buffer.h"
#include "model/config.h"
#include "model/encoder.h"
#include "model/forward_pass.h"
#include "model/parameter_store.h"
#include "tasks/task.h"

namespace bertft {

class ModelBundle {
 public:
  // Where gradients are to lie, given the layout of all parameters: whoever exchanges them says so.
  using MakeGradients = std::function<std::unique_ptr<GradientBuffer>(const Layout& layout, size_t element_bytes)>;

  // How gradients lie and in which units (make_layout()) they are exchanged.
  struct Gradients {
    int64_t unit_elements = kDefaultUnitElements;
    MakeGradients make = private_gradients;
  };

  // Allocates all buffers in `type` (kFloat or kDouble) on the CPU; weights are zeros until they are loaded. The first
  // `frozen_stages` (model/options.h) get no gradient. Throws ConfigError when there are fewer layers than that.
  ModelBundle(EncoderConfig config, std::unique_ptr<Task> task, at::ScalarType type, int64_t frozen_stages,
              const Gradients& gradients);
  ModelBundle(EncoderConfig config, std::unique_ptr<Task> task, at::ScalarType type, int64_t frozen_stages = 0)
      : ModelBundle(std::move(config), std::move(task), type, frozen_stages, Gradients{}) {}

  // The head's outputs for one pass; differentiable unless gradients are off. `pass` is kept until backward.
  at::Tensor forward(const ForwardPassPtr& pass) const;

  const EncoderConfig& config() const { return config_; }
  Task& task() { return *task_; }
  const Task& task() const { return *task_; }
  const GradientBuffer& gradient_memory() const { return *gradient_memory_; }
  ParameterStore& store() { return *store_; }
  const ParameterStore& store() const { return *store_; }

  static std::unique_ptr<GradientBuffer> private_gradients(const Layout& layout, size_t element_bytes);

  // The name of a parameter in published files: encoder parameters and the pooler carry the family's prefix.
  std::string published_name(const std::string& name) const;
  // Whether a parameter belongs to the head (pooler included) and may start new.
  bool is_head_side(const std::string& name) const;

 private:
  EncoderConfig config_;
  std::unique_ptr<Task> task_;
  std::unique_ptr<GradientBuffer> gradient_memory_;
  std::unique_ptr<ParameterStore> store_;
  std::unique_ptr<Encoder> encoder_;
};

}  // namespace bertft
