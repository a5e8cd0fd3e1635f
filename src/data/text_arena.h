// Memory for texts that live as long as their table: pieces never move, and all go at once.
#pragma once

#include <cstddef>
#include <memory>
#include <string_view>
#include <vector>

namespace bertft {

class TextArena {
 public:
  // A copy of `text` that stays where it is until the arena is destroyed, also when the arena is moved. Its data() is
  // never null, so that an empty cell and a missing one can be told apart.
  std::string_view copy(std::string_view text);

  // Takes over all memory of another arena.
  void absorb(TextArena&& other);

  // Of all copies.
  size_t bytes() const { return bytes_; }

 private:
  std::vector<std::unique_ptr<char[]>> blocks_;
  char* free_ = nullptr;  // the rest of the block that small copies go to
  size_t free_bytes_ = 0;
  size_t bytes_ = 0;
};

}  // namespace bertft
