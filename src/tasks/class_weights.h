// How much rows of each class count in the loss: train.class_weights.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "core/option_table.h"
#include "data/labels.h"

namespace bertft {

struct ClassWeights {
  bool is_balanced = false;                             // rows / (classes x rows of the class), as scikit-learn
  std::vector<std::pair<std::string, double>> by_name;  // labels that are not named weigh 1

  bool is_uniform() const { return !is_balanced && by_name.empty(); }
};

// "none", "balanced", or a map of label to weight. Throws ConfigError for another word and for a weight that is not a
// positive number.
ClassWeights parse_class_weights(const TextOrMap& option);

// One weight per class. A class without rows has weight 0 when balanced. Throws ConfigError for a name that is no
// label.
std::vector<double> weights_of_classes(const ClassWeights& weights, const LabelTable& labels,
                                       std::span<const int32_t> training_labels);

}  // namespace bertft
