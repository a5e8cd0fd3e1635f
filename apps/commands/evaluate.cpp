// evaluate: scores a model directory on a labelled file.
#include <fmt/format.h>

#include <filesystem>
#include <iostream>
#include <optional>

#include "commands/command.h"
#include "commands/command_ranks.h"
#include "commands/reading_options.h"
#include "core/error.h"
#include "core/files.h"
#include "core/hash.h"
#include "core/log.h"
#include "train/compute.h"
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
  bool runs_on_several_ranks() const override { return true; }

  void declare(CLI::App& app) override {
    app.add_option("--model", model_folder_, "a model directory, for example run/best");
    app.add_option("--data", data_path_, "the labelled file");
    reading_.declare(app);
    app.add_option("--output", output_folder_, "folder for results.json and predictions.tsv");
    app.add_option("--threads", run_.threads, "compute threads (default: affinity mask and CPU quota)")
        ->check(CLI::Range(1, 4096));
  }

  int run() override {
    CommandRanks ranks;
    log::start({.rank = ranks.world().rank});
    return ranks.run([&] { return run_together(ranks); });
  }

 private:
  // The ranks share the rows; rank 0 alone answers.
  int run_together(CommandRanks& ranks) {
    ranks.together([&] {
      require_argument(name(), model_folder_, "--model DIR");
      require_argument(name(), data_path_, "--data FILE");
      if (std::filesystem::exists(output_folder_) && !std::filesystem::is_directory(output_folder_)) {
        throw ConfigError("--output: " + output_folder_ + " is a file; name a folder");
      }
    });
    const ComputeSettings compute = prepare_compute(run_, ranks.world(), ranks.gather());
    std::optional<OpenedModel> opened;
    SplitFiles files;
    std::optional<Dataset> dataset;
    ranks.together([&] {
      opened.emplace(open_model(model_folder_));
      files = {{data_path_}, reading_.request(opened->settings, data_path_, true)};
      const Task& task = opened->model->task();
      dataset = load_split(files, {task, opened->tokenizer, opened->settings, compute.threads}, DatasetCache("none"));
      task.attach_targets(*dataset);
    });
    require_equal_facts(ranks.world(), ranks.gather(), model_facts(model_folder_, opened->loaded.checksum));
    require_equal_facts(ranks.world(), ranks.gather(),
                        {{"the content of --data", hash_text(dataset->notes().read.content_hash)},
                         {"the number of rows of --data", std::to_string(dataset->rows())}});
    const auto never = [] { return false; };
    const std::optional<RowOutputs> outputs = compute_outputs_together(
        *opened->model, *dataset, kDefaultEvalBatchTokens, never, ranks.world(), ranks.gather());
    ranks.together([&] {
      if (ranks.world().rank == 0) answer(*opened, files, {*dataset, *outputs}, compute.threads);
    });
    return 0;
  }

  void answer(const OpenedModel& opened, const SplitFiles& files, const KnownOutputs& known, int threads) const {
    const Evaluation evaluation = opened.model->task().evaluate(known.outputs, known.dataset);
    std::cout << data_path_ << ": " << evaluation.rows << " rows, " << metrics_line(evaluation) << "\n"
              << evaluation.report;
    if (!output_folder_.empty()) {
      make_folders(output_folder_);
      write_file_atomically(output_folder_ + "/results.json", evaluation_json(evaluation, opened.settings.labels));
      write_split_predictions(output_folder_ + "/predictions.tsv", files, known, opened,
                              {.batch_tokens = kDefaultEvalBatchTokens, .threads = threads});
      log::info("results: " + output_folder_ + "/results.json");
    }
  }

  std::string model_folder_;
  ReadingOptions reading_;
  std::string output_folder_;
  std::string data_path_;
  RunOptions run_;
};

}  // namespace

std::unique_ptr<Command> make_evaluate_command() { return std::make_unique<EvaluateCommand>(); }

}  // namespace bertft
