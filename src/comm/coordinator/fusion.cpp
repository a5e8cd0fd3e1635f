#include "comm/coordinator/fusion.h"

#include <deque>
#include <utility>

#include "core/error.h"

namespace bertft {

namespace {

constexpr int64_t kAtomicElements = 64;  // FUSION_BUFFER_ATOMIC_UNIT
constexpr int64_t kWidestElement = 8;    // float64

int64_t padded_bytes(const TensorResponse& response, int64_t padding) {
  if (response.elements.empty()) {
    return 0;
  }
  const int64_t bytes = response.elements.front() * bytes_of(response.type);
  return (bytes + padding - 1) / padding * padding;
}

bool may_join(const TensorResponse& first, const TensorResponse& other) {
  return other.response == first.response && other.type == first.type && other.op == first.op &&
         (other.devices == first.devices || *other.devices == *first.devices);
}

// Moves out of `waiting` whatever joins `first`.
void join(TensorResponse& first, std::deque<TensorResponse>& waiting, const FusionOptions& options) {
  int64_t joined_bytes = padded_bytes(first, options.padding_bytes);
  int64_t skipped_bytes = 0;
  std::vector<TensorResponse> skipped;
  while (!waiting.empty()) {
    TensorResponse& next = waiting.front();
    const int64_t bytes = padded_bytes(next, options.padding_bytes);
    if (may_join(first, next) && bytes <= options.threshold_bytes - joined_bytes) {
      joined_bytes += bytes;
      first.tensors.push_back(next.tensors.front());
      first.elements.push_back(next.elements.front());
      waiting.pop_front();
      continue;
    }
    skipped_bytes += bytes;
    if (skipped_bytes > options.threshold_bytes - joined_bytes) {
      break;
    }
    skipped.push_back(std::move(next));
    waiting.pop_front();
  }
  while (!skipped.empty()) {
    waiting.push_front(std::move(skipped.back()));
    skipped.pop_back();
  }
}

}  // namespace

int64_t rounded_threshold(int64_t threshold_bytes, int local_size) {
  if (local_size == 0) {
    return threshold_bytes;
  }
  const int64_t multiple = local_size * kWidestElement * kAtomicElements;
  return (threshold_bytes + multiple - 1) / multiple * multiple;
}

std::vector<TensorResponse> fused(std::vector<TensorResponse> responses, const FusionOptions& options) {
  std::deque<TensorResponse> waiting(std::make_move_iterator(responses.begin()),
                                     std::make_move_iterator(responses.end()));
  std::vector<TensorResponse> result;
  while (!waiting.empty()) {
    TensorResponse first = std::move(waiting.front());
    waiting.pop_front();
    check(first.tensors.size() == 1, "only responses about one tensor are fused");
    if (first.response == ResponseType::kAllreduce) {
      join(first, waiting, options);
    }
    result.push_back(std::move(first));
  }
  return result;
}

}  // namespace bertft
