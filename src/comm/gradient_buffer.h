// The memory of all gradients: one flat, aligned, zero-filled block that model, clipping, optimizer and communicator
// share without copies. Where it lives (private memory, a segment that the ranks of a node share, or a device) is this
// folder's business.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>

#include "comm/shared_memory.h"

namespace bertft {

enum class GradientMemory { kPrivate, kShared };

class GradientBuffer {
 public:
  // `elements` of `element_bytes` each (4 or 8), zero. Throws ResourceError when there is no memory.
  GradientBuffer(int64_t elements, size_t element_bytes, GradientMemory memory = GradientMemory::kPrivate);
  // Over memory from elsewhere, of a device: `elements` of `element_bytes`, kept as long as this object lives.
  GradientBuffer(std::shared_ptr<void> device_memory, int64_t elements, size_t element_bytes);
  ~GradientBuffer();
  GradientBuffer(const GradientBuffer&) = delete;
  GradientBuffer& operator=(const GradientBuffer&) = delete;

  void* data() const { return data_; }  // page-aligned
  size_t bytes() const { return bytes_; }
  size_t element_bytes() const { return element_bytes_; }
  bool is_on_device() const { return device_memory_ != nullptr; }
  // The segment; none for private memory.
  const SharedMemory& shared() const { return shared_; }

 private:
  void* data_ = nullptr;
  size_t bytes_ = 0;
  size_t element_bytes_ = 0;
  SharedMemory shared_;
  std::shared_ptr<void> device_memory_;
};

}  // namespace bertft
