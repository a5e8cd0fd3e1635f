// One optimizer step: the rows of the step, forward and backward in micro-batches, clipping, update.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "comm/communicator.h"
#include "data/dataset.h"
#include "data/sampler.h"
#include "optim/flat_norm.h"
#include "optim/optimizer.h"
#include "train/model_bundle.h"
#include "train/non_finite_step.h"
#include "train/slow_step.h"

namespace bertft {

struct StepSettings {
  uint64_t seed = 0;
  int64_t micro_batch_tokens = 0;
  double max_grad_norm = 0.0;
  std::string nan = "skip";  // comm.nan
};

struct StepResult {
  GlobalBatch batch;
  std::vector<int64_t> rows;  // of this rank, in the order in which they were computed
  int64_t tokens = 0;         // of all ranks
  double loss = 0.0;          // weighted mean over the global batch
  double lr = 0.0;
  double grad_norm = 0.0;   // before clipping
  bool is_dropped = false;  // the gradient was not finite: nothing was changed
  at::Tensor logits;        // [rows, C] when asked for
  at::Tensor gradients;     // [trainable_total] summed over the ranks, before clipping; valid until the next step
};

class TrainStep {
 public:
  // All references must outlive this object. One TrainStep a model at a time.
  TrainStep(ModelBundle& model, const Dataset& dataset, Sampler& sampler, Communicator& communicator,
            Optimizer& optimizer, const World& world, const StepSettings& settings);
  ~TrainStep();
  TrainStep(const TrainStep&) = delete;
  TrainStep& operator=(const TrainStep&) = delete;

  // Runs step `step` (from 1) with learning rate `lr`. `before_update` is called when the gradient is complete and not
  // yet clipped. What a gradient that is not finite leads to, `nan` says; the verdict is taken from the sum, so it is
  // the same on all ranks. Throws DivergedError when it ends the run; no weight has changed then.
  StepResult run(int64_t step, double lr, const std::function<void(const StepResult&)>& before_update);

  // Whether the next steps fill StepResult::logits.
  void keep_logits(bool is_kept) { keeps_logits_ = is_kept; }

 private:
  struct MicroBatchResult {
    double loss = 0.0;  // its part of the mean over the global batch
    at::Tensor logits;  // when they are kept
  };

  void choose_rows(int64_t step, StepResult& result);
  void accumulate(StepResult& result);
  MicroBatchResult run_micro_batch(std::span<const int64_t> rows, double global_weight);
  void finish_exchange(StepResult& result);
  TableRows touched_rows() const;
  GradientNorm norm_of(const at::Tensor& gradients) const;
  void update(const at::Tensor& gradients, double lr, double norm);
  std::vector<int32_t> word_rows_of(const GlobalBatch& batch) const;
  void note_word_rows_of_all_ranks(std::vector<int32_t> rows);
  at::Tensor sums() const;
  bool judge_non_finite(StepResult& result);

  ModelBundle& model_;
  const Dataset& dataset_;
  Sampler& sampler_;
  Communicator& communicator_;
  Optimizer& optimizer_;
  const World& world_;
  StepSettings settings_;
  std::optional<GradientFault> fault_;
  std::optional<SlowStep> slow_;
  int word_table_ = -1;  // its entry of the layout, when rows that no text uses have no gradient
  bool keeps_logits_ = false;
  int64_t step_ = 0;  // under way
};

}  // namespace bertft
