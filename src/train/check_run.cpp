#include "train/check_run.h"

#include <fmt/format.h>

#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <utility>

#include "checkpoint/model_folder.h"
#include "checkpoint/tensor_file.h"
#include "config/rules.h"
#include "core/hash.h"
#include "core/log.h"
#include "core/text.h"
#include "data/row_stream.h"
#include "tasks/registry.h"
#include "train/build.h"
#include "train/check_output.h"
#include "train/model_folder_reader.h"
#include "train/run_dir.h"
#include "train/splits.h"
#include "train/weight_loader.h"

namespace bertft {
namespace {

class Checker {
 public:
  Checker(RunConfig config, const CheckStart& start, CheckReport& report)
      : config_(std::move(config)), compute_(start.compute), world_(start.world), report_(report) {}

  void check(const std::vector<std::string>& config_faults) {
    report_.job = configuration_facts(config_);
    for (const std::string& fault : config_faults)
      report_.faults.push_back({"configuration", ExitCode::kConfig, fault});
    for (const std::string& fault : rule_faults(config_)) {
      report_.faults.push_back({"configuration", ExitCode::kConfig, fault});
    }
    check_checkpoint();
    check_task();
    check_data();
    check_labels();
    check_weights();
    check_output_place();
  }

 private:
  // Runs one part; a fault ends the part and is kept. Returns whether there was none.
  bool stage(const std::string& subject, const std::function<void()>& body) {
    try {
      body();
      return true;
    } catch (const InternalError&) {
      throw;
    } catch (const Error& failure) {
      report_.faults.push_back({subject, failure.code(), failure.what()});
      return false;
    }
  }

  void skip(const std::string& what, const std::string& why) { report_.not_checked.push_back(what + ": " + why); }

  void check_checkpoint() {
    if (config_.model.checkpoint.empty()) return skip("the checkpoint", "model.checkpoint is not set");
    const std::string folder = config_.model.checkpoint;
    stage("checkpoint", [&] { files_ = find_model_files(folder); });
    if (!files_ && !std::filesystem::exists(folder)) return;
    const std::string tokenizer_folder = files_ ? files_->folder : folder;
    stage("checkpoint", [&] { encoder_ = run_encoder_config(tokenizer_folder, config_.model); });
    stage("tokenizer", [&] {
      tokenizer_.emplace(Tokenizer::load(tokenizer_folder, parse_compat(config_.model.compat)));
      for (const std::string& note : tokenizer_->notes()) report_.warnings.push_back("tokenizer: " + note);
    });
    if (!encoder_ || !tokenizer_) return;
    stage("checkpoint",
          [&] { check_model_fits(*encoder_, *tokenizer_, config_.model.max_length, "model.max_length"); });
  }

  void check_task() {
    stage("configuration", [&] {
      task_ = make_run_task(config_);
      task_->choose_metric(config_.eval.metric);
    });
  }

  void check_data() {
    check_split("data.train", config_.data.train, train_);
    check_split("data.dev", config_.data.dev, dev_);
    check_split("data.test", config_.data.test, test_);
  }

  // With a tokenizer the rows are encoded as training would do it, else they are read only.
  void check_split(const std::string& key, const StringList& paths, std::optional<Dataset>& dataset) {
    if (paths.empty()) return;
    const SplitFiles files{paths, table_request(config_.data, true)};
    stage(key, [&] {
      if (tokenizer_ && task_ && compute_) {
        const ModelSettings settings = run_settings(config_);
        dataset =
            load_split(files, {*task_, *tokenizer_, settings, compute_->threads}, DatasetCache(config_.data.cache_dir));
        const uint64_t hash = dataset->notes().read.content_hash;
        if (hash != 0) report_.job.push_back({"the content of " + key, hash_text(hash)});
        return;
      }
      const auto rows = open_rows(files.paths, files.request);
      while (rows->next()) continue;
    });
    if (!tokenizer_) skip("the lengths and labels of " + key, "there is no tokenizer");
  }

  void check_labels() {
    if (!train_ || !task_) return skip("the labels", "there are no training rows");
    const bool has_classes = stage("labels", [&] {
      for (const std::string& warning : task_->prepare(*train_)) report_.warnings.push_back(warning);
    });
    if (!has_classes) return;
    const std::pair<const char*, std::optional<Dataset>*> splits[] = {
        {"data.train", &train_}, {"data.dev", &dev_}, {"data.test", &test_}};
    bool has_targets = true;
    for (const auto& [key, dataset] : splits) {
      if (!*dataset) continue;
      has_targets = stage(key, [&, one = dataset] { task_->attach_targets(**one); }) && has_targets;
    }
    stage("configuration", [&] { task_->choose_metric(config_.eval.metric); });
    if (!has_targets) return;
    stage("configuration", [&] { resolve_run(config_, compute_.value_or(ComputeSettings{}), train_->rows(), world_); });
    stage("labels", [&] {
      task_->see_training_rows(*train_);
      report_.facts.push_back(
          {"data", splits_report({std::move(*train_), std::move(dev_), std::move(test_)}, task_->labels())});
    });
    is_prepared_ = true;
  }

  // Loads the weights as training would, head included.
  void check_weights() {
    if (!files_ || !encoder_) return;
    if (!is_prepared_) {
      stage("checkpoint", [&] { TensorFile::open(files_->weights); });
      return skip("whether the weights fit the model and its head", "the labels are not known");
    }
    stage("checkpoint", [&] {
      const at::ScalarType type = config_.run.precision == "fp64" ? at::kDouble : at::kFloat;
      model_ = std::make_unique<ModelBundle>(*encoder_, std::move(task_), type, frozen_stages(config_.model.freeze));
      const LoadSummary loaded = load_weights(*model_, files_->weights, parse_head_use(config_.model.head),
                                              static_cast<uint64_t>(config_.run.seed));
      report_.facts.push_back({"checkpoint", loaded.report() + "\n"});
      report_.job.push_back({"the checkpoint's checksum", hash_text(loaded.checksum)});
    });
  }

  void check_output_place() {
    if (config_.output.dir.empty()) return;
    if (RunDir(config_.output.dir).holds_run()) {
      report_.warnings.push_back(
          fmt::format("output.dir: {} holds a run: `train` needs --resume or --overwrite", config_.output.dir));
    }
    const int64_t parameters = model_ ? model_->store().layout().parameter_count() : 0;
    for (const std::string& fault : output_faults(config_, parameters)) {
      report_.faults.push_back({"output", ExitCode::kConfig, fault});
    }
  }

  RunConfig config_;
  const std::optional<ComputeSettings> compute_;
  const int world_;
  CheckReport& report_;
  std::optional<ModelFiles> files_;
  std::optional<EncoderConfig> encoder_;
  std::optional<Tokenizer> tokenizer_;
  std::unique_ptr<Task> task_;
  std::unique_ptr<ModelBundle> model_;
  std::optional<Dataset> train_;
  std::optional<Dataset> dev_;
  std::optional<Dataset> test_;
  bool is_prepared_ = false;
};

}  // namespace

ExitCode CheckReport::exit_code() const {
  ExitCode code = ExitCode::kDone;
  for (const CheckFault& fault : faults) {
    if (fault.code == ExitCode::kConfig) return ExitCode::kConfig;
    if (fault.code != ExitCode::kComm) code = ExitCode::kData;
    if (code == ExitCode::kDone) code = ExitCode::kComm;
  }
  return code;
}

CheckReport check_run(RunConfig config, const CheckStart& start) {
  CheckReport report;
  Checker(std::move(config), start, report).check(start.config_faults);
  return report;
}

}  // namespace bertft
