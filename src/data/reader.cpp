#include "data/reader.h"

#include <utility>

namespace bertft {

Table read_table(const std::string& path, const TableRequest& request) {
  return read_rest(*open_rows({path}, request));
}

Table parse_table(const std::string& path, std::string content, const TableRequest& request) {
  return read_rest(*open_rows(path, memory_source(std::move(content)), request));
}

}  // namespace bertft
