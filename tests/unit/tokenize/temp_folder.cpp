#include "temp_folder.h"

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <stdexcept>

namespace bertft::test {

TempFolder::TempFolder() {
  std::string name = (std::filesystem::temp_directory_path() / "bertft_tokenize_XXXXXX").string();
  if (mkdtemp(name.data()) == nullptr) throw std::runtime_error("cannot make a temporary folder");
  path_ = name;
}

TempFolder::~TempFolder() {
  std::error_code ignored;
  std::filesystem::remove_all(path_, ignored);
}

const std::string& TempFolder::write(const std::string& name, const std::string& content) const {
  std::ofstream file(std::filesystem::path(path_) / name, std::ios::binary);
  file << content;
  if (!file.flush()) throw std::runtime_error("cannot write " + name);
  return path_;
}

}  // namespace bertft::test
