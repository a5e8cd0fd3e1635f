// The memory of all gradients: one flat, aligned, zero-filled block that model, clipping, optimizer and communicator
// share without copies. Where it lives (here: private memory) is this folder's business.
#pragma once

#include <cstddef>
#include <cstdint>

namespace bertft {

class GradientBuffer {
 public:
  // `elements` of `element_bytes` each (4 or 8), zero. Throws ResourceError when there is no memory.
  GradientBuffer(int64_t elements, size_t element_bytes);
  ~GradientBuffer();
  GradientBuffer(const GradientBuffer&) = delete;
  GradientBuffer& operator=(const GradientBuffer&) = delete;

  void* data() const { return data_; }  // page-aligned
  size_t bytes() const { return bytes_; }

 private:
  void* data_ = nullptr;
  size_t bytes_ = 0;
};

}  // namespace bertft
