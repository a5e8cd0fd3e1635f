// Which files a path, a pattern or a folder of the configuration stands for.
#pragma once

#include <string>
#include <vector>

namespace bertft {

// One thing to read rows from.
struct DataPath {
  std::string path;        // as messages name it
  bool is_folder = false;  // a folder of texts, one file each
  std::vector<std::string>
      classes;                     // its sub-folders that hold .txt files, sorted; empty: the files lie in it directly
  std::vector<std::string> files;  // a file: itself; a folder: its .txt files, sorted class by class
};

// Paths stand for themselves, patterns (*, ?, [...]) for the files and folders they fit, sorted by their bytes; the
// list keeps its order. A path that exists is never a pattern. Layout of a folder of texts:
//   - folder/CLASS/*.txt: each file is a text, its class the name of the sub-folder. Sub-folders without .txt files,
//     hidden names and other files are passed over.
//   - folder/*.txt and no other file: texts without a class.
// Throws DataError for a pattern that fits nothing, a folder of another layout, a path that is listed twice, and
// nothing at all.
std::vector<DataPath> find_data_paths(const std::vector<std::string>& paths);

// The files of all of them in reading order.
std::vector<std::string> expand_paths(const std::vector<std::string>& paths);

}  // namespace bertft
