// Column names in the form of EasyTransfer's inputSchema, for files without a header line.
#pragma once

#include <string>
#include <vector>

namespace bertft {

// "label:str:1,text:str:1" -> label, text. Each part is name:type:length; types are int, float, str and base64, lengths
// are at least 1 (more than 1: that many values joined by commas). Types do not change how cells are read: they are
// texts here. Throws ConfigError naming data.schema and the part.
std::vector<std::string> schema_names(const std::string& schema);

}  // namespace bertft
