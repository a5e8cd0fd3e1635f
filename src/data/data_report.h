// What a user should know of the data before training starts, as text: rows, labels, lengths, doubles, oddities.
// It is made of data sets and their notes alone, so that a cached one reports what a fresh one does, byte for byte.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "data/dataset.h"
#include "data/labels.h"

namespace bertft {

struct LengthSummary {
  double mean = 0;
  int32_t median = 0;  // the smallest length that at least that share of the rows does not exceed
  int32_t percentile_90 = 0;
  int32_t percentile_99 = 0;
  int32_t max = 0;
};

// All zero for no rows.
LengthSummary summarize_lengths(std::span<const int32_t> lengths);

// A split of the data: "train", "dev" or "test".
struct NamedSplit {
  std::string name;
  const Dataset* dataset = nullptr;
};

// Several lines, each ending in LF. The first split is the training data: the others are compared with it.
// `labels` names the classes of data sets that have any.
std::string data_report(const std::vector<NamedSplit>& splits, const LabelTable& labels);

}  // namespace bertft
