// The bodies of the wire kernels: what one thread of a grid does. The CUDA build launches them on a device; a test runs
// them on the CPU thread by thread over a whole grid. Compiled by both compilers, so nothing but plain C++ is used.
#pragma once

#include <cstdint>

#include "comm/nccl/nccl_functions.h"

#ifdef __CUDACC__
#define BERTFT_HOST_DEVICE __host__ __device__
#else
#define BERTFT_HOST_DEVICE
#endif
#define BERTFT_WIRE_INLINE BERTFT_HOST_DEVICE static inline
#define BERTFT_WIRE_LEVEL device
#include "comm/wire/half_bits.h"
#undef BERTFT_WIRE_LEVEL
#undef BERTFT_WIRE_INLINE

namespace bertft::nccl {

// A thread's place in its grid.
struct GridPlace {
  int64_t thread = 0;
  int64_t threads = 1;
};

// Integers in the order of the floats; never 0 nor ~0 for a finite one.
BERTFT_HOST_DEVICE inline uint32_t ordered_key(float x) {
  const uint32_t bits = wire::device::bits_of(x);
  return (bits & 0x80000000u) != 0 ? ~bits : bits | 0x80000000u;
}

BERTFT_HOST_DEVICE inline float float_of_key(uint32_t key) {
  return wire::device::float_of((key & 0x80000000u) != 0 ? key & 0x7fffffffu : ~key);
}

BERTFT_HOST_DEVICE inline bool is_finite(float x) { return (wire::device::bits_of(x) & 0x7f800000u) != 0x7f800000u; }

// On a device other threads write to the same place; reading first saves most of the atomic operations.
template <typename Word>
BERTFT_HOST_DEVICE inline void raise_to(Word* at, Word value) {
#ifdef __CUDA_ARCH__
  using Atomic = unsigned long long;
  if (*const_cast<volatile Word*>(at) >= value) return;
  if constexpr (sizeof(Word) == sizeof(Atomic)) {
    atomicMax(reinterpret_cast<Atomic*>(at), static_cast<Atomic>(value));
  } else {
    atomicMax(at, value);
  }
#else
  if (*at < value) *at = value;
#endif
}

BERTFT_HOST_DEVICE inline void add_to(uint64_t* at, uint64_t value) {
  if (value == 0) return;
#ifdef __CUDA_ARCH__
  atomicAdd(reinterpret_cast<unsigned long long*>(at), static_cast<unsigned long long>(value));
#else
  *at += value;
#endif
}

// What one thread saw.
class ThreadScan {
 public:
  BERTFT_HOST_DEVICE void see(float x, int64_t index) {
    if (is_finite(x)) {
      const uint32_t key = ordered_key(x);
      if (seen_.greatest < key) seen_.greatest = key;
      if (seen_.inverted_least < ~key) seen_.inverted_least = ~key;
      return;
    }
    if (seen_.nan_count + seen_.inf_count == 0) seen_.inverted_first = ~static_cast<uint64_t>(index);
    if (x != x) {
      ++seen_.nan_count;
    } else {
      ++seen_.inf_count;
    }
  }
  BERTFT_HOST_DEVICE void merge_into(const UnitMarks& marks) const {
    raise_to(&marks.cell->greatest, seen_.greatest);
    raise_to(&marks.cell->inverted_least, seen_.inverted_least);
    if (seen_.nan_count + seen_.inf_count == 0) return;
    raise_to(&marks.cell->inverted_first, seen_.inverted_first);
    add_to(&marks.cell->nan_count, seen_.nan_count);
    add_to(&marks.cell->inf_count, seen_.inf_count);
    *marks.is_sent = 1;
  }

 private:
  ScanCell seen_;
};

// Functions::encode(). `scale` is the power of two itself; 1 for bf16.
BERTFT_HOST_DEVICE inline void encode_thread(const float* x, int64_t n, int64_t first, Type wire, float scale,
                                             uint16_t* out, const UnitMarks& marks, GridPlace place) {
  ThreadScan scan;
  for (int64_t i = place.thread; i < n; i += place.threads) {
    scan.see(x[i], first + i);
    out[i] = wire == Type::kFp16 ? wire::device::fp16_of(x[i] * scale) : wire::device::bf16_of(x[i]);
  }
  scan.merge_into(marks);
}

// Functions::decode(). `scale` undoes that of encode_thread().
BERTFT_HOST_DEVICE inline void decode_thread(const uint16_t* x, int64_t n, Type wire, float scale, float* out,
                                             const UnitMarks& marks, GridPlace place) {
  bool is_every_finite = true;
  for (int64_t i = place.thread; i < n; i += place.threads) {
    const float value = wire == Type::kFp16 ? wire::device::float_of_fp16(x[i]) * scale
                                            : wire::device::float_of(static_cast<uint32_t>(x[i]) << 16);
    is_every_finite = is_every_finite && is_finite(value);
    out[i] = value;
  }
  if (!is_every_finite) *marks.is_summed = 1;
}

// Functions::scan_contribution().
BERTFT_HOST_DEVICE inline void scan_contribution_thread(const float* x, int64_t n, int64_t first,
                                                        const UnitMarks& marks, GridPlace place) {
  ThreadScan scan;
  for (int64_t i = place.thread; i < n; i += place.threads) {
    scan.see(x[i], first + i);
  }
  scan.merge_into(marks);
}

// Functions::scan_sum().
BERTFT_HOST_DEVICE inline void scan_sum_thread(const float* x, int64_t n, const UnitMarks& marks, GridPlace place) {
  bool is_every_finite = true;
  for (int64_t i = place.thread; i < n; i += place.threads) {
    is_every_finite = is_every_finite && is_finite(x[i]);
  }
  if (!is_every_finite) *marks.is_summed = 1;
}

}  // namespace bertft::nccl
