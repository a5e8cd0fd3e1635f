// Whether all ranks have the same layout, found out once at the start: afterwards only numbers of units travel. Equal
// hashes settle it with 8 bytes a rank; only when they differ are names exchanged, to say what differs first and where.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "core/layout.h"

namespace bertft {

using AllGather = std::function<std::vector<std::string>(const std::string& mine)>;

// The lines that are compared, in order: what there is of both, then each parameter (name, shape, type, units), then
// each unit (elements).
std::vector<std::string> layout_lines(const Layout& layout, const std::string& dtype);
// Of those lines: equal on two ranks exactly when all lines are.
uint64_t layout_hash(const std::vector<std::string>& lines);

// Pure: what the ranks' texts (rank r's is texts[r]) differ in, "ranks 0, 2-3: A; rank 1: B"; "" when all are equal.
// At most four texts are shown.
std::string describe_difference(const std::vector<std::string>& texts);

// Collective over all ranks. Returns the hash; throws CommError, on every rank the same, when two ranks differ.
uint64_t check_layout(const Layout& layout, const std::string& dtype, const AllGather& all_gather);

}  // namespace bertft
