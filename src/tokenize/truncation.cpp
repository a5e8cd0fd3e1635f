#include "tokenize/truncation.h"

#include <fmt/format.h>

#include <algorithm>

#include "core/error.h"

namespace bertft {
namespace {

// The shorter sequence stays whole while the other gives way; when that is not enough both are halved. The halves
// differ by a token when `room` is odd: the reference gives it to the longer one (b on a tie), Google always to a.
KeptLengths longest_first(size_t a, size_t b, size_t room, Compat compat) {
  const size_t shorter = std::min(a, b);
  if (2 * shorter <= room) return a < b ? KeptLengths{a, room - a} : KeptLengths{room - b, b};
  const size_t half = room / 2;
  const bool a_gets_more = compat == Compat::kGoogle || a > b;
  return a_gets_more ? KeptLengths{room - half, half} : KeptLengths{half, room - half};
}

}  // namespace

KeptLengths kept_lengths(size_t a, size_t b, size_t room, Truncation truncation, Compat compat) {
  if (a + b <= room) return {a, b};
  if (room == 0) return {0, 0};
  if (truncation == Truncation::kOnlyFirst) {
    if (b >= room) {
      throw DataError(
          fmt::format("the second text alone has {} tokens and leaves no room for the first (max_length gives "
                      "{} to both): truncation only_first cannot cut this row. Use longest_first or a larger "
                      "max_length",
                      b, room));
    }
    return {room - b, b};
  }
  return longest_first(a, b, room, compat);
}

}  // namespace bertft
