#include "data/dataset_builder.h"

#include <utility>

#include "data/cache_writer.h"
#include "data/label_reader.h"

namespace bertft {
namespace {

constexpr int64_t kSearchedRows = 10'000;  // for characters that the vocabulary lacks

template <typename T>
void append_all(std::vector<T>& to, const std::vector<T>& from) {
  to.insert(to.end(), from.begin(), from.end());
}

// Appends CSR offsets that begin with 0 to others that end with the number of values so far.
void append_offsets(std::vector<int64_t>& to, const std::vector<int64_t>& from) {
  const int64_t base = to.back();
  for (size_t i = 1; i < from.size(); ++i) to.push_back(base + from[i]);
}

// Parts and targets that every row has the same way.
void drop_what_says_nothing(DatasetArrays& arrays) {
  if (arrays.part_lengths.size() == arrays.lengths.size()) {
    arrays.part_offsets = {};
    arrays.part_lengths = arrays.part_second_begins = {};
  }
  if (arrays.targets.empty()) arrays.target_offsets = {};
}

}  // namespace

DatasetBuilder::DatasetBuilder(const Tokenizer& tokenizer, RowEncoder encoder, int threads, CacheWriter* writer)
    : tokenizer_(tokenizer), encoder_(std::move(encoder)), threads_(threads), writer_(writer) {
  arrays_.part_offsets = arrays_.target_offsets = {0};
}

void DatasetBuilder::add(const Table& table) {
  DatasetArrays encoded = encode_rows(table, encoder_, {.threads = threads_, .unknown_id = tokenizer_.unk_id()});
  append_labels(table);
  count_unknown(table, encoded);
  append(encoded);
}

// Labels are kept as written: what they mean is decided when targets are attached, so that the same ids serve all.
void DatasetBuilder::append_labels(const Table& table) {
  notes_.is_pair = table.roles().text_pair >= 0;
  std::vector<int> columns = table.roles().labels;
  if (columns.empty()) columns = {table.roles().label};
  if (columns.front() < 0) return;
  notes_.label_column = table.columns()[static_cast<size_t>(columns.front())];
  for (int64_t row = 0; row < table.rows(); ++row) {
    if (columns.size() == 1 && table.is_missing(row, columns.front())) {
      arrays_.label_texts.push_back(-1);
      continue;
    }
    std::string text(table.cell(row, columns.front()));
    for (size_t i = 1; i < columns.size(); ++i) (text += kColumnSeparator) += table.cell(row, columns[i]);
    const auto [entry, is_new] =
        label_numbers_.emplace(std::move(text), static_cast<int32_t>(notes_.label_texts.size()));
    if (is_new) notes_.label_texts.push_back(entry->first);
    arrays_.label_texts.push_back(entry->second);
  }
}

void DatasetBuilder::count_unknown(const Table& table, const DatasetArrays& encoded) {
  for (int64_t row = 0; row < table.rows() && searched_rows_ < kSearchedRows; ++row) {
    if (encoded.unknown_counts[static_cast<size_t>(row)] == 0) continue;
    ++searched_rows_;
    count_characters(table.text(row), characters_);
    count_characters(table.text_pair(row), characters_);
  }
}

void DatasetBuilder::append(DatasetArrays& encoded) {
  for (int64_t& begin : encoded.begins) begin += ids_;
  encoded.label_texts.clear();  // are appended already
  for_each_row_array([](const char*, auto& to, const auto& from) { append_all(to, from); }, arrays_, encoded);
  append_offsets(arrays_.part_offsets, encoded.part_offsets);
  append_all(arrays_.part_lengths, encoded.part_lengths);
  append_all(arrays_.part_second_begins, encoded.part_second_begins);
  append_offsets(arrays_.target_offsets, encoded.target_offsets);
  append_all(arrays_.targets, encoded.targets);
  append_all(arrays_.features, encoded.features);
  if (encoded.feature_width > 0) arrays_.feature_width = encoded.feature_width;
  append_ids(encoded.ids);
}

void DatasetBuilder::append_ids(const std::vector<int32_t>& ids) {
  ids_ += static_cast<int64_t>(ids.size());
  if (writer_ != nullptr && writer_->is_good()) {
    if (writer_->append_ids(ids)) return;
    arrays_.ids = writer_->take_back();
  }
  append_all(arrays_.ids, ids);
}

DatasetArrays DatasetBuilder::take_arrays() {
  drop_what_says_nothing(arrays_);
  return std::move(arrays_);
}

DataNotes DatasetBuilder::take_notes(const ReadNotes& read, const std::vector<std::string>& files) {
  notes_.read = read;
  notes_.paths = files;
  notes_.unknown_characters = most_frequent_unknown(characters_, tokenizer_);
  return std::move(notes_);
}

Dataset encode_table(const Table& table, const Tokenizer& tokenizer, const RowEncoder& encoder, int threads) {
  DatasetBuilder builder(tokenizer, encoder, threads);
  builder.add(table);
  DatasetArrays arrays = builder.take_arrays();
  return Dataset(std::move(arrays), builder.take_notes(table.notes(), table.files()));
}

}  // namespace bertft
