// The cache: hits, numbers of bits, eviction, gaps.
#include "comm/coordinator/response_cache.h"

#include "core/error.h"
#include "tests/support/test.h"

namespace bertft {

namespace {

SharedTraits traits_of(std::vector<int64_t> shape, TensorType type = TensorType::kFloat32) {
  return std::make_shared<const TensorTraits>(TensorTraits{.type = type, .shape = std::move(shape)});
}

void put(ResponseCache& cache, const std::vector<int>& tensors, const SharedTraits& traits) {
  TensorResponse response;
  response.devices = std::make_shared<const std::vector<int32_t>>(2, kCpuDevice);
  response.tensors = tensors;
  cache.put(response, std::vector<SharedTraits>(tensors.size(), traits));
}

}  // namespace

TEST_CASE("a cached tensor is a hit with the same traits and invalid with others") {
  ResponseCache cache(8);
  CHECK(cache.state(5, traits_of({2, 3})) == CacheState::kMiss);
  put(cache, {5}, traits_of({2, 3}));
  CHECK(cache.state(5, traits_of({2, 3})) == CacheState::kHit);
  CHECK(cache.state(5, traits_of({3, 2})) == CacheState::kInvalid);
  CHECK(cache.state(5, traits_of({2, 3}, TensorType::kFloat16)) == CacheState::kInvalid);
  CHECK(cache.state(4, traits_of({2, 3})) == CacheState::kMiss);
  CHECK_THROWS_AS(put(cache, {5}, traits_of({7})), InternalError);  // has to be erased first
}

TEST_CASE("a fused response is cached as one response for each tensor") {
  ResponseCache cache(8);
  put(cache, {3, 1, 2}, traits_of({2, 3}));
  cache.renumber();
  CHECK(cache.tensors() == std::vector<int>{3, 1, 2});
  const TensorResponse response = cache.peek(cache.bit(1));
  CHECK(response.tensors == std::vector<int>{1});
  CHECK(response.elements == std::vector<int64_t>{6});
  CHECK(response.type == TensorType::kFloat32);
  CHECK(*response.devices == std::vector<int32_t>{kCpuDevice, kCpuDevice});
}

TEST_CASE("bits ascend from the least recently used entry, and are dealt anew by renumber only") {
  ResponseCache cache(8);
  put(cache, {10, 11, 12}, traits_of({1}));
  cache.renumber();
  CHECK(cache.bit(10) == 0);
  CHECK(cache.bit(12) == 2);
  cache.use(0);  // 10 becomes the most recently used one
  CHECK(cache.bit(10) == 0);
  cache.renumber();
  CHECK(cache.tensors() == std::vector<int>{11, 12, 10});
  CHECK(cache.bit(10) == 2);
  CHECK(cache.bit(11) == 0);
  put(cache, {11}, traits_of({1}));  // put of a hit counts as use
  cache.renumber();
  CHECK(cache.tensors() == std::vector<int>{12, 10, 11});
  cache.peek(0);
  cache.renumber();
  CHECK(cache.tensors() == std::vector<int>{12, 10, 11});
}

TEST_CASE("a full cache evicts its least recently used entry, whose bit the new one takes") {
  ResponseCache cache(3);
  put(cache, {0, 1, 2}, traits_of({1}));
  cache.renumber();
  cache.use(0);
  cache.renumber();  // 1, 2, 0
  put(cache, {7}, traits_of({1}));
  CHECK(cache.bit(7) == 0);
  CHECK(cache.state(1, traits_of({1})) == CacheState::kMiss);
  CHECK(cache.evictions() == 1);
  cache.renumber();
  CHECK(cache.tensors() == std::vector<int>{2, 0, 7});
  put(cache, {20, 21, 22, 23, 24}, traits_of({1}));  // more than there is room for, in one response
  cache.renumber();
  CHECK(cache.tensors() == std::vector<int>{22, 23, 24});
  CHECK(cache.bits() == 3);
}

TEST_CASE("an erased entry leaves a gap among the bits until they are dealt anew") {
  ResponseCache cache(4);
  put(cache, {0, 1, 2}, traits_of({1}));
  cache.renumber();
  cache.erase(1);
  CHECK(cache.bits() == 3);
  CHECK(cache.bit(2) == 2);
  CHECK(cache.state(1, traits_of({1})) == CacheState::kMiss);
  CHECK_THROWS_AS(cache.peek(1), InternalError);
  CHECK_THROWS_AS(cache.erase(1), InternalError);
  CHECK_THROWS_AS(cache.peek(3), InternalError);
  put(cache, {9}, traits_of({1}));  // not into the gap
  CHECK(cache.bit(9) == 3);
  cache.renumber();
  CHECK(cache.tensors() == std::vector<int>{0, 2, 9});
  CHECK(cache.bits() == 3);
}

TEST_CASE("a cache of capacity 0 keeps nothing") {
  ResponseCache cache(0);
  put(cache, {0}, traits_of({1}));
  CHECK(cache.state(0, traits_of({1})) == CacheState::kMiss);
  CHECK(cache.bits() == 0);
}

}  // namespace bertft
