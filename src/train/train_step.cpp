#include "train/train_step.h"

#include <ATen/ops/cat.h>
#include <ATen/ops/from_blob.h>
#include <ATen/ops/full.h>
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <span>
#include <utility>

#include "core/error.h"
#include "core/log.h"
#include "core/profile.h"
#include "core/work_meter.h"
#include "optim/flat_norm.h"
#include "train/batch_pass.h"
#include "train/ranks.h"

namespace bertft {
namespace {

constexpr size_t kNamedParameters = 3;  // of those whose gradient is not finite

// The word table, if it is trained and looked up only: a tied table has gradients in all its rows.
int find_word_table(ParameterStore& store) {
  const std::vector<LayoutEntry>& entries = store.layout().entries;
  for (size_t e = 0; e < entries.size(); ++e) {
    const bool is_table = entries[e].spec.is_lookup_table && entries[e].spec.is_trainable;
    if (is_table && store.ledger().uses(static_cast<int>(e)) == 1) return static_cast<int>(e);
  }
  return -1;
}

}  // namespace

TrainStep::TrainStep(ModelBundle& model, const Dataset& dataset, Sampler& sampler, Communicator& communicator,
                     Optimizer& optimizer, const World& world, const StepSettings& settings)
    : model_(model),
      dataset_(dataset),
      sampler_(sampler),
      communicator_(communicator),
      optimizer_(optimizer),
      world_(world),
      settings_(settings),
      fault_(GradientFault::wanted(model.store().layout(), world)),
      slow_(SlowStep::wanted(world)),
      word_table_(find_word_table(model.store())) {
  model_.store().before_reading({.rows =
                                     [this](std::span<const int32_t> rows) {
                                       optimizer_.settle_rows(model_.store().weights_in_training(), rows);
                                     },
                                 .all = [this] { optimizer_.settle(model_.store().weights_in_training()); }});
  model_.store().ledger().on_unit_ready([this](int unit) {
    if (slow_) slow_->before_unit(step_);
    if (fault_) fault_->strike(step_, unit, model_.store().gradients(), model_.store().touched_word_rows().rows);
    const ProfileScope scope("exchange of gradients");
    communicator_.mark_ready(unit);
  });
}

// The model's weights are whole, and it asks nobody any more.
TrainStep::~TrainStep() {
  optimizer_.settle(model_.store().weights_in_training());
  model_.store().before_reading({});
}

StepResult TrainStep::run(int64_t step, double lr, const std::function<void(const StepResult&)>& before_update) {
  const ProfileScope scope("step");
  StepResult result;
  // 1. The rows of the step, and this rank's share of them.
  choose_rows(step, result);
  result.lr = lr;

  // 2. Forward and backward; units leave as they are completed.
  ParameterStore& store = model_.store();
  step_ = step;
  const bool has_word_rows = communicator_.size() > 1 && word_table_ >= 0;
  std::vector<int32_t> word_rows;
  if (has_word_rows) {
    word_rows = word_rows_of(result.batch);
    communicator_.set_used_rows(word_table_, word_rows);
  }
  communicator_.step_begin(step);
  store.ledger().begin_step();
  accumulate(result);
  store.finish_gradients();
  finish_exchange(result);
  if (has_word_rows) note_word_rows_of_all_ranks(std::move(word_rows));

  // 3. The norm decides about the whole step before anything changes.
  const at::Tensor gradients = sums();
  result.gradients = gradients;
  const GradientNorm norm = norm_of(gradients);
  result.grad_norm = norm.norm;
  if (norm.first_non_finite >= 0 && !judge_non_finite(result)) return result;
  if (norm.first_non_finite < 0 && !std::isfinite(result.loss)) {
    throw_alike(world_, ExitCode::kDiverged,
                fmt::format("step {}: the loss is {}, though the gradient is finite. Lower optimizer.learning_rate",
                            result.batch.step, result.loss));
  }
  before_update(result);

  // 4. Clip and update in one pass.
  update(gradients, lr, norm.norm);
  return result;
}

void TrainStep::choose_rows(int64_t step, StepResult& result) {
  const ProfileScope scope("rows of the step");
  result.batch = sampler_.batch(step);
  result.rows =
      deal_rows(result.batch.rows, dataset_.lengths(), communicator_.size())[static_cast<size_t>(communicator_.rank())];
  for (const int64_t row : result.batch.rows) result.tokens += dataset_.lengths()[static_cast<size_t>(row)];
}

// Waits for the sums of the gradient, and sums the loss.
void TrainStep::finish_exchange(StepResult& result) {
  const ProfileScope scope("end of the exchange");
  communicator_.finish();
  if (communicator_.size() == 1) return;
  result.loss = sum_over_ranks([this](const std::string& mine) { return communicator_.all_gather(mine); }, result.loss);
}

// Of the whole batch, on all ranks.
TableRows TrainStep::touched_rows() const {
  if (word_table_ < 0) return {};
  return {.entry = word_table_, .rows = model_.store().touched_word_rows().rows};
}

GradientNorm TrainStep::norm_of(const at::Tensor& gradients) const {
  const auto bytes = static_cast<double>(gradients.nbytes());
  const ProfileScope scope("gradient norm", {.flops = 0.0, .bytes = bytes});
  return gradient_norm(gradients, model_.store().layout(), touched_rows());
}

void TrainStep::update(const at::Tensor& gradients, double lr, double norm) {
  const ProfileScope scope("update of weights");
  optimizer_.step(model_.store().weights_in_training(), gradients, lr, clip_factor(norm, settings_.max_grad_norm),
                  touched_rows());
}

// Rows of the word table that the batch uses on any rank, ascending, each once. Each rank has all texts, so nobody has
// to tell another.
std::vector<int32_t> TrainStep::word_rows_of(const GlobalBatch& batch) const {
  std::vector<int32_t> rows;
  for (const int64_t row : batch.rows) {
    const std::span<const int32_t> ids = dataset_.ids(row);
    rows.insert(rows.end(), ids.begin(), ids.end());
  }
  std::sort(rows.begin(), rows.end());
  rows.erase(std::unique(rows.begin(), rows.end()), rows.end());
  return rows;
}

// Sums may stand where this rank's gradients did: rows of the word table that only others used are not zero then.
void TrainStep::note_word_rows_of_all_ranks(std::vector<int32_t> rows) {
  std::vector<int32_t>& touched = model_.store().touched_word_rows().rows;
  check(std::includes(rows.begin(), rows.end(), touched.begin(), touched.end()),
        "a rank's texts use no other words than those of the whole batch");
  touched = std::move(rows);
}

// [trainable_total], the gradient of the step summed over the ranks.
at::Tensor TrainStep::sums() const {
  const at::Tensor gradients = model_.store().gradients();
  return at::from_blob(const_cast<void*>(communicator_.sums()), gradients.sizes(), gradients.options());
}

void TrainStep::accumulate(StepResult& result) {
  // Losses are summed and divided by the weight of the global batch, so that neither the number of ranks nor the split
  // into micro-batches changes what is minimized.
  const WorkPhase phase("computing gradients");
  const double global_weight = model_.task().weight(dataset_, result.batch.rows);
  const auto micro_batches = split_micro_batches(result.rows, dataset_.lengths(), settings_.micro_batch_tokens);
  std::vector<at::Tensor> logits;
  for (size_t i = 0; i < micro_batches.size(); ++i) {
    model_.store().ledger().begin_micro_batch(i + 1 == micro_batches.size());
    const MicroBatchResult done = run_micro_batch(micro_batches[i], global_weight);
    result.loss += done.loss;
    note_work_done();
    if (keeps_logits_) logits.push_back(done.logits);
  }
  if (!logits.empty()) result.logits = at::cat(logits);
}

TrainStep::MicroBatchResult TrainStep::run_micro_batch(std::span<const int64_t> rows, double global_weight) {
  at::Tensor outputs, loss_sum;
  {
    const ProfileScope scope("forward");
    const ForwardPassPtr pass = make_pass(dataset_, rows, {.is_training = true, .seed = settings_.seed, .step = step_});
    outputs = model_.forward(pass);
    loss_sum = model_.task().loss_sum(outputs, dataset_, rows);
  }
  const ProfileScope scope("backward");
  loss_sum.backward(at::full({}, 1.0 / global_weight, loss_sum.options()));
  return {loss_sum.item<double>() / global_weight, keeps_logits_ ? outputs.detach() : at::Tensor()};
}

// Whether the step is applied all the same.
bool TrainStep::judge_non_finite(StepResult& result) {
  std::vector<std::string> found =
      describe_non_finite(communicator_, world_, model_.store().layout(), result.gradients);
  if (found.size() > kNamedParameters) {
    found[kNamedParameters] = fmt::format("and {} more", found.size() - kNamedParameters);
    found.resize(kNamedParameters + 1);
  }
  const std::string text = fmt::format("step {}: the gradient is not finite: {}; loss {}", result.batch.step,
                                       fmt::join(found, "; "), result.loss);
  if (settings_.nan == "abort") {
    throw_alike(world_, ExitCode::kDiverged,
                text +
                    ". comm.nan is abort. No weight of this step was changed. Lower optimizer.learning_rate or "
                    "lengthen the warm-up");
  }
  if (settings_.nan == "report") {
    log::warn(text + ". It is applied all the same (comm.nan: report)");
    return true;
  }
  log::warn(text + ". The step is dropped");
  model_.store().gradients().zero_();  // whatever the next step does not overwrite
  result.is_dropped = true;
  return false;
}

}  // namespace bertft
