// The gradients that a transport sums, from attach() on: what they consist of, which jobs may be made of them, and what
// is said of values in them that are no numbers. What all transports have in common here.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "comm/native/topology.h"
#include "comm/transport.h"

namespace bertft::native {

class AttachedGradients {
 public:
  AttachedGradients() = default;  // none yet
  AttachedGradients(const GradientBuffer& buffer, WireMap map);

  explicit operator bool() const { return data_ != nullptr; }
  const WireMap& map() const { return map_; }
  std::byte* data() const { return data_; }  // of this rank
  int64_t elements() const { return elements_; }
  size_t element_bytes() const { return element_bytes_; }
  // Of element `index` in a buffer like this one.
  size_t offset_of(int64_t index) const { return static_cast<size_t>(index) * element_bytes_; }

  // Throws InternalError for a job that cannot be one of these gradients.
  void check_job(const ReduceJob& job) const;
  // Looks at `count` elements that `rank` contributes, the first of which is element `first` of the buffer. Nothing
  // when all are finite.
  std::optional<NonFinite> find_non_finite(const ReduceJob& job, int rank, int64_t first, int64_t count,
                                           const void* values) const;

 private:
  WireMap map_;
  std::byte* data_ = nullptr;
  int64_t elements_ = 0;
  size_t element_bytes_ = 0;
};

// Collective, through `all_gather`. Throws CommError on all ranks, with who has what, when their buffers differ in
// size.
void require_equal_buffers(const GradientBuffer& buffer, const Topology& topology,
                           const std::function<std::vector<std::string>(const std::string&)>& all_gather);

}  // namespace bertft::native
