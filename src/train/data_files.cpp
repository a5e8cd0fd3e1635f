#include "train/data_files.h"

#include <fmt/format.h>

#include <optional>
#include <utility>

#include "core/log.h"
#include "data/dataset_builder.h"
#include "data/read_notes.h"

namespace bertft {
namespace {

void log_notes(const std::string& name, int64_t rows, const ReadNotes& notes) {
  log::info(fmt::format("read {}: {} rows as {} ({}; {})", name, rows, notes.format, notes.format_reason,
                        notes.header_reason));
  for (const std::string& warning : read_warnings(notes)) log::warn(name + ": " + warning);
}

}  // namespace

Table read_split(RowStream& stream) {
  Table table = read_rest(stream);
  log_notes(table.path(), table.rows(), table.notes());
  return table;
}

Table read_split(const SplitFiles& files) { return read_split(*open_rows(files.paths, files.request)); }

Dataset load_split(const SplitFiles& files, const Tokenizer& tokenizer, const RowEncoder& encoder, int threads) {
  const std::unique_ptr<RowStream> stream = open_rows(files.paths, files.request);
  DatasetBuilder builder(tokenizer, encoder, threads);
  while (const std::optional<Table> chunk = stream->next()) builder.add(*chunk);
  DatasetArrays arrays = builder.take_arrays();
  DataNotes notes = builder.take_notes(stream->notes(), stream->files());
  Dataset dataset(std::move(arrays), std::move(notes));
  log_notes(shown_files(dataset.notes()), dataset.rows(), dataset.notes().read);
  return dataset;
}

EncodeOptions encode_options(const ModelSettings& settings) {
  EncodeOptions options;
  options.max_length = settings.max_length;
  options.truncation = settings.truncation;
  return options;
}

}  // namespace bertft
