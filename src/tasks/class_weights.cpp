#include "tasks/class_weights.h"

#include <fmt/format.h>

#include "core/error.h"
#include "core/text.h"
#include "data/label_reader.h"

namespace bertft {

ClassWeights parse_class_weights(const TextOrMap& option) {
  ClassWeights weights;
  if (option.map.empty()) {
    if (option.text != "none" && option.text != "balanced") {
      throw ConfigError("train.class_weights: '" + excerpt(option.text) +
                        "' is not none, balanced, or a map of labels to weights such as {spam: 2.5}");
    }
    weights.is_balanced = option.text == "balanced";
    return weights;
  }
  for (const auto& [label, text] : option.map) {
    double value = 0.0;
    if (!parse_real(text, value) || value <= 0.0) {
      throw ConfigError(fmt::format("train.class_weights: the weight of {} is '{}': a number above 0 is needed", label,
                                    excerpt(text)));
    }
    weights.by_name.emplace_back(label, value);
  }
  return weights;
}

std::vector<double> weights_of_classes(const ClassWeights& weights, const LabelTable& labels,
                                       std::span<const int32_t> training_labels) {
  std::vector<double> values(static_cast<size_t>(labels.size()), 1.0);
  if (weights.is_balanced) {
    std::vector<int64_t> rows(values.size(), 0);
    for (const int32_t label : training_labels) ++rows[static_cast<size_t>(label)];
    for (size_t k = 0; k < values.size(); ++k) {
      const double balanced = static_cast<double>(rows[k]) * static_cast<double>(values.size());
      values[k] = rows[k] == 0 ? 0.0 : static_cast<double>(training_labels.size()) / balanced;
    }
  }
  for (const auto& [label, value] : weights.by_name) {
    const int32_t id = labels.find(label);
    if (id < 0) {
      throw ConfigError(fmt::format("train.class_weights: '{}' is not one of the {} labels: {}", excerpt(label),
                                    labels.size(), excerpt(join(labels.names(), ", "), 200)));
    }
    values[static_cast<size_t>(id)] = value;
  }
  return values;
}

}  // namespace bertft
