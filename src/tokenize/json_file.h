// JSON files of a tokenizer folder: parsing with file, line and byte in the message, and typed access to keys.
// Errors are DataError throughout. Include this in .cpp files only: the JSON header is large.
#pragma once

#include <nlohmann/json.hpp>
#include <optional>
#include <string>

namespace bertft {

// A JSON object and the file it came from. Keys that are absent and keys that are null are told apart by has().
class JsonFile {
 public:
  // Reads and parses `path`, which must hold one object.
  static JsonFile read(const std::string& path);

  // An object that stands for a file that is not there: it has no keys.
  JsonFile() = default;

  const std::string& path() const { return path_; }
  const nlohmann::json& root() const { return root_; }
  bool has(const std::string& key) const { return root_.contains(key); }

  // The value of a key; nothing when it is absent or null. Another type than asked for throws, naming file and key.
  std::optional<bool> boolean(const std::string& key) const;
  std::optional<std::string> text(const std::string& key) const;
  std::optional<double> number(const std::string& key) const;

  // "path: key: message" as a DataError.
  [[noreturn]] void fail(const std::string& key, const std::string& message) const;

 private:
  const nlohmann::json* find(const std::string& key) const;

  std::string path_;
  nlohmann::json root_ = nlohmann::json::object();
};

}  // namespace bertft
