#include "train/progress.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "core/log.h"

namespace bertft {
namespace {

constexpr double kShowEvery_s = 0.2;

std::string time_text(double seconds) {
  const auto total = static_cast<int64_t>(seconds + 0.5);
  if (total >= 3600) return fmt::format("{}:{:02}:{:02}", total / 3600, total / 60 % 60, total % 60);
  return fmt::format("{}:{:02}", total / 60, total % 60);
}

}  // namespace

Progress::Progress(const ProgressSettings& settings, RunLogs& logs)
    : settings_(settings), logs_(logs), window_(settings.loss_window) {}

void Progress::restore(int64_t steps_done, double training_s, const std::vector<double>& losses) {
  steps_done_ = steps_done;
  training_s_ = logged_at_s_ = training_s;
  for (const double loss : losses) window_.add(loss);
  timer_.restart();
}

void Progress::add(const StepResult& result, const Counters& comm) {
  if (std::isfinite(result.loss)) window_.add(result.loss);
  rows_since_log_ += static_cast<int64_t>(result.batch.rows.size());
  tokens_since_log_ += result.tokens;
  ++steps_done_;
  const int64_t step = result.batch.step;
  const bool is_logged = step % settings_.log_every == 0 || step == settings_.total_steps;
  const bool is_shown = log::is_interactive() && since_shown_.seconds() >= kShowEvery_s;
  if (!is_logged && !is_shown) return;
  const StepLine line = line_for(result, comm);
  const double left_s =
      training_s() / static_cast<double>(steps_done_) * static_cast<double>(settings_.total_steps - step);
  const std::string text = fmt::format(
      "step {}/{}  epoch {:.2f}  loss {:.4f}  mean {:.4f}  lr {:.3g}  grad norm {:.3f}  {:.1f} rows/s  {:.0f} tokens/s "
      " {}left {}",
      step, settings_.total_steps, line.epoch, line.loss, line.loss_window, line.lr, line.grad_norm, line.samples_per_s,
      line.tokens_per_s, comm_text(comm), time_text(left_s));
  if (is_logged) {
    log::info(text);
    logs_.add(line);
    logged_at_s_ = training_s();
    comm_at_log_ = comm;
    rows_since_log_ = 0;
    tokens_since_log_ = 0;
  } else {
    log::progress(text);
    since_shown_.restart();
  }
}

// Of the time since the last line: how long anything was on its way, and how long the computation waited for it.
std::string Progress::comm_text(const Counters& comm) const {
  if (comm.total_s == 0.0) return "";
  const double elapsed = std::max(training_s() - logged_at_s_, 1e-9);
  return fmt::format("comm {:.1f} %, exposed {:.1f} %  ", 100.0 * (comm.total_s - comm_at_log_.total_s) / elapsed,
                     100.0 * (comm.exposed_s - comm_at_log_.exposed_s) / elapsed);
}

StepLine Progress::line_for(const StepResult& result, const Counters& comm) const {
  const double elapsed = std::max(training_s() - logged_at_s_, 1e-9);
  StepLine line;
  line.step = result.batch.step;
  line.epoch = static_cast<double>(line.step) / static_cast<double>(settings_.steps_per_epoch);
  line.loss = result.loss;
  line.loss_window = window_.mean();
  line.lr = result.lr;
  line.grad_norm = result.grad_norm;
  line.samples_per_s = static_cast<double>(rows_since_log_) / elapsed;
  line.tokens_per_s = static_cast<double>(tokens_since_log_) / elapsed;
  line.comm_exposed_s = comm.exposed_s;
  line.comm_total_s = comm.total_s;
  return line;
}

void Progress::pause() {
  training_s_ += timer_.seconds();
  is_paused_ = true;
}

void Progress::resume() {
  timer_.restart();
  is_paused_ = false;
}

}  // namespace bertft
