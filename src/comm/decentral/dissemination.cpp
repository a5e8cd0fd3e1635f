#include "comm/decentral/dissemination.h"

#include "core/error.h"

namespace bertft {

Dissemination::Dissemination(int self, int size) : self_(self), size_(size) {
  check(self >= 0 && self < size, "a participant is one of those that there are");
  while ((int64_t{1} << phases_) < size) ++phases_;
}

int Dissemination::send_to(int phase) const {
  check(phase >= 0 && phase < phases_, "a round has no such phase");
  return static_cast<int>((self_ + (int64_t{1} << phase)) % size_);
}

int Dissemination::receive_from(int phase) const {
  check(phase >= 0 && phase < phases_, "a round has no such phase");
  return static_cast<int>((self_ + size_ - (int64_t{1} << phase)) % size_);
}

}  // namespace bertft
