#include "comm/coordinator/response_cache.h"

#include <utility>

#include "core/error.h"

namespace bertft {

int& ResponseCache::bit_of(int tensor) {
  const auto place = static_cast<size_t>(tensor);
  if (place >= bit_of_tensor_.size()) {
    bit_of_tensor_.resize(place + 1, -1);
  }
  return bit_of_tensor_[place];
}

int ResponseCache::bit(int tensor) const {
  const auto place = static_cast<size_t>(tensor);
  check(place < bit_of_tensor_.size() && bit_of_tensor_[place] >= 0, "the bit of a tensor that is not cached");
  return bit_of_tensor_[place];
}

const ResponseCache::Entry& ResponseCache::entry(int bit) const {
  check(bit >= 0 && bit < bits(), "a bit beyond the cache");
  const std::list<Entry>::const_iterator place = by_bit_[static_cast<size_t>(bit)];
  check(place != entries_.end(), "the bit of an erased entry");
  return *place;
}

CacheState ResponseCache::state(int tensor, const SharedTraits& traits) const {
  const auto place = static_cast<size_t>(tensor);
  if (place >= bit_of_tensor_.size() || bit_of_tensor_[place] < 0) {
    return CacheState::kMiss;
  }
  const Entry& cached = entry(bit_of_tensor_[place]);
  return same_traits(cached.traits, traits) ? CacheState::kHit : CacheState::kInvalid;
}

TensorResponse ResponseCache::response(const Entry& entry) {
  TensorResponse response;
  response.type = entry.traits->type;
  response.op = entry.traits->op;
  response.devices = entry.devices;
  response.tensors = {entry.tensor};
  response.elements = {entry.traits->elements()};
  return response;
}

TensorResponse ResponseCache::use(int bit) {
  entry(bit);  // checks the bit
  const Place place = by_bit_[static_cast<size_t>(bit)];
  entries_.splice(entries_.begin(), entries_, place);
  is_renumbering_due_ = true;
  return response(*place);
}

void ResponseCache::put(const TensorResponse& response, const std::vector<SharedTraits>& traits) {
  check(response.tensors.size() == traits.size(), "traits for each tensor of a response");
  if (capacity_ == 0) {
    return;
  }
  for (size_t i = 0; i < traits.size(); ++i) {
    put_one({response.tensors[i], traits[i], response.devices});
  }
}

void ResponseCache::put_one(Entry&& entry) {
  const CacheState state = this->state(entry.tensor, entry.traits);
  check(state != CacheState::kInvalid, "a cached tensor is put again with other traits");
  is_renumbering_due_ = true;
  if (state == CacheState::kHit) {
    entries_.splice(entries_.begin(), entries_, by_bit_[static_cast<size_t>(bit(entry.tensor))]);
    return;
  }
  size_t bit = by_bit_.size();
  if (static_cast<int>(entries_.size()) == capacity_) {
    int& evicted = bit_of(entries_.back().tensor);
    bit = static_cast<size_t>(std::exchange(evicted, -1));
    entries_.pop_back();
    ++evictions_;
  } else {
    by_bit_.emplace_back();
  }
  bit_of(entry.tensor) = static_cast<int>(bit);
  entries_.push_front(std::move(entry));
  by_bit_[bit] = entries_.begin();
}

void ResponseCache::erase(int bit) {
  entry(bit);  // checks the bit
  Place& place = by_bit_[static_cast<size_t>(bit)];
  bit_of(place->tensor) = -1;
  entries_.erase(place);
  place = entries_.end();
  is_renumbering_due_ = true;
}

void ResponseCache::renumber() {
  if (!is_renumbering_due_) {
    return;
  }
  by_bit_.resize(entries_.size());
  size_t bit = entries_.size();
  for (Place place = entries_.begin(); place != entries_.end(); ++place) {
    by_bit_[--bit] = place;
    bit_of(place->tensor) = static_cast<int>(bit);
  }
  is_renumbering_due_ = false;
}

std::vector<int> ResponseCache::tensors() const {
  std::vector<int> tensors;
  for (auto entry = entries_.rbegin(); entry != entries_.rend(); ++entry) {
    tensors.push_back(entry->tensor);
  }
  return tensors;
}

}  // namespace bertft
