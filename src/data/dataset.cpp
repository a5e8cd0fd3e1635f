#include "data/dataset.h"

#include <numeric>
#include <utility>

#include "core/error.h"

namespace bertft {
namespace {

// The part of a CSR array that belongs to `row`.
template <typename T>
std::span<const T> slice_of(std::span<const T> values, std::span<const int64_t> offsets, int64_t row) {
  const auto begin = static_cast<size_t>(offsets[static_cast<size_t>(row)]);
  return values.subspan(begin, static_cast<size_t>(offsets[static_cast<size_t>(row) + 1]) - begin);
}

template <typename T>
std::vector<T> picked(std::span<const T> values, std::span<const int64_t> rows) {
  std::vector<T> result;
  if (values.empty()) return result;
  result.reserve(rows.size());
  for (const int64_t row : rows) result.push_back(values[static_cast<size_t>(row)]);
  return result;
}

// Picks rows of a CSR array.
template <typename T>
void pick_slices(std::span<const T> values, std::span<const int64_t> offsets, std::span<const int64_t> rows,
                 std::vector<T>& picked_values, std::vector<int64_t>& picked_offsets) {
  if (offsets.empty()) return;
  picked_offsets.assign(1, 0);
  picked_values.clear();
  for (const int64_t row : rows) {
    const std::span<const T> slice = slice_of(values, offsets, row);
    picked_values.insert(picked_values.end(), slice.begin(), slice.end());
    picked_offsets.push_back(static_cast<int64_t>(picked_values.size()));
  }
}

bool is_csr(std::span<const int64_t> offsets, size_t rows, size_t values) {
  return offsets.empty() ? values == 0 : offsets.size() == rows + 1 && offsets.back() == static_cast<int64_t>(values);
}

}  // namespace

Dataset::Dataset(DatasetArrays arrays, DataNotes notes) {
  auto owned = std::make_shared<const DatasetArrays>(std::move(arrays));
  *this = Dataset(views_of(*owned), owned, std::move(notes));
}

Dataset::Dataset(const DatasetViews& views, std::shared_ptr<const void> storage, DataNotes notes)
    : views_(views),
      storage_{std::move(storage)},
      notes_(std::make_shared<const DataNotes>(std::move(notes))),
      source_rows_(rows()),
      tokens_(std::accumulate(views.lengths.begin(), views.lengths.end(), int64_t{0})) {
  check_sizes();
}

void Dataset::check_sizes() const {
  const size_t rows = views_.lengths.size();
  const auto is_per_row = [&](const auto& array) { return array.size() == rows; };
  const auto is_per_row_or_empty = [&](const auto& array) { return array.empty() || array.size() == rows; };
  check(is_per_row(views_.begins) && is_per_row(views_.second_begins) && is_per_row(views_.untruncated_lengths),
        "one entry per row");
  check(is_per_row_or_empty(views_.unknown_counts) && is_per_row_or_empty(views_.text_hashes) &&
            is_per_row_or_empty(views_.blank_texts) && is_per_row_or_empty(views_.label_texts) &&
            is_per_row_or_empty(views_.files) && is_per_row_or_empty(views_.lines),
        "one entry per row, or none at all");
  for (size_t row = 0; row < rows; ++row) {
    check(views_.begins[row] >= 0 && views_.lengths[row] >= 0 &&
              views_.begins[row] + views_.lengths[row] <= static_cast<int64_t>(views_.ids.size()),
          "rows lie within the ids");
  }
  check(is_csr(views_.part_offsets, rows, views_.part_lengths.size()) &&
            views_.part_second_begins.size() == views_.part_lengths.size(),
        "part offsets end at the last part");
  check(is_csr(views_.target_offsets, rows, views_.targets.size()), "target offsets end at the last target");
  check(views_.features.size() == views_.ids.size() * static_cast<size_t>(views_.feature_width),
        "feature_width values for each id");
}

std::span<const int32_t> Dataset::part_lengths(int64_t row) const {
  if (views_.part_offsets.empty()) return views_.lengths.subspan(static_cast<size_t>(row), 1);
  return slice_of(views_.part_lengths, views_.part_offsets, row);
}

std::span<const int32_t> Dataset::part_second_begins(int64_t row) const {
  if (views_.part_offsets.empty()) return views_.second_begins.subspan(static_cast<size_t>(row), 1);
  return slice_of(views_.part_second_begins, views_.part_offsets, row);
}

std::span<const int32_t> Dataset::targets(int64_t row) const {
  if (views_.target_offsets.empty()) return {};
  return slice_of(views_.targets, views_.target_offsets, row);
}

std::span<const float> Dataset::features(int64_t row) const {
  const auto width = static_cast<size_t>(views_.feature_width);
  return views_.features.subspan(static_cast<size_t>(at(views_.begins, row)) * width,
                                 static_cast<size_t>(length(row)) * width);
}

std::string Dataset::place(int64_t row) const {
  if (views_.files.empty() || views_.lines.empty()) return "row " + std::to_string(row + 1);
  return notes_->paths.at(static_cast<size_t>(at(views_.files, row))) + ":" + std::to_string(at(views_.lines, row));
}

int64_t Dataset::source_row(int64_t row) const {
  return source_numbers_.empty() ? row : source_numbers_[static_cast<size_t>(row)];
}

Dataset Dataset::select(std::span<const int64_t> rows) const {
  DatasetArrays arrays;
  for_each_row_array([&](const char*, auto& to, const auto& from) { to = picked(from, rows); }, arrays, views_);
  pick_slices(views_.part_lengths, views_.part_offsets, rows, arrays.part_lengths, arrays.part_offsets);
  pick_slices(views_.part_second_begins, views_.part_offsets, rows, arrays.part_second_begins, arrays.part_offsets);
  pick_slices(views_.targets, views_.target_offsets, rows, arrays.targets, arrays.target_offsets);
  auto owned = std::make_shared<const DatasetArrays>(std::move(arrays));
  Dataset result = *this;
  result.views_ = views_of(*owned);
  result.views_.ids = views_.ids;
  result.views_.features = views_.features;
  result.views_.feature_width = views_.feature_width;
  result.storage_.push_back(owned);
  result.source_numbers_.clear();
  for (const int64_t row : rows) result.source_numbers_.push_back(source_row(row));
  result.tokens_ = std::accumulate(owned->lengths.begin(), owned->lengths.end(), int64_t{0});
  result.labels_ = picked(std::span(labels_), rows);
  result.values_ = picked(std::span(values_), rows);
  result.check_sizes();
  return result;
}

void Dataset::set_labels(std::vector<int32_t> labels) {
  check(static_cast<int64_t>(labels.size()) == rows(), "one label per row");
  labels_ = std::move(labels);
  target_kind_ = TargetKind::kClass;
}

void Dataset::set_values(std::vector<double> values) {
  check(static_cast<int64_t>(values.size()) == rows(), "one value per row");
  values_ = std::move(values);
  target_kind_ = TargetKind::kRealValue;
}

void Dataset::set_class_sets(std::vector<int64_t> offsets, std::vector<int32_t> classes) {
  struct ClassSets {
    std::vector<int64_t> offsets;
    std::vector<int32_t> classes;
  };
  auto owned = std::make_shared<const ClassSets>(ClassSets{std::move(offsets), std::move(classes)});
  views_.target_offsets = owned->offsets;
  views_.targets = owned->classes;
  storage_.push_back(owned);
  check_sizes();
  target_kind_ = TargetKind::kClassSet;
}

}  // namespace bertft
