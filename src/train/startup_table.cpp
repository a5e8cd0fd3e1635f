#include "train/startup_table.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "config/environment.h"
#include "core/cpu_features.h"
#include "core/hash.h"
#include "core/text.h"
#include "core/version.h"

namespace bertft {
namespace {

std::string row_of(const char* name, const std::string& value) { return fmt::format("  {:<16}{}\n", name, value); }

std::string model_rows(const TrainingJob& job) {
  const EncoderConfig& c = job.model->config();
  const Layout& layout = job.model->store().layout();
  return row_of("model",
                fmt::format("{}, {} layers, hidden {}, {} heads, intermediate {}, vocabulary {}", c.model_type,
                            c.layers, c.hidden_size, c.heads, c.intermediate_size, with_thousands(c.vocab_size))) +
         row_of("parameters", fmt::format("{} in all, {} trainable", with_thousands(layout.parameter_count()),
                                          with_thousands(layout.trainable_count()))) +
         row_of("checkpoint", job.loaded.report()) +
         row_of("dropout", fmt::format("{} hidden, {} attention, {} classifier", c.dropout, c.attention_dropout,
                                       c.effective_classifier_dropout())) +
         row_of("max length", fmt::format("{} tokens, truncation {}, compat {}", job.settings.max_length,
                                          truncation_name(job.settings.truncation), compat_name(job.settings.compat)));
}

std::string optimizer_text(const OptimizerOptions& o) {
  std::string text = fmt::format("{}, learning rate {}, ", o.type, o.learning_rate);
  text += o.type == "sgd" ? fmt::format("momentum {}", o.momentum)
                          : fmt::format("betas {} {}, eps {}", o.betas[0], o.betas[1], o.epsilon);
  text += fmt::format(", weight decay {}", o.weight_decay);
  if (o.layer_decay != 1.0) text += fmt::format(", layer decay {}", o.layer_decay);
  return text;
}

// "1 thread (CPU quota of 1.5 cores)"
std::string explained(const std::string& value, const std::string& reason) {
  return reason.empty() ? value : value + " (" + reason + ")";
}

std::string environment_row(const TrainingJob& job) {
  const std::string text = environment_text(job.config);
  return text.empty() ? "" : row_of("environment", text);
}

std::string training_rows(const TrainingJob& job) {
  const ResolvedRun& r = job.resolved;
  const OptimizerOptions& o = job.config.optimizer;
  return row_of("steps",
                fmt::format("{} ({} an epoch), warm-up {} step{}, schedule {}", r.total_steps, r.steps_per_epoch,
                            r.warmup_steps, r.warmup_steps == 1 ? "" : "s", job.config.schedule.type)) +
         row_of("batch", fmt::format("{} rows a step, at most {} tokens at once", r.global_batch_size,
                                     with_thousands(r.micro_batch_tokens))) +
         row_of("optimizer", optimizer_text(o) + fmt::format(", clip {}", job.config.train.max_grad_norm)) +
         row_of(
             "compute",
             fmt::format("{} {}, {}, kernels {}, matrix products {}", r.device, r.precision,
                         explained(fmt::format("{} thread{}", r.threads, r.threads == 1 ? "" : "s"), r.threads_reason),
                         explained(instruction_set_name(instruction_set()), r.kernels_reason), r.products)) +
         row_of("world", job.communicator->description()) + environment_row(job) +
         row_of("seed", std::to_string(job.config.run.seed)) + row_of("output", job.config.output.dir);
}

}  // namespace

std::string startup_table(const TrainingJob& job) {
  return "bert_finetune " + version() + "\n" + model_rows(job) + training_rows(job) + job.data_report;
}

std::string run_json(const TrainingJob& job) {
  nlohmann::ordered_json json;
  json["version"] = version();
  json["commit"] = git_commit();
  json["libtorch"] = libtorch_version();
  json["hosts"] = job.world.hosts;
  json["world"] = job.world.size;
  json["seed"] = job.config.run.seed;
  json["checkpoint"] = {{"path", job.loaded.weights_path}, {"checksum", hash_text(job.loaded.checksum)}};
  const std::map<std::string, std::string> hashes = job.data_hashes();
  const auto add_data = [&](const char* split, const StringList& paths, const Dataset& dataset) {
    json["data"][split] = {{"path", join(paths, ", ")}, {"rows", dataset.rows()}};
    if (hashes.count(split) > 0) json["data"][split]["hash"] = hashes.at(split);
  };
  add_data("train", job.config.data.train, job.train);
  if (job.dev) add_data("dev", job.dev_files.paths, *job.dev);
  if (job.test) add_data("test", job.config.data.test, *job.test);
  json["labels"] = job.settings.labels;
  for (const auto& [name, value] : resolved_values(job.resolved)) {
    std::visit([&, key = name](const auto& one) { json["resolved"][key] = one; }, value);
  }
  json["parameters"] = job.model->store().layout().parameter_count();
  json["layout_hash"] = hash_text(job.model->store().layout().hash());
  return json.dump(2) + "\n";
}

}  // namespace bertft
