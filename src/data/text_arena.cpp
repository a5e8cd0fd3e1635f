#include "data/text_arena.h"

#include <cstring>
#include <iterator>
#include <utility>

namespace bertft {
namespace {

constexpr size_t kBlockBytes = 64 * 1024;

}  // namespace

std::string_view TextArena::copy(std::string_view text) {
  if (text.empty()) return std::string_view("", 0);
  bytes_ += text.size();
  if (text.size() > free_bytes_) {
    if (text.size() > kBlockBytes / 4) {  // a block of its own
      blocks_.push_back(std::make_unique_for_overwrite<char[]>(text.size()));
      std::memcpy(blocks_.back().get(), text.data(), text.size());
      return {blocks_.back().get(), text.size()};
    }
    blocks_.push_back(std::make_unique_for_overwrite<char[]>(kBlockBytes));
    free_ = blocks_.back().get();
    free_bytes_ = kBlockBytes;
  }
  std::memcpy(free_, text.data(), text.size());
  const std::string_view copied(free_, text.size());
  free_ += text.size();
  free_bytes_ -= text.size();
  return copied;
}

void TextArena::absorb(TextArena&& other) {
  blocks_.insert(blocks_.end(), std::make_move_iterator(other.blocks_.begin()),
                 std::make_move_iterator(other.blocks_.end()));
  bytes_ += other.bytes_;
  other = TextArena();
}

}  // namespace bertft
