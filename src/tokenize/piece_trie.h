// A byte trie over the pieces of a vocabulary, laid out as a double array: one load and one compare for each byte of a
// word, whatever the size of the vocabulary. Build once, then read from any number of threads.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <utility>
#include <vector>

namespace bertft {

class PieceTrie {
 public:
  // `sorted`: different keys with ids >= 0, sorted by bytes. An empty key is allowed and never matched.
  explicit PieceTrie(const std::vector<std::pair<std::string_view, int32_t>>& sorted);

  static constexpr uint32_t kRoot = 0;
  static constexpr uint32_t kNowhere = ~0U;

  // The node reached from `node` by all of `bytes`, or kNowhere.
  uint32_t walk(uint32_t node, std::string_view bytes) const;

  struct Match {
    int32_t id;    // -1: no key is a prefix
    size_t bytes;  // length of the key below `node`
  };
  // The longest key below `node` that is a prefix of `text`, of at least one byte.
  Match longest_prefix(uint32_t node, std::string_view text) const;

 private:
  // A child by byte b of node n stands at cells_[n].base + b and has parent n. Cells are found by the byte alone, so a
  // free one is a cell whose parent is kNowhere.
  struct Cell {
    uint32_t base = 0;
    uint32_t parent = kNowhere;
    int32_t id = -1;
  };

  class Builder;

  uint32_t child(uint32_t node, char byte) const {
    const uint32_t at = cells_[node].base + static_cast<unsigned char>(byte);
    return cells_[at].parent == node ? at : kNowhere;
  }

  std::vector<Cell> cells_;  // padded so that base + 255 is always inside
};

}  // namespace bertft
