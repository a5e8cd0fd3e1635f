// predict: labels for the rows of a file or of standard input.
#include <fmt/format.h>
#include <malloc.h>

#include <filesystem>
#include <fstream>
#include <iostream>
#include <optional>
#include <sstream>
#include <vector>

#include "commands/command.h"
#include "commands/reading_options.h"
#include "core/error.h"
#include "core/files.h"
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

// Text that is in memory at once. Rows of a piece share micro-batches, so it is many batches' worth; larger ones would
// only cost memory.
constexpr size_t kPieceBytes = 1 << 20;

// Gives large blocks back to the system as they are freed, so that memory stays flat over inputs of any size. By itself
// the allocator raises its limits with the sizes that it sees, and keeps what fragments (measured: 6 % more after 1
// GB).
void keep_memory_flat() {
  ::mallopt(M_MMAP_THRESHOLD, 1 << 19);
  ::mallopt(M_TRIM_THRESHOLD, 1 << 20);
}

// A named pipe or a device, such as /dev/stdin and /dev/null.
bool is_stream(const std::string& path) {
  std::error_code error;
  const auto type = std::filesystem::status(path, error).type();
  return type == std::filesystem::file_type::fifo || type == std::filesystem::file_type::character;
}

class PredictCommand final : public Command {
 public:
  std::string name() const override { return "predict"; }
  std::string summary() const override { return "predict labels for a file or standard input"; }

  void declare(CLI::App& app) override {
    app.add_option("--model", model_folder_, "a model directory, for example run/best");
    app.add_option("--data", data_path_, "the file of rows, or - for standard input");
    reading_.declare(app);
    app.add_option("--output", output_path_, "the file to write, or - for standard output")->capture_default_str();
    app.add_option("--format", output_format_, "form of the output: tsv, csv, jsonl, or auto: that of the input")
        ->capture_default_str();
    app.add_flag("--logits", format_.has_logits, "also write logit_<class> columns");
    app.add_option("--digits", format_.digits, "digits behind the decimal point")
        ->capture_default_str()
        ->check(CLI::Range(0, 17));
    app.add_option("--threads", run_.threads, "compute threads (default: affinity mask and CPU quota)")
        ->check(CLI::Range(1, 4096));
  }

  int run() override {
    keep_memory_flat();
    require_argument(name(), model_folder_, "--model DIR");
    require_argument(name(), data_path_, "--data FILE");
    if (output_format_ != "auto") parse_table_form(output_format_);
    if (output_path_ != "-") {
      if (output_path_.empty()) throw ConfigError("--output: there is no file name");
      require_output_place(output_path_, "--output");
      require_different_files(output_path_, "--output", data_path_, "--data");
    }
    log::start({.is_quiet = output_path_ == "-"});
    const ComputeSettings compute = prepare_compute(run_);
    const OpenedModel opened = open_model(model_folder_);
    if (is_stream(output_path_)) {  // no file to be replaced
      std::ofstream stream(output_path_);
      write(opened, compute.threads, [&](std::string_view text) { stream << text; });
      if (!stream.flush()) throw ResourceError("cannot write to " + output_path_);
      return 0;
    }
    if (output_path_ == "-") {
      write(opened, compute.threads, [](std::string_view text) { std::cout << text; });
      if (!std::cout.flush()) throw ResourceError("cannot write to standard output");
      return 0;
    }
    AtomicFile file(output_path_);
    const int64_t rows = write(opened, compute.threads, [&](std::string_view text) { file.write(text); });
    file.commit();
    log::info(fmt::format("{} predictions: {}", rows, output_path_));
    return 0;
  }

 private:
  std::unique_ptr<RowStream> open_input(const ModelSettings& settings) const {
    TableRequest request = reading_.request(settings, data_path_, false);
    request.bad_row = BadRow::kKeep;  // one row for each of the input
    request.chunk_bytes = kPieceBytes;
    request.block_bytes = kPieceBytes / 4;
    if (data_path_ == "-") return stdin_rows(request);
    return is_stream(data_path_) ? open_rows(data_path_, pipe_source(data_path_), request)
                                 : open_rows({data_path_}, request);
  }

  // Reads, computes and writes piece by piece, so memory does not grow with the input. Returns the number of rows.
  template <typename Sink>
  int64_t write(const OpenedModel& opened, int threads, const Sink& sink) const {
    const Task& task = opened.model->task();
    const RowEncoder encoder = task.row_encoder(opened.tokenizer, encode_options(opened.settings), TargetUse::kIgnored);
    const std::unique_ptr<RowStream> stream = open_input(opened.settings);
    std::ostringstream text;
    const TableForm form =
        output_format_ == "auto" ? table_form_of(stream->notes().format) : parse_table_form(output_format_);
    PredictionWriter writer(text, task, format_, form);
    writer.write_header(stream->columns());
    int64_t rows = 0;
    while (const std::optional<Table> table = stream->next()) {
      write_rows(*table, encode_table(*table, opened.tokenizer, encoder, threads), *opened.model, writer);
      rows += table->rows();
      sink(text.str());
      text.str("");
    }
    log_reading(stream->files(), rows, stream->notes());
    for (const std::string& warning : writer.warnings()) log::warn(warning);
    return rows;
  }

  // The model is not asked about broken rows.
  static void write_rows(const Table& table, const Dataset& dataset, const ModelBundle& model,
                         PredictionWriter& writer) {
    std::vector<int64_t> good;
    for (int64_t row = 0; row < table.rows(); ++row) {
      if (!table.is_broken(row)) good.push_back(row);
    }
    std::optional<RowOutputs> outputs;
    if (!good.empty()) outputs = compute_outputs(model, dataset.select(good), kDefaultEvalBatchTokens);
    int64_t next = 0;
    for (int64_t row = 0; row < table.rows(); ++row) {
      writer.write_row(table, row, table.is_broken(row) ? std::span<const double>() : outputs->row(next++));
    }
  }

  std::string model_folder_;
  std::string data_path_;
  ReadingOptions reading_;
  std::string output_path_ = "-";
  std::string output_format_ = "auto";
  PredictionFormat format_;
  RunOptions run_;
};

}  // namespace

std::unique_ptr<Command> make_predict_command() { return std::make_unique<PredictCommand>(); }

}  // namespace bertft
