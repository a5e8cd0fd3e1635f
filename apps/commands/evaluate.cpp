// evaluate: scores a model directory on a labelled file.
#include <fmt/format.h>

#include <filesystem>
#include <iostream>

#include "commands/command.h"
#include "commands/reading_options.h"
#include "core/error.h"
#include "core/files.h"
#include "core/log.h"
#include "train/build.h"
#include "train/data_files.h"
#include "train/evaluator.h"
#include "train/model_folder_reader.h"
#include "train/results.h"
#include "train/split_predictions.h"

namespace bertft {
namespace {

class EvaluateCommand final : public Command {
 public:
  std::string name() const override { return "evaluate"; }
  std::string summary() const override { return "score a model directory on a labelled file"; }

  void declare(CLI::App& app) override {
    app.add_option("--model", model_folder_, "a model directory, for example run/best");
    app.add_option("--data", data_path_, "the labelled file");
    reading_.declare(app);
    app.add_option("--output", output_folder_, "folder for results.json and predictions.tsv");
    app.add_option("--threads", run_.threads, "compute threads (default: affinity mask and CPU quota)")
        ->check(CLI::Range(1, 4096));
  }

  int run() override {
    require_argument(name(), model_folder_, "--model DIR");
    require_argument(name(), data_path_, "--data FILE");
    if (std::filesystem::exists(output_folder_) && !std::filesystem::is_directory(output_folder_)) {
      throw ConfigError("--output: " + output_folder_ + " is a file; name a folder");
    }
    const ComputeSettings compute = prepare_compute(run_);
    const OpenedModel opened = open_model(model_folder_);
    const SplitFiles files{{data_path_}, reading_.request(opened.settings, data_path_, true)};
    const Task& task = opened.model->task();
    Dataset dataset =
        load_split(files, {task, opened.tokenizer, opened.settings, compute.threads}, DatasetCache("none"));
    task.attach_targets(dataset);
    const RowOutputs outputs = compute_outputs(*opened.model, dataset, kDefaultEvalBatchTokens);
    const Evaluation evaluation = task.evaluate(outputs, dataset);
    std::cout << data_path_ << ": " << evaluation.rows << " rows, " << metrics_line(evaluation) << "\n"
              << evaluation.report;
    if (!output_folder_.empty()) {
      make_folders(output_folder_);
      write_file_atomically(output_folder_ + "/results.json", evaluation_json(evaluation, opened.settings.labels));
      write_split_predictions(output_folder_ + "/predictions.tsv", files, {dataset, outputs}, opened,
                              {.batch_tokens = kDefaultEvalBatchTokens, .threads = compute.threads});
      log::info("results: " + output_folder_ + "/results.json");
    }
    return 0;
  }

 private:
  std::string model_folder_;
  ReadingOptions reading_;
  std::string output_folder_;
  std::string data_path_;
  RunOptions run_;
};

}  // namespace

std::unique_ptr<Command> make_evaluate_command() { return std::make_unique<EvaluateCommand>(); }

}  // namespace bertft
