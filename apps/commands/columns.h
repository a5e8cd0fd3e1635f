// --columns text=NAME,label=NAME of evaluate and predict.
#pragma once

#include <string>

#include "data/options.h"

namespace bertft {

// Overrides `columns` with what `assignments` says. Throws ConfigError for a role that does not exist.
void apply_columns(ColumnNames& columns, const std::string& assignments);

}  // namespace bertft
