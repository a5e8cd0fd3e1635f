// Responses that all ranks have seen, so that a tensor which was agreed once is later agreed by one bit. Equal on all
// ranks: each changes it by the same calls in the same order. As ResponseCache of Horovod 0.28.
#pragma once

#include <cstddef>
#include <cstdint>
#include <list>
#include <memory>
#include <vector>

#include "comm/coordinator/tensor_lists.h"
#include "comm/coordinator/tensor_traits.h"

namespace bertft {

// The name is known and the traits are equal; it is not known; it is known with other traits.
enum class CacheState { kHit, kMiss, kInvalid };

// Entries are in order of use. Bit numbers ascend from the least to the most recently used entry and are dealt anew by
// `renumber`, at the end of a cycle; between, entries keep theirs, a new one takes over the bit of the entry that it
// evicts, and the bit of an erased entry stands for nothing.
class ResponseCache {
 public:
  // 0: nothing is ever cached.
  explicit ResponseCache(int capacity) : capacity_(capacity) {}
  ResponseCache(const ResponseCache&) = delete;
  ResponseCache& operator=(const ResponseCache&) = delete;

  int capacity() const { return capacity_; }
  // The size of a vector with one bit for each entry.
  int bits() const { return static_cast<int>(by_bit_.size()); }
  CacheState state(int tensor, const SharedTraits& traits) const;
  // REQUIRES that the tensor is cached.
  int bit(int tensor) const;
  // REQUIRES that the bit stands for an entry.
  int tensor(int bit) const { return entry(bit).tensor; }

  // The response about the entry's one tensor. `use` also makes it the most recently used: every rank calls it in the
  // same order, while `peek` is for one rank alone.
  TensorResponse peek(int bit) const { return response(entry(bit)); }
  TensorResponse use(int bit);

  // Puts each tensor of an allreduce response in front, evicting the least recently used entry of a full cache.
  // `traits` are this rank's own of each tensor. REQUIRES that none is cached with other traits: such entries were
  // erased before.
  void put(const TensorResponse& response, const std::vector<SharedTraits>& traits);
  void erase(int bit);
  void renumber();

  int64_t evictions() const { return evictions_; }
  // The tensors by bit, least recently used first. For tests: equal names on all ranks.
  std::vector<int> tensors() const;

 private:
  struct Entry {
    int tensor;
    SharedTraits traits;
    std::shared_ptr<const std::vector<int32_t>> devices;
  };
  using Place = std::list<Entry>::iterator;

  static TensorResponse response(const Entry& entry);
  const Entry& entry(int bit) const;
  void put_one(Entry&& entry);
  int& bit_of(int tensor);

  int capacity_;
  std::list<Entry> entries_;        // most recently used first
  std::vector<Place> by_bit_;       // end() where an entry was erased
  std::vector<int> bit_of_tensor_;  // -1: not cached
  bool is_renumbering_due_ = false;
  int64_t evictions_ = 0;
};

}  // namespace bertft
