#include "config/rules.h"

#include <fmt/format.h>

#include <array>

#include "core/error.h"
#include "core/text.h"

namespace bertft {
namespace {

// "train.epochs (3, c.yaml:4)"
std::string shown(const RunConfig& config, const char* key, const std::string& value) {
  return fmt::format("{} ({}, {})", key, value, origin_of(config, key));
}

void need(const std::string& value, const char* key, const char* what) {
  if (value.empty()) throw ConfigError(fmt::format("{}: not set; it names {}", key, what));
}

void need_checkpoint(const RunConfig& config) {
  need(config.model.checkpoint, "model.checkpoint", "the folder of the checkpoint to fine-tune");
}

void need_training_rows(const RunConfig& config) {
  need(join(config.data.train, ""), "data.train", "the file of training rows");
}

void need_output(const RunConfig& config) {
  need(config.output.dir, "output.dir", "the folder that the run writes to");
}

void one_batch_size(const RunConfig& config) {
  const TrainOptions& train = config.train;
  if (!train.global_batch_size || !train.batch_size_per_rank) return;
  throw ConfigError(
      fmt::format("{} and {}: set exactly one of the two",
                  shown(config, "train.global_batch_size", std::to_string(*train.global_batch_size)),
                  shown(config, "train.batch_size_per_rank", std::to_string(*train.batch_size_per_rank))));
}

void one_run_length(const RunConfig& config) {
  if (config.origins.count("train.epochs") == 0 || !config.train.max_steps) return;
  throw ConfigError(fmt::format("{} and {}: set exactly one of the two",
                                shown(config, "train.epochs", std::to_string(config.train.epochs)),
                                shown(config, "train.max_steps", std::to_string(*config.train.max_steps))));
}

void one_warmup(const RunConfig& config) {
  if (!config.schedule.warmup_steps || config.origins.count("schedule.warmup_ratio") == 0) return;
  throw ConfigError("schedule.warmup_ratio and schedule.warmup_steps: set exactly one of the two");
}

void warmup_within_run(const RunConfig& config) {
  const AutoInt& warmup = config.schedule.warmup_steps;
  if (!warmup || !config.train.max_steps || *warmup <= *config.train.max_steps) return;
  throw ConfigError(
      fmt::format("schedule.warmup_steps ({}) is larger than train.max_steps ({}): the learning rate would never reach "
                  "its peak",
                  *warmup, *config.train.max_steps));
}

void known_frozen_parts(const RunConfig& config) { frozen_stages(config.model.freeze); }

void fitting_optimizer_options(const RunConfig& config) { check_optimizer_options(config.optimizer, config.schedule); }

void fitting_file_form(const RunConfig& config) { check_file_form(config.data); }

void label_columns_are_several_labels(const RunConfig& config) {
  if (config.data.columns.labels.empty() || config.data.label_type == "multi") return;
  throw ConfigError("data.columns.labels: several columns of labels need data.label_type: multi");
}

void one_source_of_label_names(const RunConfig& config) {
  if (config.data.columns.labels.empty() || config.data.labels.empty()) return;
  throw ConfigError("data.columns.labels and data.labels: the columns name the labels already; set one of the two");
}

void one_source_of_dev(const RunConfig& config) {
  if (config.data.dev_fraction <= 0 || config.data.dev.empty()) return;
  throw ConfigError(fmt::format("data.dev ({}) and data.dev_fraction ({}): set at most one of the two",
                                join(config.data.dev, ", "), config.data.dev_fraction));
}

void early_stopping_watches_dev(const RunConfig& config) {
  const AutoInt& patience = config.eval.early_stopping.patience;
  if (!patience || !config.data.dev.empty() || config.data.dev_fraction > 0) return;
  throw ConfigError(
      fmt::format("{}: early stopping watches the dev metric, but there is no data.dev. Set data.dev or "
                  "data.dev_fraction",
                  shown(config, "eval.early_stopping.patience", std::to_string(*patience))));
}

void two_text_columns(const RunConfig& config) {
  const ColumnNames& columns = config.data.columns;
  if (columns.text_pair.empty() || columns.text_pair != columns.text) return;
  throw ConfigError(fmt::format("data.columns.text and data.columns.text_pair are the same column '{}'", columns.text));
}

using Rule = void (*)(const RunConfig&);

constexpr std::array<Rule, 15> kRules = {label_columns_are_several_labels,
                                         one_source_of_label_names,
                                         need_checkpoint,
                                         need_training_rows,
                                         need_output,
                                         one_batch_size,
                                         one_run_length,
                                         one_warmup,
                                         warmup_within_run,
                                         known_frozen_parts,
                                         fitting_optimizer_options,
                                         fitting_file_form,
                                         one_source_of_dev,
                                         early_stopping_watches_dev,
                                         two_text_columns};

}  // namespace

std::vector<std::string> rule_faults(const RunConfig& config) {
  std::vector<std::string> faults;
  for (const Rule rule : kRules) {
    try {
      rule(config);
    } catch (const ConfigError& failure) {
      faults.push_back(failure.what());
    }
  }
  return faults;
}

void check_run_config(const RunConfig& config) {
  const std::vector<std::string> faults = rule_faults(config);
  if (!faults.empty()) throw ConfigError(join_faults("the configuration", faults));
}

std::string join_faults(const std::string& headline, const std::vector<std::string>& faults) {
  if (faults.size() == 1) return faults.front();
  return fmt::format("{} has {} faults:\n  {}", headline, faults.size(), join(faults, "\n  "));
}

}  // namespace bertft
