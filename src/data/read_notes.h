// What a reader met and dealt with, in words for the log.
#pragma once

#include <string>
#include <vector>

#include "data/table.h"

namespace bertft {

// What a user should look at: rows left out or broken, replaced parts, keys without a column; one line each.
std::vector<std::string> read_warnings(const ReadNotes& notes);

}  // namespace bertft
