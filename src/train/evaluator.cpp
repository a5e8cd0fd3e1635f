#include "train/evaluator.h"

#include <ATen/core/grad_mode.h>
#include <fmt/format.h>

#include <algorithm>

#include "core/error.h"
#include "core/work_meter.h"
#include "data/sampler.h"
#include "train/batch_pass.h"

namespace bertft {
namespace {

const std::string kWhole = "whole ";  // before the outputs of a rank that did not stop

// Which micro-batches: every `ranks`-th from number `rank` on. The longest come first, so shares are about equal.
struct Share {
  int rank = 0;
  int ranks = 1;
};

std::optional<RowOutputs> compute_share(const ModelBundle& model, const Dataset& dataset, int64_t batch_tokens,
                                        const std::function<bool()>& should_stop, const Share& share) {
  const at::NoGradGuard no_gradients;
  const WorkPhase phase("evaluating");
  RowOutputs outputs(dataset.rows());
  const std::vector<std::vector<int64_t>> batches = evaluation_batches(dataset.lengths(), batch_tokens);
  for (size_t b = static_cast<size_t>(share.rank); b < batches.size(); b += static_cast<size_t>(share.ranks)) {
    const std::vector<int64_t>& rows = batches[b];
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
    note_work_done();
  }
  return outputs;
}

}  // namespace

RowOutputs compute_outputs(const ModelBundle& model, const Dataset& dataset, int64_t batch_tokens) {
  return *compute_outputs_unless(model, dataset, batch_tokens, [] { return false; });
}

std::optional<RowOutputs> compute_outputs_unless(const ModelBundle& model, const Dataset& dataset, int64_t batch_tokens,
                                                 const std::function<bool()>& should_stop) {
  return compute_share(model, dataset, batch_tokens, should_stop, {0, 1});
}

std::optional<RowOutputs> compute_outputs_together(const ModelBundle& model, const Dataset& dataset,
                                                   int64_t batch_tokens, const std::function<bool()>& should_stop,
                                                   const World& world, const GatherTexts& gather) {
  std::optional<RowOutputs> mine;
  const auto compute = [&] {
    mine = compute_share(model, dataset, batch_tokens, should_stop, {world.rank, world.size});
  };
  if (world.size == 1) {
    compute();
    return mine;
  }
  all_or_none(world, gather, compute);
  const std::vector<std::string> shares = gather(mine ? kWhole + mine->packed() : "");
  if (std::count(shares.begin(), shares.end(), "") > 0) return std::nullopt;
  RowOutputs all(dataset.rows());
  for (const std::string& share : shares) all.add_packed(std::string_view(share).substr(kWhole.size()));
  check(all.rows_set() == dataset.rows(), "every row was computed by one rank");
  return all;
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
