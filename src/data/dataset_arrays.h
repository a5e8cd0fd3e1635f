// The arrays that a data set consists of, once: as vectors while they are made, as views of memory or of a mapped file
// when they are used. Whoever walks over all of them does it through for_each_array.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace bertft {

template <typename T>
using OwnedArray = std::vector<T>;
template <typename T>
using ArrayView = std::span<const T>;

// R = rows, P = sequences of all rows. The row order is the one in which they were read.
template <template <typename> typename Array>
struct DatasetColumns {
  Array<int32_t> ids;                  // of all rows
  Array<int64_t> begins;               // [R] first id of each row
  Array<int32_t> lengths;              // [R] ids per row
  Array<int32_t> second_begins;        // [R] first id of token type 1 within the row; its length when there is none
  Array<int32_t> untruncated_lengths;  // [R] before truncation; a lower bound unless counted exactly

  // What is known of the row's text and place. In data sets that were made in memory any of them may be empty.
  Array<int32_t> unknown_counts;  // [R] [UNK] among the ids
  Array<uint64_t> text_hashes;    // [R] of the text or pair: equal texts have equal ones
  Array<uint8_t> blank_texts;     // [R] 1: the text, or one of the pair, is empty or blank
  Array<int32_t> label_texts;     // [R] which of DataNotes::label_texts the label cell holds; -1 = the cell is missing
  Array<int32_t> files;           // [R] which of DataNotes::paths
  Array<int64_t> lines;           // [R] on which the row starts, from 1

  // Rows of several sequences (windows of a long text, a question with its answers). Empty: one sequence a row, whose
  // second_begin is the row's.
  Array<int64_t> part_offsets;        // [R + 1] first part of each row, then P
  Array<int32_t> part_lengths;        // [P] those of a row add up to its length
  Array<int32_t> part_second_begins;  // [P] first id of token type 1 within the part; its length when none

  // Any number of targets a row (one per token, the ends of a span, a set of classes). Empty: none.
  Array<int64_t> target_offsets;  // [R + 1]
  Array<int32_t> targets;

  // Real-valued inputs per token (image patches): width values for each id, or none.
  Array<float> features;  // [ids, feature_width]
  int64_t feature_width = 0;
};

using DatasetArrays = DatasetColumns<OwnedArray>;
using DatasetViews = DatasetColumns<ArrayView>;

// Calls visit(name, array of each of `columns`...) for every array with one entry per row.
template <typename Visit, typename... Columns>
void for_each_row_array(Visit&& visit, Columns&... columns) {
  visit("begins", columns.begins...);
  visit("lengths", columns.lengths...);
  visit("second_begins", columns.second_begins...);
  visit("untruncated_lengths", columns.untruncated_lengths...);
  visit("unknown_counts", columns.unknown_counts...);
  visit("text_hashes", columns.text_hashes...);
  visit("blank_texts", columns.blank_texts...);
  visit("label_texts", columns.label_texts...);
  visit("files", columns.files...);
  visit("lines", columns.lines...);
}

// For every array, `ids` first.
template <typename Visit, typename... Columns>
void for_each_array(Visit&& visit, Columns&... columns) {
  visit("ids", columns.ids...);
  for_each_row_array(visit, columns...);
  visit("part_offsets", columns.part_offsets...);
  visit("part_lengths", columns.part_lengths...);
  visit("part_second_begins", columns.part_second_begins...);
  visit("target_offsets", columns.target_offsets...);
  visit("targets", columns.targets...);
  visit("features", columns.features...);
}

// Views of arrays that must stay where they are.
inline DatasetViews views_of(const DatasetArrays& arrays) {
  DatasetViews views;
  for_each_array([](const char*, auto& view, const auto& array) { view = array; }, views, arrays);
  views.feature_width = arrays.feature_width;
  return views;
}

}  // namespace bertft
