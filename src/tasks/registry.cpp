#include "tasks/registry.h"

#include <functional>
#include <map>

#include "core/error.h"
#include "core/text.h"
#include "tasks/multi_label.h"
#include "tasks/text_classification.h"
#include "tasks/text_regression.h"

namespace bertft {
namespace {

using Maker = std::function<std::unique_ptr<Task>(const TaskSettings&)>;

const std::map<std::string, Maker>& makers() {
  static const std::map<std::string, Maker> table = {
      {"text_classification",
       [](const TaskSettings& settings) -> std::unique_ptr<Task> {
         switch (settings.labels.type) {
           case LabelType::kMulti:
             return std::make_unique<MultiLabelClassification>(settings);
           case LabelType::kReal:
             return std::make_unique<TextRegression>(settings);
           case LabelType::kSingle:
             break;
         }
         return std::make_unique<TextClassification>(settings);
       }},
  };
  return table;
}

}  // namespace

std::unique_ptr<Task> make_task(const std::string& name, const TaskSettings& settings) {
  const auto found = makers().find(name);
  if (found == makers().end()) {
    std::vector<std::string> names;
    for (const auto& [known, maker] : makers()) names.push_back(known);
    throw ConfigError("task '" + name + "' is not in this build; known: " + join(names, ", "));
  }
  return found->second(settings);
}

}  // namespace bertft
