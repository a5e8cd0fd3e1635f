// What a user should know of the data before training starts, as text: rows, labels, lengths, doubles, oddities.
// Each figure comes from a function of its own, so that other outputs can use it.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "data/dataset.h"
#include "data/labels.h"

namespace bertft {

class Tokenizer;

struct LengthSummary {
  double mean = 0;
  int32_t median = 0;  // the smallest length that at least that share of the rows does not exceed
  int32_t percentile_90 = 0;
  int32_t percentile_99 = 0;
  int32_t max = 0;
};

// All zero for no rows.
LengthSummary summarize_lengths(const std::vector<int32_t>& lengths);

// A split of the data: "train", "dev" or "test".
struct NamedSplit {
  std::string name;
  const Dataset* dataset = nullptr;
};

// Several lines, each ending in LF. The first split is the training data: the others are compared with it.
// `labels` null: no labels (prediction).
std::string data_report(const std::vector<NamedSplit>& splits, const LabelTable* labels, const Tokenizer& tokenizer);

}  // namespace bertft
