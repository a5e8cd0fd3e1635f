#include "train/data_files.h"

#include <fmt/format.h>

#include <utility>

#include "core/error.h"
#include "core/hash.h"
#include "core/log.h"
#include "data/dataset_loader.h"
#include "data/read_notes.h"

namespace bertft {
void log_reading(const std::vector<std::string>& files, int64_t rows, const ReadNotes& notes) {
  const std::string name = shown_files(files);
  log::info(fmt::format("read {}: {} rows as {} ({}; {})", name, rows, notes.format, notes.format_reason,
                        notes.header_reason));
  for (const std::string& warning : read_warnings(notes)) log::warn(name + ": " + warning);
}

Dataset load_split(const SplitFiles& files, const SplitEncoder& encoder, const DatasetCache& cache) {
  const EncodeOptions options = encode_options(encoder.settings);
  LoadedDataset loaded =
      load_dataset({.paths = files.paths,
                    .request = files.request,
                    .tokenizer = encoder.tokenizer,
                    .encoder = encoder.task.row_encoder(encoder.tokenizer, options, TargetUse::kNeeded),
                    .encoder_key = {encoder.task.encoder_name(), options},
                    .threads = encoder.threads},
                   cache);
  for (const std::string& warning : loaded.warnings) log::warn(warning);
  const DataNotes& notes = loaded.dataset.notes();
  log_reading(notes.paths, loaded.dataset.rows(), notes.read);
  if (!loaded.cache_path.empty()) {
    log::info(fmt::format("dataset cache: {} {}", loaded.is_from_cache ? "taken from" : "kept in", loaded.cache_path));
  }
  return std::move(loaded.dataset);
}

void verify_content(const SplitFiles& files, const Dataset& dataset) {
  const uint64_t expected = dataset.notes().read.content_hash;
  if (expected == 0) {
    throw ConfigError(
        "--verify-data: with data.max_rows the files are not read to their end, so there is nothing to "
        "compare; leave one of the two out");
  }
  const uint64_t now = content_hash(files.paths, files.request);
  if (now != expected) {
    throw DataError(
        fmt::format("{}: the content has hash {}, but the data set was made of content with hash {}, though "
                    "size, time of change and inode are the same. Touch the file, so that it is read again",
                    shown_files(dataset.notes().paths), hash_text(now), hash_text(expected)));
  }
  log::info(fmt::format("verified {}: content hash {}", shown_files(dataset.notes().paths), hash_text(now)));
}

EncodeOptions encode_options(const ModelSettings& settings) {
  EncodeOptions options;
  options.max_length = settings.max_length;
  options.truncation = settings.truncation;
  return options;
}

}  // namespace bertft
