#include "tokenize/json_file.h"

#include <fmt/format.h>

#include <algorithm>

#include "core/error.h"
#include "core/files.h"

namespace bertft {

JsonFile JsonFile::read(const std::string& path) {
  const std::string content = read_file(path);
  const std::string impostor = explain_impostor(std::string_view(content).substr(0, 512), path);
  if (!impostor.empty()) throw DataError(impostor);
  JsonFile file;
  file.path_ = path;
  try {
    file.root_ = nlohmann::json::parse(content);
  } catch (const nlohmann::json::parse_error& error) {
    const auto end = content.begin() + static_cast<ptrdiff_t>(std::min(error.byte, content.size()));
    const auto line = 1 + std::count(content.begin(), end, '\n');
    throw DataError(
        fmt::format("{}:{}: not valid JSON at byte {}: copy the file again or mend it there", path, line, error.byte));
  }
  if (!file.root_.is_object())
    throw DataError(fmt::format("{}:1: expected a JSON object, found {}", path, file.root_.type_name()));
  return file;
}

const nlohmann::json* JsonFile::find(const std::string& key) const {
  const auto found = root_.find(key);
  return found == root_.end() || found->is_null() ? nullptr : &*found;
}

std::optional<bool> JsonFile::boolean(const std::string& key) const {
  const nlohmann::json* value = find(key);
  if (value == nullptr) return std::nullopt;
  if (!value->is_boolean()) fail(key, fmt::format("expected true or false, found {}", value->dump()));
  return value->get<bool>();
}

std::optional<std::string> JsonFile::text(const std::string& key) const {
  const nlohmann::json* value = find(key);
  if (value == nullptr) return std::nullopt;
  if (!value->is_string()) fail(key, fmt::format("expected a text, found {}", value->type_name()));
  return value->get<std::string>();
}

std::optional<double> JsonFile::number(const std::string& key) const {
  const nlohmann::json* value = find(key);
  if (value == nullptr) return std::nullopt;
  if (!value->is_number()) fail(key, fmt::format("expected a number, found {}", value->type_name()));
  return value->get<double>();
}

void JsonFile::fail(const std::string& key, const std::string& message) const {
  throw DataError(fmt::format("{}: {}: {}", path_, key, message));
}

}  // namespace bertft
