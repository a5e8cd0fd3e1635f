// predict: labels for the rows of a file or of standard input.
#include <fmt/format.h>

#include <iostream>

#include "commands/columns.h"
#include "commands/command.h"
#include "core/error.h"
#include "core/log.h"
#include "data/dataset_builder.h"
#include "data/row_stream.h"
#include "train/build.h"
#include "train/data_files.h"
#include "train/evaluator.h"
#include "train/model_folder_reader.h"
#include "train/predictor.h"

namespace bertft {
namespace {

class PredictCommand final : public Command {
 public:
  std::string name() const override { return "predict"; }
  std::string summary() const override { return "predict labels for a file or standard input"; }

  void declare(CLI::App& app) override {
    app.add_option("--model", model_folder_, "a model directory, for example run/best");
    app.add_option("--data", data_path_, "the file of rows, or - for standard input");
    app.add_option("--columns", columns_, "text=NAME,text_pair=NAME: instead of the model's own");
    app.add_option("--output", output_path_, "the file to write, or - for standard output")->capture_default_str();
    app.add_option("--format", output_format_, "form of the output: tsv")->capture_default_str();
    app.add_flag("--logits", format_.has_logits, "also write logit_<class> columns");
    app.add_option("--digits", format_.digits, "digits behind the decimal point")
        ->capture_default_str()
        ->check(CLI::Range(0, 17));
    app.add_option("--threads", run_.threads, "compute threads (default: affinity mask and CPU quota)")
        ->check(CLI::Range(1, 4096));
  }

  int run() override {
    require_argument(name(), model_folder_, "--model DIR");
    require_argument(name(), data_path_, "--data FILE");
    if (output_format_ != "tsv") {
      const bool is_later = output_format_ == "csv" || output_format_ == "jsonl";
      throw ConfigError(
          fmt::format("--format {}: {}; use tsv", output_format_, is_later ? "not in this build" : "unknown"));
    }
    if (output_path_ != "-") {
      if (output_path_.empty()) throw ConfigError("--output: there is no file name");
      require_output_place(output_path_, "--output");
      require_different_files(output_path_, "--output", data_path_, "--data");
    }
    log::start({.is_quiet = output_path_ == "-"});
    const ComputeSettings compute = prepare_compute(run_);
    const OpenedModel opened = open_model(model_folder_);
    const Table table = read_rows(opened.settings);
    const Task& task = opened.model->task();
    const RowEncoder encoder = task.row_encoder(opened.tokenizer, encode_options(opened.settings), TargetUse::kIgnored);
    const Dataset dataset = encode_table(table, opened.tokenizer, encoder, compute.threads);
    const RowOutputs outputs = compute_outputs(*opened.model, dataset, kDefaultEvalBatchTokens);
    write(table, task, outputs);
    return 0;
  }

 private:
  Table read_rows(const ModelSettings& settings) {
    TableRequest request{.columns = settings.columns};
    request.is_pair_optional = settings.is_pair_optional;
    apply_columns(request.columns, columns_);
    return data_path_ == "-" ? read_split(*stdin_rows(request)) : read_split({{data_path_}, request});
  }

  void write(const Table& table, const Task& task, const RowOutputs& outputs) const {
    if (output_path_ != "-") {
      write_predictions_file(output_path_, table, task, outputs, format_);
      log::info(fmt::format("{} predictions: {}", table.rows(), output_path_));
      return;
    }
    const int64_t replaced = write_predictions(std::cout, table, task, outputs, format_);
    if (replaced > 0) log::warn(fmt::format("{} tabs or line breaks inside cells became blanks", replaced));
    if (!std::cout.flush()) throw ResourceError("cannot write to standard output");
  }

  std::string model_folder_;
  std::string data_path_;
  std::string columns_;
  std::string output_path_ = "-";
  std::string output_format_ = "tsv";
  PredictionFormat format_;
  RunOptions run_;
};

}  // namespace

std::unique_ptr<Command> make_predict_command() { return std::make_unique<PredictCommand>(); }

}  // namespace bertft
