// The page of all options, docs/configuration.md, written from the same tables that the parser uses.
#pragma once

#include <string>

namespace bertft {

// Markdown: one table a section, and what this build refuses by name.
std::string options_page();

}  // namespace bertft
