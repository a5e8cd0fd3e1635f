// The bodies of the device kernels, run on the CPU over their whole grid, thread by thread: the same bits and marks as
// the CPU's own kernels, at odd sizes and alignments. No device has run them.
#include "comm/nccl/wire_grid.h"

#include <cmath>
#include <cstring>
#include <limits>
#include <vector>

#include "comm/wire/non_finite.h"
#include "comm/wire/wire_kernels.h"
#include "tests/support/test.h"

namespace bertft::nccl {
namespace {

// Every 16th pattern or so of all floats: subnormal, huge and special ones, ties of both formats.
std::vector<float> awkward_values(int64_t n, bool is_finite_only) {
  std::vector<float> values;
  uint32_t bits = 12345;
  while (static_cast<int64_t>(values.size()) < n) {
    bits = bits * 1664525u + 1013904223u;
    uint32_t pattern = bits;
    if (values.size() % 3 == 0) pattern &= 0xffff8000u;  // half of a last place of bf16, or none
    if (values.size() % 3 == 1) pattern &= 0xfffff000u;  // the same of fp16
    const float value = wire::device::float_of(pattern);
    if (is_finite_only && !std::isfinite(value)) continue;
    values.push_back(value);
  }
  return values;
}

const std::vector<int64_t>& sizes() {
  static const std::vector<int64_t> sizes = {0, 1, 31, 256, 1000, 4099};
  return sizes;
}

template <typename Body>
void run_grid(int64_t threads, const Body& body) {
  for (int64_t thread = 0; thread < threads; ++thread) body(GridPlace{thread, threads});
}

struct Marks {
  ScanCell cell;
  uint8_t is_sent = 0;
  uint8_t is_summed = 0;
  UnitMarks marks() { return {&cell, &is_sent, &is_summed}; }
};

void require_scan(const Marks& marks, const float* x, int64_t n, int64_t first) {
  const auto found = scan_non_finite(x, n);
  REQUIRE((marks.is_sent == 1) == found.has_value());
  if (!found) return;
  REQUIRE(static_cast<int64_t>(~marks.cell.inverted_first) == first + found->first);
  REQUIRE(static_cast<int64_t>(marks.cell.nan_count) == found->nan_count);
  REQUIRE(static_cast<int64_t>(marks.cell.inf_count) == found->inf_count);
  if (found->nan_count + found->inf_count == n) return;
  REQUIRE(double{float_of_key(~marks.cell.inverted_least)} == found->min);
  REQUIRE(double{float_of_key(marks.cell.greatest)} == found->max);
}

TEST_CASE("Device bodies encode as the CPU does, over whole grids of any size") {
  const wire::IeeeArithmetic ieee;
  for (const bool is_finite_only : {true, false}) {
    for (const int64_t n : sizes()) {
      for (const int64_t threads : {1, 64, 512}) {
        for (const int offset : {0, 1}) {
          const std::vector<float> values = awkward_values(n + offset, is_finite_only);
          const float* x = values.data() + offset;
          for (const Type type : {Type::kFp16, Type::kBf16}) {
            for (const int exponent : {0, 8, -20}) {
              const float scale = std::ldexp(1.0f, exponent);
              std::vector<uint16_t> ours(static_cast<size_t>(n) + 1, 0xabcd);
              std::vector<uint16_t> theirs = ours;
              Marks marks;
              run_grid(threads, [&](GridPlace place) {
                encode_thread(x, n, 1000, type, scale, ours.data(), marks.marks(), place);
              });
              if (type == Type::kFp16) {
                wire::kernels().to_fp16(x, n, scale, theirs.data());
              } else {
                wire::kernels().to_bf16(x, n, theirs.data());
              }
              INFO(n << " values, " << threads << " threads, exponent " << exponent);
              REQUIRE((ours == theirs));
              require_scan(marks, x, n, 1000);
              REQUIRE(marks.is_summed == 0);
            }
          }
        }
      }
    }
  }
}

TEST_CASE("Device bodies decode every pattern as the CPU does, and see what is not finite") {
  const wire::IeeeArithmetic ieee;
  std::vector<uint16_t> patterns(65536);
  for (size_t i = 0; i < patterns.size(); ++i) patterns[i] = static_cast<uint16_t>(i);
  const auto n = static_cast<int64_t>(patterns.size());
  for (const Type type : {Type::kFp16, Type::kBf16}) {
    std::vector<float> ours(patterns.size());
    std::vector<float> theirs(patterns.size());
    Marks marks;
    run_grid(384, [&](GridPlace place) {
      decode_thread(patterns.data(), n, type, 0x1p-8f, ours.data(), marks.marks(), place);
    });
    if (type == Type::kFp16) {
      wire::kernels().from_fp16(patterns.data(), n, 0x1p-8f, theirs.data());
    } else {
      wire::kernels().from_bf16(patterns.data(), n, theirs.data());
    }
    REQUIRE(std::memcmp(ours.data(), theirs.data(), ours.size() * sizeof(float)) == 0);
    REQUIRE(marks.is_summed == 1);
    Marks finite;
    run_grid(7, [&](GridPlace place) {
      decode_thread(patterns.data(), 0x7c00, type, 1.0f, ours.data(), finite.marks(), place);
    });
    REQUIRE(finite.is_summed == 0);
  }
}

TEST_CASE("Device bodies scan contributions and sums as the CPU does") {
  for (const bool is_finite_only : {true, false}) {
    for (const int64_t n : sizes()) {
      const std::vector<float> values = awkward_values(n, is_finite_only);
      Marks marks;
      run_grid(100, [&](GridPlace place) {
        scan_contribution_thread(values.data(), n, 5, marks.marks(), place);
        scan_sum_thread(values.data(), n, marks.marks(), place);
      });
      require_scan(marks, values.data(), n, 5);
      REQUIRE(marks.is_summed == marks.is_sent);
    }
  }
  // Nothing but values that are not finite leaves no bounds.
  Marks marks;
  const std::vector<float> infinite(10, -std::numeric_limits<float>::infinity());
  run_grid(3, [&](GridPlace place) { scan_contribution_thread(infinite.data(), 10, 0, marks.marks(), place); });
  REQUIRE(marks.cell.inf_count == 10);
  REQUIRE(marks.cell.greatest == 0u);
}

}  // namespace
}  // namespace bertft::nccl
