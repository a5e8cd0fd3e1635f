#include "train/build.h"

#include <fmt/format.h>

#include <set>
#include <utility>
#include <vector>

#include "checkpoint/model_folder.h"
#include "comm/make_communicator.h"
#include "config/rules.h"
#include "core/cpu_features.h"
#include "core/error.h"
#include "core/files.h"
#include "core/hash.h"
#include "core/log.h"
#include "core/text.h"
#include "core/version.h"
#include "optim/schedule.h"
#include "tasks/registry.h"
#include "train/data_files.h"
#include "train/model_folder_reader.h"
#include "train/ranks.h"
#include "train/splits.h"

namespace bertft {
namespace {

// Keys that name places or resources of one machine.
const std::set<std::string> kKeysOfARank = {"data.train",       "data.dev",   "data.test",    "data.cache_dir",
                                            "model.checkpoint", "output.dir", "comm.timeline"};

}  // namespace

ResolvedRun resolve_run(const RunConfig& config, const ComputeSettings& compute, int64_t rows, int world) {
  ResolvedRun run;
  run.threads = compute.threads;
  run.threads_reason = compute.threads_reason;
  run.kernels_reason = compute.kernels_reason;
  run.products = compute.cpu.products;
  run.blas_mode = compute.cpu.blas_mode;
  run.precision = config.run.precision == "auto" ? "fp32" : config.run.precision;
  run.world = world;
  run.global_batch_size = config.train.batch_size_per_rank
                              ? *config.train.batch_size_per_rank * world
                              : config.train.global_batch_size.value_or(kDefaultGlobalBatch);
  run.micro_batch_tokens = config.train.micro_batch_tokens.value_or(kDefaultMicroBatchTokens);
  run.eval_batch_tokens = config.eval.batch_tokens.value_or(kDefaultEvalBatchTokens);
  run.steps_per_epoch = (rows + run.global_batch_size - 1) / run.global_batch_size;
  run.total_steps = config.train.max_steps.value_or(config.train.epochs * run.steps_per_epoch);
  run.warmup_steps = warmup_steps(config.schedule, run.total_steps);
  if (run.warmup_steps > run.total_steps) {
    throw ConfigError(
        fmt::format("schedule.warmup_steps ({}) is larger than the run's {} steps ({} rows): the learning "
                    "rate would never reach its peak",
                    run.warmup_steps, run.total_steps, rows));
  }
  if (run.warmup_steps >= run.total_steps) {
    log::warn(
        fmt::format("all {} steps are warm-up: the learning rate stays below its peak, and is 0 in step 1. Set "
                    "schedule.warmup_steps: 0 for a run this short",
                    run.total_steps));
  }
  return run;
}

ModelSettings run_settings(const RunConfig& config) {
  ModelSettings settings;
  settings.task = config.run.task;
  settings.columns = config.data.columns;
  settings.max_length = static_cast<int32_t>(config.model.max_length);
  settings.truncation = parse_truncation(config.model.truncation);
  settings.compat = parse_compat(config.model.compat);
  settings.label_settings = label_settings(config.data);
  settings.reading = reading_settings(config.data);
  return settings;
}

EncoderConfig run_encoder_config(const std::string& folder, const ModelOptions& options) {
  EncoderConfig config = read_encoder_config(folder + "/config.json");
  if (options.dropout) config.dropout = *options.dropout;
  if (options.attention_dropout) config.attention_dropout = *options.attention_dropout;
  if (options.classifier_dropout) config.classifier_dropout = *options.classifier_dropout;
  return config;
}

std::unique_ptr<Task> make_run_task(const RunConfig& config) {
  return make_task(config.run.task, {.labels = label_settings(config.data),
                                     .class_weights = parse_class_weights(config.train.class_weights),
                                     .label_smoothing = config.train.label_smoothing});
}

std::vector<std::pair<std::string, std::variant<int64_t, std::string>>> resolved_values(const ResolvedRun& r) {
  return {{"device", r.device},
          {"precision", r.precision},
          {"threads", int64_t{r.threads}},
          {"threads_reason", r.threads_reason},
          {"instruction_set", std::string(instruction_set_name(instruction_set()))},
          {"matrix_products", r.products},
          {"blas_mode", r.blas_mode},
          {"world", r.world},
          {"global_batch_size", r.global_batch_size},
          {"micro_batch_tokens", r.micro_batch_tokens},
          {"eval_batch_tokens", r.eval_batch_tokens},
          {"steps_per_epoch", r.steps_per_epoch},
          {"total_steps", r.total_steps},
          {"warmup_steps", r.warmup_steps}};
}

std::map<std::string, std::string> TrainingJob::data_hashes() const {
  std::map<std::string, std::string> hashes;
  const auto add = [&](const char* split, const Dataset& dataset) {
    const uint64_t hash = dataset.notes().read.content_hash;
    if (hash != 0) hashes[split] = hash_text(hash);
  };
  add("train", train);
  if (dev) add("dev", *dev);
  if (test) add("test", *test);
  return hashes;
}

namespace {

// What must be the same on all ranks of a job, in the order in which a difference is best explained.
Facts facts_of(TrainingJob& job) {
  Facts facts;
  for (const auto& [split, hash] : job.data_hashes()) facts.push_back({"the content of data." + split, hash});
  facts.push_back({"the number of training rows", std::to_string(job.train.rows())});
  facts.push_back({"the list of labels", join(job.settings.labels, ", ")});
  facts.push_back({"the checkpoint's checksum", hash_text(job.loaded.checksum)});
  facts.push_back({"the layout of parameters", hash_text(job.model->store().layout().hash())});
  return facts;
}

}  // namespace

Facts configuration_facts(RunConfig& config) {
  Facts facts = {{"the program's version", version()}, {"the program's commit", git_commit()}};
  for (const auto& [key, value] : config_values(config)) {
    if (kKeysOfARank.count(key) == 0) facts.push_back({key, value, origin_of(config, key)});
  }
  facts.push_back({"whether comm.timeline is set", config.comm.timeline.empty() ? "no" : "yes"});
  return facts;
}

GatherTexts TrainingJob::gather() const {
  return [this](const std::string& mine) { return communicator->all_gather(mine); };
}

TrainingJob build_training_job(RunConfig config, const World& world, const ComputeSettings& compute, bool is_verified) {
  check_run_config(config);
  const ModelFiles files = find_model_files(config.model.checkpoint);
  const EncoderConfig encoder = run_encoder_config(files.folder, config.model);
  ModelSettings settings = run_settings(config);
  const Tokenizer tokenizer = Tokenizer::load(files.folder, settings.compat);
  for (const std::string& note : tokenizer.notes()) log::info("tokenizer: " + note);
  check_model_fits(encoder, tokenizer, config.model.max_length, "model.max_length");

  std::unique_ptr<Task> task = make_run_task(config);
  task->choose_metric(config.eval.metric);
  Splits splits = load_splits(config, {*task, tokenizer, settings, compute.threads}, *task, is_verified);
  task->choose_metric(config.eval.metric);  // again, now that the labels are known
  const std::string seen = task->see_training_rows(splits.train);
  if (!seen.empty()) log::info(seen);
  settings.labels = task->labels().names();
  std::string report = splits_report(splits, task->labels());
  TrainingJob job{.config = std::move(config),
                  .resolved = {},
                  .settings = std::move(settings),
                  .tokenizer_source = {files.folder, tokenizer.files()},
                  .train = std::move(splits.train),
                  .dev = std::move(splits.dev),
                  .test = std::move(splits.test),
                  .data_report = std::move(report)};
  const TableRequest request = table_request(job.config.data, true);
  const bool is_split_off = job.config.data.dev_fraction > 0;
  job.dev_files = {is_split_off ? job.config.data.train : job.config.data.dev, request, is_split_off};
  job.test_files = {job.config.data.test, request};

  const at::ScalarType type = job.config.run.precision == "fp64" ? at::kDouble : at::kFloat;
  const auto make_gradients = [&](const Layout& layout, size_t element_bytes) {
    return std::make_unique<GradientBuffer>(gradient_elements(job.config.comm, layout, world), element_bytes,
                                            world.local_size > 1 ? GradientMemory::kShared : GradientMemory::kPrivate);
  };
  job.model = std::make_unique<ModelBundle>(
      encoder, std::move(task), type, frozen_stages(job.config.model.freeze),
      ModelBundle::Gradients{.unit_elements = unit_elements(job.config.comm), .make = make_gradients});
  job.loaded = load_weights(*job.model, files.weights, parse_head_use(job.config.model.head),
                            static_cast<uint64_t>(job.config.run.seed));
  job.world = world;
  job.optimizer = make_optimizer(job.config.optimizer, job.model->store().gradients(), job.model->store().layout());
  job.resolved = resolve_run(job.config, compute, job.train.rows(), world.size);
  job.sampler = std::make_unique<Sampler>(static_cast<uint64_t>(job.config.run.seed), job.train.rows(),
                                          job.resolved.global_batch_size);
  return job;
}

void connect(TrainingJob& job, Bootstrap& bootstrap, std::shared_ptr<RankLink> link) {
  const GatherTexts gather = [&](const std::string& mine) {
    return link != nullptr ? link->all_gather(mine) : bootstrap.all_gather(mine);
  };
  require_equal_facts(job.world, gather, facts_of(job));
  job.communicator = make_communicator(job.config.comm, job.model->store().layout(), job.world, bootstrap,
                                       job.model->gradient_memory(),
                                       job.resolved.threads * job.world.local_size >= usable_cores(), std::move(link));
}

}  // namespace bertft
