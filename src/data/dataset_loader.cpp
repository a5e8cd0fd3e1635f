#include "data/dataset_loader.h"

#include <fmt/format.h>

#include <memory>
#include <optional>
#include <utility>

#include "data/cache_format.h"
#include "data/cache_writer.h"
#include "data/dataset_builder.h"
#include "data/row_stream.h"

namespace bertft {
namespace {

class Loader {
 public:
  Loader(const DatasetSource& source, const DatasetCache& cache) : source_(source), cache_(cache) {}

  LoadedDataset load() {
    key_ = present_key();
    if (!cache_.is_on()) return {build(nullptr), false, "", std::move(warnings_)};
    std::string why;
    const std::string path = cache_.path_of(key_);
    if (std::optional<Dataset> found = cache_.find(key_, why)) return {std::move(*found), true, path, {}};
    if (!why.empty()) warnings_.push_back(fmt::format("dataset cache: {}: {}; it is made again", path, why));
    CacheWriter writer(path);
    if (!writer.is_good()) warnings_.push_back("dataset cache: " + writer.failure());
    Dataset dataset = build(writer.is_good() ? &writer : nullptr);
    if (!is_kept_) return {std::move(dataset), false, "", std::move(warnings_)};
    cache_.prune(path);
    return {std::move(dataset), false, path, std::move(warnings_)};
  }

 private:
  std::string present_key() const {
    return cache_key(source_.paths, source_.request, source_.tokenizer, source_.encoder_key);
  }

  Dataset build(CacheWriter* writer) {
    const std::unique_ptr<RowStream> stream = open_rows(source_.paths, source_.request);
    DatasetBuilder builder(source_.tokenizer, source_.encoder, source_.threads, writer);
    while (const std::optional<Table> chunk = stream->next()) builder.add(*chunk);
    DatasetArrays arrays = builder.take_arrays();
    DataNotes notes = builder.take_notes(stream->notes(), stream->files());
    if (writer == nullptr) return Dataset(std::move(arrays), std::move(notes));
    if (writer->is_good()) {
      if (std::optional<Dataset> kept = keep(*writer, arrays, notes)) return std::move(*kept);
      arrays.ids = writer->take_back();
    }
    if (!writer->failure().empty()) warnings_.push_back("dataset cache: " + writer->failure() + "; nothing is kept");
    return Dataset(std::move(arrays), std::move(notes));
  }

  std::optional<Dataset> keep(CacheWriter& writer, const DatasetArrays& arrays, const DataNotes& notes) {
    if (present_key() != key_) {
      warnings_.push_back(shown_files(notes.paths) +
                          " changed while it was read; the data set is not kept in the cache");
      return std::nullopt;
    }
    if (!writer.commit(arrays, packed_notes(key_, notes))) return std::nullopt;
    std::string why;
    std::optional<Dataset> kept = cache_.find(key_, why);
    if (!kept) warnings_.push_back("dataset cache: what was written cannot be read back: " + why);
    is_kept_ = kept.has_value();
    return kept;
  }

  const DatasetSource& source_;
  const DatasetCache& cache_;
  std::string key_;
  bool is_kept_ = false;
  std::vector<std::string> warnings_;
};

}  // namespace

LoadedDataset load_dataset(const DatasetSource& source, const DatasetCache& cache) {
  return Loader(source, cache).load();
}

uint64_t content_hash(const std::vector<std::string>& paths, const TableRequest& request) {
  const std::unique_ptr<RowStream> stream = open_rows(paths, request);
  while (stream->next()) {
  }
  return stream->notes().content_hash;
}

}  // namespace bertft
