#include "train/evaluator.h"

#include <ATen/core/grad_mode.h>
#include <fmt/format.h>

#include "core/error.h"
#include "data/sampler.h"
#include "train/batch_pass.h"

namespace bertft {

RowOutputs compute_outputs(const ModelBundle& model, const Dataset& dataset, int64_t batch_tokens) {
  return *compute_outputs_unless(model, dataset, batch_tokens, [] { return false; });
}

std::optional<RowOutputs> compute_outputs_unless(const ModelBundle& model, const Dataset& dataset, int64_t batch_tokens,
                                                 const std::function<bool()>& should_stop) {
  const at::NoGradGuard no_gradients;
  RowOutputs outputs(dataset.rows());
  for (const std::vector<int64_t>& rows : evaluation_batches(dataset.lengths(), batch_tokens)) {
    if (should_stop()) return std::nullopt;
    const ForwardPassPtr pass = make_pass(dataset, rows, {});
    const at::Tensor values = model.forward(pass);
    if (!values.isfinite().all().item<bool>()) {
      throw DivergedError(
          fmt::format("the model's output is not finite for a row among those that begin with {}: its "
                      "weights come from a training that diverged. Lower optimizer.learning_rate",
                      dataset.place(rows.front())));
    }
    model.task().collect(values, *pass, outputs);
  }
  return outputs;
}

Evaluation evaluate(const ModelBundle& model, const Dataset& dataset, int64_t batch_tokens) {
  return model.task().evaluate(compute_outputs(model, dataset, batch_tokens), dataset);
}

std::string metrics_line(const Evaluation& evaluation) {
  std::string line;
  for (const auto& [name, value] : evaluation.metrics)
    line += fmt::format("{}{} {:.4f}", line.empty() ? "" : "  ", name, value);
  for (const auto& [name, reason] : evaluation.undefined) line += fmt::format("  {} undefined ({})", name, reason);
  return line;
}

}  // namespace bertft
