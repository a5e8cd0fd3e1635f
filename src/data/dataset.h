// The rows of one or more files as token ids, flat in memory or mapped from the cache: what training and evaluation
// read from then on. Texts are not kept; what is known of each row is its place, a hash of its text, and its label.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "data/data_notes.h"
#include "data/dataset_arrays.h"

namespace bertft {

// What a row is to be learned as, beyond what its encoder gave it.
enum class TargetKind {
  kNone,       // nothing (prediction), or the encoder's own targets
  kClass,      // label(row)
  kClassSet,   // targets(row), class numbers in ascending order
  kRealValue,  // value(row)
};

// Rows that were left out when labels were interpreted.
struct LeftOutRows {
  int64_t unknown_label = 0;
  int64_t missing_label = 0;
  std::string shown;  // the unknown labels with their counts, for messages
};

class Dataset {
 public:
  // Takes the arrays. REQUIRES the sizes of dataset_arrays.h.
  explicit Dataset(DatasetArrays arrays, DataNotes notes = {});
  // Views into memory that `storage` keeps.
  Dataset(const DatasetViews& views, std::shared_ptr<const void> storage, DataNotes notes);

  int64_t rows() const { return static_cast<int64_t>(views_.lengths.size()); }
  int64_t tokens() const { return tokens_; }

  std::span<const int32_t> ids(int64_t row) const {
    return views_.ids.subspan(static_cast<size_t>(at(views_.begins, row)), static_cast<size_t>(length(row)));
  }
  int32_t length(int64_t row) const { return at(views_.lengths, row); }
  int32_t second_begin(int64_t row) const { return at(views_.second_begins, row); }

  // The lengths of the row's sequences, and the second_begin of each.
  std::span<const int32_t> part_lengths(int64_t row) const;
  std::span<const int32_t> part_second_begins(int64_t row) const;

  int64_t feature_width() const { return views_.feature_width; }
  // [length(row), feature_width]; empty without features.
  std::span<const float> features(int64_t row) const;

  TargetKind target_kind() const { return target_kind_; }
  // REQUIRES kClass.
  int32_t label(int64_t row) const { return labels_[static_cast<size_t>(row)]; }
  // REQUIRES kRealValue.
  double value(int64_t row) const { return values_[static_cast<size_t>(row)]; }
  // A set of classes, or what the encoder gave the row; empty when there is nothing of the kind.
  std::span<const int32_t> targets(int64_t row) const;

  // Indexed by row. `labels` and `values` are empty unless the target is of that kind; the others may be empty where
  // dataset_arrays.h says so.
  std::span<const int32_t> lengths() const { return views_.lengths; }
  std::span<const int32_t> untruncated_lengths() const { return views_.untruncated_lengths; }
  std::span<const int32_t> labels() const { return labels_; }
  std::span<const double> values() const { return values_; }
  std::span<const uint64_t> text_hashes() const { return views_.text_hashes; }
  std::span<const uint8_t> blank_texts() const { return views_.blank_texts; }
  std::span<const int32_t> unknown_counts() const { return views_.unknown_counts; }
  std::span<const int32_t> label_texts() const { return views_.label_texts; }

  // "train.tsv:17", as messages name a row; "row 17" (from 1) when places are not known.
  std::string place(int64_t row) const;
  // The number that the row had when the files were read, before any selection.
  int64_t source_row(int64_t row) const;
  // Rows that were read. Those without a number here were left out.
  int64_t source_rows() const { return source_rows_; }

  const DataNotes& notes() const { return *notes_; }
  const LeftOutRows& left_out() const { return left_out_; }

  // A data set of these rows, in this order, with their targets: shares the ids. REQUIRES rows of this data set.
  Dataset select(std::span<const int64_t> rows) const;

  // One target per row.
  void set_labels(std::vector<int32_t> labels);
  void set_values(std::vector<double> values);
  // offsets: [R + 1].
  void set_class_sets(std::vector<int64_t> offsets, std::vector<int32_t> classes);
  void set_left_out(LeftOutRows left_out) { left_out_ = std::move(left_out); }

 private:
  template <typename T>
  static T at(std::span<const T> values, int64_t row) {
    return values[static_cast<size_t>(row)];
  }
  void check_sizes() const;

  DatasetViews views_;
  std::vector<std::shared_ptr<const void>> storage_;
  std::shared_ptr<const DataNotes> notes_;
  std::vector<int64_t> source_numbers_;  // [R], or empty when no row was left out or moved
  int64_t source_rows_ = 0;
  int64_t tokens_ = 0;
  TargetKind target_kind_ = TargetKind::kNone;
  std::vector<int32_t> labels_;
  std::vector<double> values_;
  LeftOutRows left_out_;
};

}  // namespace bertft
