#include "comm/gradient_buffer.h"

#include <fmt/format.h>
#include <sys/mman.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <utility>

#include "core/error.h"

namespace bertft {

GradientBuffer::GradientBuffer(int64_t elements, size_t element_bytes, GradientMemory memory)
    : bytes_(std::max<size_t>(static_cast<size_t>(elements) * element_bytes, 1)), element_bytes_(element_bytes) {
  if (memory == GradientMemory::kShared) {
    shared_ = SharedMemory::create(bytes_, "bertft gradients");
    data_ = shared_.data();
    return;
  }
  data_ = ::mmap(nullptr, bytes_, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (data_ == MAP_FAILED) {
    throw ResourceError(fmt::format("no memory for {} bytes of gradients: {}. Use a smaller model or a larger machine",
                                    bytes_, std::strerror(errno)));
  }
  ::madvise(data_, bytes_, MADV_HUGEPAGE);  // a hint: failure only costs speed
}

GradientBuffer::GradientBuffer(std::shared_ptr<void> device_memory, int64_t elements, size_t element_bytes)
    : data_(device_memory.get()),
      bytes_(static_cast<size_t>(elements) * element_bytes),
      element_bytes_(element_bytes),
      device_memory_(std::move(device_memory)) {}

GradientBuffer::~GradientBuffer() {
  if (!shared_ && !is_on_device()) ::munmap(data_, bytes_);
}

}  // namespace bertft
