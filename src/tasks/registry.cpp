#include "tasks/registry.h"

#include <functional>
#include <map>
#include <utility>

#include "core/error.h"
#include "core/text.h"
#include "tasks/text_classification.h"

namespace bertft {
namespace {

using Maker = std::function<std::unique_ptr<Task>(LabelTable)>;

const std::map<std::string, Maker>& makers() {
  static const std::map<std::string, Maker> table = {
      {"text_classification",
       [](LabelTable labels) { return std::make_unique<TextClassification>(std::move(labels)); }},
  };
  return table;
}

}  // namespace

std::unique_ptr<Task> make_task(const std::string& name, LabelTable labels) {
  const auto found = makers().find(name);
  if (found == makers().end()) {
    std::vector<std::string> names;
    for (const auto& [known, maker] : makers()) names.push_back(known);
    throw ConfigError("task '" + name + "' is not in this build; known: " + join(names, ", "));
  }
  return found->second(std::move(labels));
}

}  // namespace bertft
