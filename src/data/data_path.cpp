#include "data/data_path.h"

#include <fmt/format.h>
#include <glob.h>

#include <algorithm>
#include <filesystem>
#include <set>

#include "core/error.h"
#include "core/text.h"

namespace bertft {
namespace {

namespace fs = std::filesystem;

bool is_pattern(const std::string& path) { return path.find_first_of("*?[") != std::string::npos; }

std::vector<std::string> fitting(const std::string& pattern) {
  glob_t found{};
  const int result = ::glob(pattern.c_str(), GLOB_NOSORT | GLOB_ERR, nullptr, &found);
  std::vector<std::string> paths(found.gl_pathv, found.gl_pathv + found.gl_pathc);
  ::globfree(&found);
  if (result == GLOB_NOSPACE) throw ResourceError(pattern + ": no memory for the files that fit this pattern");
  if (result == GLOB_ABORTED) throw DataError(pattern + ": a folder of this pattern cannot be read");
  if (paths.empty()) throw DataError(pattern + ": no file fits this pattern. Check the path");
  std::sort(paths.begin(), paths.end());
  return paths;
}

struct FolderContent {
  std::vector<std::string> folders;
  std::vector<std::string> texts;   // *.txt
  std::vector<std::string> others;  // files
};

FolderContent list_folder(const std::string& folder) {
  FolderContent content;
  std::error_code error;
  for (fs::directory_iterator entry(folder, error), end; !error && entry != end; entry.increment(error)) {
    const std::string path = entry->path().string();
    std::error_code unknown;
    if (entry->path().filename().string().starts_with('.')) continue;
    if (entry->is_directory(unknown)) {
      content.folders.push_back(path);
    } else {
      (entry->path().extension() == ".txt" ? content.texts : content.others).push_back(path);
    }
  }
  if (error) throw DataError(fmt::format("cannot read folder {}: {}", folder, error.message()));
  std::sort(content.folders.begin(), content.folders.end());
  std::sort(content.texts.begin(), content.texts.end());
  return content;
}

DataPath text_folder(std::string folder) {
  while (folder.size() > 1 && folder.back() == '/') folder.pop_back();
  DataPath found{.path = folder, .is_folder = true, .classes = {}, .files = {}};
  const FolderContent top = list_folder(folder);
  for (const std::string& sub_folder : top.folders) {
    std::vector<std::string> texts = list_folder(sub_folder).texts;
    if (texts.empty()) continue;
    found.classes.push_back(fs::path(sub_folder).filename().string());
    found.files.insert(found.files.end(), texts.begin(), texts.end());
  }
  if (found.classes.empty() && top.others.empty()) found.files = top.texts;
  if (!found.files.empty()) return found;
  throw DataError(fmt::format(
      "{} is a folder, but not one of texts: it has {}. Name a file or a pattern such as {}/*.tsv, or put .txt files, "
      "one "
      "text each, into a sub-folder for each class",
      folder, top.others.empty() ? "no .txt files in it or in its sub-folders" : "files other than .txt", folder));
}

}  // namespace

std::vector<DataPath> find_data_paths(const std::vector<std::string>& paths) {
  std::vector<DataPath> found;
  std::set<std::string> seen;
  const auto add = [&](const std::string& path) {
    if (!seen.insert(fs::path(path).lexically_normal().string()).second) {
      throw DataError(path + ": this path is listed twice, and its rows would be read twice. Remove one");
    }
    std::error_code error;
    if (fs::is_directory(path, error)) {
      found.push_back(text_folder(path));
    } else {
      found.push_back({.path = path, .is_folder = false, .classes = {}, .files = {path}});
    }
  };
  for (const std::string& path : paths) {
    std::error_code error;
    if (!is_pattern(path) || fs::exists(path, error)) {
      add(path);
    } else {
      for (const std::string& one : fitting(path)) add(one);
    }
  }
  if (found.empty()) throw DataError("there is no data file to read. Name at least one");
  return found;
}

std::vector<std::string> expand_paths(const std::vector<std::string>& paths) {
  std::vector<std::string> files;
  for (const DataPath& path : find_data_paths(paths)) files.insert(files.end(), path.files.begin(), path.files.end());
  return files;
}

}  // namespace bertft
