#include "tokenize/piece_trie.h"

#include <algorithm>

namespace bertft {

// Places the nodes one after the other. A node's children go to the first base at which all their cells are free; the
// search starts where cells begin to be scarce, so that building stays linear in practice.
class PieceTrie::Builder {
 public:
  Builder(const std::vector<std::pair<std::string_view, int32_t>>& sorted, std::vector<Cell>* cells)
      : sorted_(sorted), cells_(*cells) {}

  void build() {
    cells_.assign(kPadding, {});
    cells_[kRoot].parent = kRoot;  // occupied; no byte leads to it since bases start at 1
    std::vector<Range> open = {{0, sorted_.size(), 0, kRoot}};
    while (!open.empty()) {
      const Range range = open.back();
      open.pop_back();
      place(range, &open);
    }
    cells_.resize(end_ + kPadding);
    cells_.shrink_to_fit();
  }

 private:
  static constexpr size_t kPadding = 512;

  // The keys [begin, end) that share their first `depth` bytes, which lead to `node`.
  struct Range {
    size_t begin;
    size_t end;
    size_t depth;
    uint32_t node;
  };

  void place(const Range& range, std::vector<Range>* open) {
    size_t begin = range.begin;
    if (begin < range.end && sorted_[begin].first.size() == range.depth) {
      if (range.depth > 0) cells_[range.node].id = sorted_[begin].second;
      ++begin;
    }
    std::vector<Range> children;
    std::vector<uint32_t> bytes;
    for (size_t i = begin; i < range.end; ++i) {
      const uint32_t byte = static_cast<unsigned char>(sorted_[i].first[range.depth]);
      if (bytes.empty() || bytes.back() != byte) {
        bytes.push_back(byte);
        children.push_back({i, i, range.depth + 1, 0});
      }
      children.back().end = i + 1;
    }
    if (bytes.empty()) return;
    const uint32_t base = find_base(bytes);
    cells_[range.node].base = base;
    for (size_t i = 0; i < bytes.size(); ++i) {
      children[i].node = base + bytes[i];
      cells_[children[i].node].parent = range.node;
    }
    open->insert(open->end(), children.begin(), children.end());
  }

  // Many children fit only where little is placed yet, so their search starts near the end; the gaps they leave are
  // filled by the many nodes with few children.
  uint32_t find_base(const std::vector<uint32_t>& bytes) {
    size_t at = std::max<size_t>(first_to_try_, bytes.front() + 1);
    const bool is_wide = bytes.size() > kFewChildren;
    if (is_wide) at = std::max(at, end_ - std::min(end_, kNearEnd));
    size_t occupied = 0;
    for (const size_t start = at;; ++at) {
      if (at + kPadding > cells_.size()) cells_.resize(cells_.size() * 2 + kPadding);
      if (cells_[at].parent != kNowhere) {
        ++occupied;
        continue;
      }
      const size_t base = at - bytes.front();
      const auto is_free = [&](uint32_t byte) { return cells_[base + byte].parent == kNowhere; };
      if (!std::all_of(bytes.begin(), bytes.end(), is_free)) continue;
      const size_t seen = at - start + 1;
      if (!is_wide && seen > kScarceAfter && occupied * 20 > seen * 19) first_to_try_ = at;
      end_ = std::max(end_, base + bytes.back() + 1);
      return static_cast<uint32_t>(base);
    }
  }

  static constexpr size_t kScarceAfter = 64;
  static constexpr size_t kFewChildren = 4;
  static constexpr size_t kNearEnd = 256;

  const std::vector<std::pair<std::string_view, int32_t>>& sorted_;
  std::vector<Cell>& cells_;
  size_t first_to_try_ = 1;
  size_t end_ = 0;  // one past the last occupied cell
};

PieceTrie::PieceTrie(const std::vector<std::pair<std::string_view, int32_t>>& sorted) {
  Builder(sorted, &cells_).build();
}

uint32_t PieceTrie::walk(uint32_t node, std::string_view bytes) const {
  for (size_t i = 0; i < bytes.size() && node != kNowhere; ++i) node = child(node, bytes[i]);
  return node;
}

PieceTrie::Match PieceTrie::longest_prefix(uint32_t node, std::string_view text) const {
  Match match{-1, 0};
  for (size_t i = 0; i < text.size(); ++i) {
    node = child(node, text[i]);
    if (node == kNowhere) break;
    if (cells_[node].id >= 0) match = {cells_[node].id, i + 1};
  }
  return match;
}

}  // namespace bertft
