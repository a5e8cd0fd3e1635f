// A folder of its own for a test that needs tokenizer files; removed at the end of the scope.
#pragma once

#include <string>

namespace bertft::test {

class TempFolder {
 public:
  TempFolder();
  ~TempFolder();
  TempFolder(const TempFolder&) = delete;
  TempFolder& operator=(const TempFolder&) = delete;

  const std::string& path() const { return path_; }
  // Writes a file into the folder; returns the folder's path, so that calls can stand inside others.
  const std::string& write(const std::string& name, const std::string& content) const;

 private:
  std::string path_;
};

}  // namespace bertft::test
