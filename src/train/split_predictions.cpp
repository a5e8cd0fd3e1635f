#include "train/split_predictions.h"

#include <fmt/format.h>

#include <memory>
#include <optional>
#include <sstream>
#include <vector>

#include "core/error.h"
#include "core/files.h"
#include "core/log.h"
#include "core/text.h"
#include "data/dataset_builder.h"
#include "data/row_encoder.h"
#include "data/row_stream.h"
#include "train/evaluator.h"
#include "train/predictor.h"

namespace bertft {
namespace {

constexpr int64_t kUnknown = -1;
constexpr int64_t kBroken = -2;

// Walks over the rows of the files beside those of the data set.
class RowMatcher {
 public:
  explicit RowMatcher(const Dataset& dataset) : dataset_(dataset) {}

  // The data set's row for the next row of the files; kUnknown when it was left out.
  int64_t next(const Table& table, int64_t row) {
    const int64_t number = source_row_++;
    if (next_ == dataset_.rows() || dataset_.source_row(next_) != number) return kUnknown;
    if (dataset_.text_hashes()[static_cast<size_t>(next_)] != text_hash(table, row)) {
      throw DataError(table.place(row) +
                      ": the text is another than at the start: the file was changed. Predictions "
                      "are not written; run `predict` on the file as it is now");
    }
    return next_++;
  }
  void finish(const std::string& path) const {
    if (next_ == dataset_.rows()) return;
    throw DataError(
        fmt::format("{}: {} rows were there at the start, now there are {}: the file was changed. "
                    "Predictions are not written; run `predict` on the file as it is now",
                    path, dataset_.source_rows(), source_row_));
  }

 private:
  const Dataset& dataset_;
  int64_t source_row_ = 0;
  int64_t next_ = 0;
};

class SplitPredictions {
 public:
  SplitPredictions(const SplitFiles& files, const KnownOutputs& known, const OpenedModel& model,
                   const PredictionWork& work)
      : files_(files), known_(known), model_(model), work_(work), matcher_(known.dataset) {}

  void write(const std::string& path) {
    AtomicFile file(path);
    std::ostringstream text;
    PredictionWriter writer(text, model_.model->task(), {});
    TableRequest request = files_.request;
    request.bad_row = BadRow::kKeep;  // one line for each row, whatever was left out
    const std::unique_ptr<RowStream> stream = open_rows(files_.paths, request);
    writer.write_header(stream->columns());
    while (const std::optional<Table> chunk = stream->next()) {
      write_rows(*chunk, writer);
      file.write(text.str());
      text.str("");
    }
    file.write(text.str());
    matcher_.finish(join(files_.paths, ", "));
    file.commit();
    for (const std::string& warning : writer.warnings()) log::warn(path + ": " + warning);
  }

 private:
  void write_rows(const Table& table, PredictionWriter& writer) {
    std::vector<int64_t> rows;
    std::vector<int64_t> left_out;
    for (int64_t row = 0; row < table.rows(); ++row) {
      rows.push_back(table.is_broken(row) ? kBroken : matcher_.next(table, row));
      if (rows.back() == kUnknown) left_out.push_back(row);
    }
    std::optional<RowOutputs> others;
    if (!left_out.empty() && !files_.is_partial) others = compute(table, left_out);
    int64_t next_other = 0;
    for (int64_t row = 0; row < table.rows(); ++row) {
      const int64_t known_row = rows[static_cast<size_t>(row)];
      if (known_row == kBroken && !files_.is_partial) writer.write_row(table, row, {});
      if (known_row >= 0) writer.write_row(table, row, known_.outputs.row(known_row));
      if (known_row == kUnknown && others) writer.write_row(table, row, others->row(next_other++));
    }
  }

  RowOutputs compute(const Table& table, const std::vector<int64_t>& rows) const {
    const Task& task = model_.model->task();
    const RowEncoder encoder = task.row_encoder(model_.tokenizer, encode_options(model_.settings), TargetUse::kIgnored);
    const Dataset all = encode_table(table, model_.tokenizer, encoder, work_.threads);
    return compute_outputs(*model_.model, all.select(rows), work_.batch_tokens);
  }

  const SplitFiles& files_;
  const KnownOutputs& known_;
  const OpenedModel& model_;
  const PredictionWork work_;
  RowMatcher matcher_;
};

}  // namespace

void write_split_predictions(const std::string& path, const SplitFiles& files, const KnownOutputs& known,
                             const OpenedModel& model, const PredictionWork& work) {
  SplitPredictions(files, known, model, work).write(path);
}

}  // namespace bertft
