#include "comm/native/attached_gradients.h"

#include <fmt/format.h>

#include <utility>

#include "comm/wire/non_finite.h"
#include "core/error.h"

namespace bertft::native {

AttachedGradients::AttachedGradients(const GradientBuffer& buffer, WireMap map)
    : map_(std::move(map)),
      data_(static_cast<std::byte*>(buffer.data())),
      elements_(static_cast<int64_t>(buffer.bytes() / buffer.element_bytes())),
      element_bytes_(buffer.element_bytes()) {}

void AttachedGradients::check_job(const ReduceJob& job) const {
  check(data_ != nullptr, "a sum before attach()");
  check(job.range.begin >= 0 && job.range.begin <= job.range.end && job.range.end <= elements_,
        "a range outside the gradient buffer");
  check(job.range.begin % kAlignmentElements == 0, "a range that does not begin on an aligned border");
  check(job.wire == WireType::kFp32 || element_bytes_ == sizeof(float), "doubles travel as they are");
}

std::optional<NonFinite> AttachedGradients::find_non_finite(const ReduceJob& job, int rank, int64_t first,
                                                            int64_t count, const void* values) const {
  const auto found = element_bytes_ == sizeof(float) ? scan_non_finite(static_cast<const float*>(values), count)
                                                     : scan_non_finite(static_cast<const double*>(values), count);
  if (!found) return std::nullopt;
  return NonFinite{rank,      first + found->first, job.step, job.unit, found->nan_count, found->inf_count, found->min,
                   found->max};
}

void require_equal_buffers(const GradientBuffer& buffer, const Topology& topology,
                           const std::function<std::vector<std::string>(const std::string&)>& all_gather) {
  const std::vector<std::string> sizes = all_gather(
      fmt::format("{} elements of {} bytes", buffer.bytes() / buffer.element_bytes(), buffer.element_bytes()));
  for (size_t rank = 0; rank < sizes.size(); ++rank) {
    if (sizes[rank] == sizes.front()) continue;
    throw CommError(fmt::format("{} has gradients of {}, {} of {}: the ranks train different models",
                                topology.name_of(static_cast<int>(rank)), sizes[rank], topology.name_of(0),
                                sizes.front()));
  }
}

}  // namespace bertft::native
