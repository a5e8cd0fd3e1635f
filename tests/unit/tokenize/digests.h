// Digests of tokenizer results in the form of tests/golden/tokenize/*.txt, and those files.
// The byte forms are defined in tests/golden/tokenize/reference.py.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "tokenize/bert_normalizer.h"

namespace bertft::test {

inline constexpr char kTextEnd = '\xfe';

// Appends the words of texts to a string: each word and 0xFF, each text and 0xFE.
class WordBytes : public WordVisitor {
 public:
  bool word(std::string_view word, int32_t /*characters*/) override {
    bytes.append(word);
    bytes.push_back('\xff');
    return true;
  }
  void end_text() { bytes.push_back(kTextEnd); }
  std::string bytes;
};

// Appends ids as little-endian 32-bit numbers, closed by -1.
void append_ids(const std::vector<int32_t>& ids, std::string* bytes);

// The first 32 digits of SHA-256.
std::string digest(std::string_view bytes);

// A table of digests: a line of column names, then a row for each block.
struct DigestTable {
  std::vector<std::string> columns;
  std::vector<std::vector<std::string>> rows;
};
DigestTable read_digest_table(const std::string& path);

// tests/golden/tokenize/`name`; tests run in the root of the repository.
std::string golden_path(const std::string& name);

// Computes `digest_of(row, column)` for every cell that is not "-", on all cores, and reports those that differ, at
// most ten by name.
void check_digests(const DigestTable& table, const std::function<std::string(size_t row, size_t column)>& digest_of);

}  // namespace bertft::test
