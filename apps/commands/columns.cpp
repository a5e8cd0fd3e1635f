#include "commands/columns.h"

#include <sstream>

#include "core/error.h"

namespace bertft {

void apply_columns(ColumnNames& columns, const std::string& assignments) {
  std::istringstream stream(assignments);
  for (std::string assignment; std::getline(stream, assignment, ',');) {
    const size_t equals = assignment.find('=');
    const std::string role = assignment.substr(0, equals);
    std::string* target = role == "text"        ? &columns.text
                          : role == "text_pair" ? &columns.text_pair
                          : role == "label"     ? &columns.label
                          : role == "id"        ? &columns.id
                                                : nullptr;
    if (equals == std::string::npos || target == nullptr) {
      throw ConfigError("--columns: '" + assignment + "' is not role=NAME; roles are text, text_pair, label, id");
    }
    if (target == &columns.label) columns.labels.clear();
    *target = assignment.substr(equals + 1);
  }
}

}  // namespace bertft
