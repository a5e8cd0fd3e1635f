// predict: labels for the rows of a file or of standard input.
#include <fmt/format.h>
#include <malloc.h>

#include <filesystem>
#include <fstream>
#include <iostream>
#include <optional>
#include <span>
#include <sstream>
#include <string_view>
#include <utility>
#include <vector>

#include "commands/command.h"
#include "commands/command_ranks.h"
#include "commands/reading_options.h"
#include "core/error.h"
#include "core/files.h"
#include "core/hash.h"
#include "core/log.h"
#include "core/rng.h"
#include "data/dataset_builder.h"
#include "data/row_stream.h"
#include "train/compute.h"
#include "train/data_files.h"
#include "train/evaluator.h"
#include "train/model_folder_reader.h"
#include "train/predictor.h"
#include "train/shared_source.h"

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
  bool runs_on_several_ranks() const override { return true; }

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
    CommandRanks ranks;
    log::start({.rank = ranks.world().rank, .is_quiet = output_path_ == "-"});
    return ranks.run([&] { return run_together(ranks); });
  }

 private:
  int run_together(CommandRanks& ranks) {
    ranks.together([&] { check_arguments(ranks.world()); });
    const ComputeSettings compute = prepare_compute(run_, ranks.world(), ranks.gather());
    std::optional<OpenedModel> opened;
    ranks.together([&] { opened.emplace(open_model(model_folder_)); });
    require_equal_facts(ranks.world(), ranks.gather(), model_facts(model_folder_, opened->loaded.checksum));
    std::optional<AtomicFile> file;
    std::ofstream stream;
    std::ostream* out = &std::cout;
    ranks.together([&] {
      if (ranks.world().rank != 0 || output_path_ == "-") return;
      if (is_stream(output_path_)) {  // no file to be replaced
        stream.open(output_path_);
        out = &stream;
      } else {
        file.emplace(output_path_);
      }
    });
    const auto sink = [&](std::string_view text) { file ? file->write(text) : void(*out << text); };
    const int64_t rows = write(*opened, compute.threads, ranks, sink);
    ranks.together([&] {
      if (ranks.world().rank != 0) return;
      if (file) file->commit();
      if (!file && !out->flush()) {
        throw ResourceError("cannot write to " + (output_path_ == "-" ? "standard output" : output_path_));
      }
    });
    if (file) log::info(fmt::format("{} predictions: {}", rows, output_path_));
    return 0;
  }

  // Only rank 0 writes.
  void check_arguments(const World& world) const {
    require_argument(name(), model_folder_, "--model DIR");
    require_argument(name(), data_path_, "--data FILE");
    if (output_format_ != "auto") parse_table_form(output_format_);
    if (output_path_ == "-" || world.rank != 0) return;
    if (output_path_.empty()) throw ConfigError("--output: there is no file name");
    require_output_place(output_path_, "--output");
    require_different_files(output_path_, "--output", data_path_, "--data");
  }

  // Every rank reads files by itself; a stream is read by rank 0 and passed on.
  std::unique_ptr<RowStream> open_input(const ModelSettings& settings, CommandRanks& ranks) const {
    TableRequest request = reading_.request(settings, data_path_, false);
    request.bad_row = BadRow::kKeep;  // one row for each of the input
    request.chunk_bytes = kPieceBytes;
    request.block_bytes = kPieceBytes / 4;
    const auto shared = [&](const auto& open) { return shared_source(ranks.world(), ranks.gather(), open); };
    if (data_path_ == "-") return open_rows("standard input", shared([] { return stdin_source(); }), request);
    return is_stream(data_path_) ? open_rows(data_path_, shared([this] { return pipe_source(data_path_); }), request)
                                 : open_rows({data_path_}, request);
  }

  // Reads, computes and writes piece by piece, so memory does not grow with the input. Returns the number of rows.
  template <typename Sink>
  int64_t write(const OpenedModel& opened, int threads, CommandRanks& ranks, const Sink& sink) const {
    const Task& task = opened.model->task();
    const RowEncoder encoder = task.row_encoder(opened.tokenizer, encode_options(opened.settings), TargetUse::kIgnored);
    std::unique_ptr<RowStream> stream;
    ranks.together([&] { stream = open_input(opened.settings, ranks); });
    std::ostringstream text;
    const TableForm form =
        output_format_ == "auto" ? table_form_of(stream->notes().format) : parse_table_form(output_format_);
    PredictionWriter writer(text, task, format_, form);
    writer.write_header(stream->columns());
    int64_t rows = 0;
    while (const std::optional<Piece> piece = next_piece(*stream, opened, encoder, threads, ranks)) {
      write_rows(*piece, *opened.model, ranks, writer);
      rows += piece->table.rows();
      ranks.together([&] {
        if (ranks.world().rank == 0) sink(text.str());
      });
      text.str("");
    }
    log_reading(stream->files(), rows, stream->notes());
    for (const std::string& warning : writer.warnings()) log::warn(warning);
    return rows;
  }

  struct Piece {
    Table table;
    Dataset dataset;
  };

  // The same on all ranks, or all refuse it.
  static std::optional<Piece> next_piece(RowStream& stream, const OpenedModel& opened, const RowEncoder& encoder,
                                         int threads, CommandRanks& ranks) {
    std::optional<Piece> piece;
    uint64_t hash = 0;
    ranks.together([&] {
      std::optional<Table> table = stream.next();
      if (!table) return;
      Dataset dataset = encode_table(*table, opened.tokenizer, encoder, threads);
      const bool has_others = ranks.world().size > 1;  // to compare with
      for (int64_t row = 0; has_others && row < dataset.rows(); ++row) {
        const auto ids = std::as_bytes(dataset.ids(row));
        hash = mix64(hash ^ hash64({reinterpret_cast<const char*>(ids.data()), ids.size()}));
      }
      piece.emplace(Piece{std::move(*table), std::move(dataset)});
    });
    const std::string content = piece ? fmt::format("{} rows, {}", piece->table.rows(), hash_text(hash)) : "at its end";
    require_equal_facts(ranks.world(), ranks.gather(), {{"the content of --data", content}});
    return piece;
  }

  // The model is not asked about broken rows.
  static void write_rows(const Piece& piece, const ModelBundle& model, CommandRanks& ranks, PredictionWriter& writer) {
    std::vector<int64_t> good;
    for (int64_t row = 0; row < piece.table.rows(); ++row) {
      if (!piece.table.is_broken(row)) good.push_back(row);
    }
    std::optional<RowOutputs> outputs;
    if (!good.empty()) {
      const auto never = [] { return false; };
      outputs = compute_outputs_together(model, piece.dataset.select(good), kDefaultEvalBatchTokens, never,
                                         ranks.world(), ranks.gather());
    }
    if (ranks.world().rank != 0) return;
    int64_t next = 0;
    for (int64_t row = 0; row < piece.table.rows(); ++row) {
      writer.write_row(piece.table, row, piece.table.is_broken(row) ? std::span<const double>() : outputs->row(next++));
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
