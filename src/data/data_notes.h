// What is known of a data set beyond its rows: where it comes from and what reading and tokenizing it came across.
// All of the data report is made of this and of the per-row arrays, so a cached data set reports what a fresh one does.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "data/table.h"

namespace bertft {

// A character that is in no piece of the vocabulary.
struct UnknownCharacter {
  char32_t code = 0;
  int64_t count = 0;  // occurrences in the rows that were searched
};

struct DataNotes {
  std::vector<std::string> paths;        // of the files, in reading order
  ReadNotes read;                        // of all files
  bool is_pair = false;                  // rows have two texts
  std::string label_column;              // its name; "" = none
  std::vector<std::string> label_texts;  // the distinct texts of label cells, in order of appearance
  // The most frequent first (equal ones by code point), at most ten, from the first 10,000 rows with [UNK]. Words can
  // be unknown for other reasons, such as their length: then there are fewer.
  std::vector<UnknownCharacter> unknown_characters;
};

// The files as a message about all of them names them: "a.tsv", "a.tsv and 3 more files".
inline std::string shown_files(const std::vector<std::string>& paths) {
  if (paths.empty()) return "data in memory";
  if (paths.size() == 1) return paths[0];
  return paths[0] + " and " + std::to_string(paths.size() - 1) + " more files";
}

}  // namespace bertft
