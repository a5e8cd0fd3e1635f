// A fresh folder for one test, removed with all its content at the end of the scope.
#pragma once

#include <string>
#include <string_view>

namespace bertft::test {

class TempFolder {
 public:
  TempFolder();
  ~TempFolder();
  TempFolder(const TempFolder&) = delete;
  TempFolder& operator=(const TempFolder&) = delete;

  const std::string& path() const { return path_; }
  std::string operator/(const std::string& name) const { return path_ + "/" + name; }

  // Writes a file into the folder, making folders on the way; returns its path.
  std::string write(const std::string& name, std::string_view content) const;

 private:
  std::string path_;
};

}  // namespace bertft::test
