#include "train/run_logs.h"

#include <cmath>

namespace bertft {

RunLogs::RunLogs(const std::string& metrics_path, const std::string& tensorboard_folder, const LogPositions& kept) {
  metrics_.emplace(metrics_path, kept.metrics_bytes);
  if (!tensorboard_folder.empty()) events_.emplace(tensorboard_folder, kept.events_file, kept.events_bytes);
}

void RunLogs::add(const StepLine& line) {
  if (metrics_) metrics_->add(line);
  if (!events_) return;
  events_->add(line.step, {{"train/loss", line.loss},
                           {"train/loss_window", line.loss_window},
                           {"train/learning_rate", line.lr},
                           {"train/grad_norm", line.grad_norm},
                           {"train/epoch", line.epoch},
                           {"speed/samples_per_s", line.samples_per_s},
                           {"speed/tokens_per_s", line.tokens_per_s},
                           {"comm/exposed_s", line.comm_exposed_s},
                           {"comm/total_s", line.comm_total_s}});
}

void RunLogs::add(int64_t step, double epoch, const std::string& split, const Evaluation& evaluation) {
  if (metrics_) metrics_->add(step, epoch, split, evaluation);
  if (!events_) return;
  std::vector<std::pair<std::string, double>> scalars;
  for (const auto& [name, value] : evaluation.metrics) {
    if (!std::isnan(value)) scalars.emplace_back(split + "/" + name, value);
  }
  events_->add(step, scalars);
}

LogPositions RunLogs::sync() {
  LogPositions positions;
  if (metrics_) positions.metrics_bytes = metrics_->sync();
  if (!events_) return positions;
  positions.events_file = events_->file_name();
  positions.events_bytes = events_->sync();
  return positions;
}

}  // namespace bertft
