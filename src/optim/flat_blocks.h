// How an update over a range of the flat buffers is divided among threads: every element is computed alike, whatever
// their number.
#pragma once

#include <algorithm>
#include <cstdint>

namespace bertft {

constexpr int64_t kUpdateBlock = 1 << 15;  // elements per piece of work

// Calls work(first element, elements) for pieces that cover [0, count).
template <typename Work>
void for_each_block(int64_t count, const Work& work) {
  const int64_t blocks = (count + kUpdateBlock - 1) / kUpdateBlock;
#pragma omp parallel for schedule(static)
  for (int64_t b = 0; b < blocks; ++b) {
    const int64_t at = b * kUpdateBlock;
    work(at, std::min(kUpdateBlock, count - at));
  }
}

}  // namespace bertft
