// Sums and casts of every instruction set of this machine against plain references in double, and against each other.
#include "comm/wire/wire_kernels.h"

#include <cmath>
#include <cstring>
#include <iostream>
#include <limits>
#include <random>
#include <vector>

#include "tests/support/test.h"

namespace bertft {
namespace {

std::vector<InstructionSet> levels_here() {
  std::vector<InstructionSet> levels;
  for (const InstructionSet level : {InstructionSet::kScalar, InstructionSet::kAvx2, InstructionSet::kAvx512}) {
    if (level <= wire::wire_level()) levels.push_back(level);
  }
  return levels;
}

float from_bits(uint32_t bits) {
  float x;
  std::memcpy(&x, &bits, sizeof x);
  return x;
}

uint32_t bits_of(float x) {
  uint32_t bits;
  std::memcpy(&bits, &x, sizeof bits);
  return bits;
}

// The value of a half by the formula of IEEE 754.
double value_of_half(uint16_t half) {
  const int exponent = (half >> 10) & 31, mantissa = half & 1023;
  double size = 0.0;
  if (exponent == 31) {
    size = mantissa != 0 ? std::numeric_limits<double>::quiet_NaN() : std::numeric_limits<double>::infinity();
  } else if (exponent == 0) {
    size = std::ldexp(mantissa, -24);
  } else {
    size = std::ldexp(1024 + mantissa, exponent - 25);
  }
  return (half & 0x8000) != 0 ? -size : size;
}

// x rounded to `digits` binary digits, or to a multiple of `least`, ties to even; infinite from `limit` on.
double rounded(double x, int digits, double least, double limit) {
  if (!std::isfinite(x) || x == 0.0) return x;
  const double unit = std::max(std::ldexp(1.0, std::ilogb(x) - digits + 1), least);
  const double result = std::nearbyint(x / unit) * unit;
  return std::abs(result) >= limit ? std::copysign(std::numeric_limits<double>::infinity(), x) : result;
}

bool is_same_value(double a, double b) {
  return (std::isnan(a) && std::isnan(b)) || (a == b && std::signbit(a) == std::signbit(b));
}

// Values on, just beside and half way between all halves, the borders of fp32 and random bits.
std::vector<float> interesting_floats() {
  std::vector<float> values;
  for (uint32_t half = 0; half < 65536; ++half) {
    const double here = value_of_half(static_cast<uint16_t>(half));
    const double next = value_of_half(static_cast<uint16_t>(half ^ 1u));
    const float x = static_cast<float>(here);
    values.push_back(x);
    values.push_back(std::nextafter(x, -1e30f));
    values.push_back(std::nextafter(x, 1e30f));
    const float middle = static_cast<float>((here + next) / 2);
    values.push_back(middle);
    values.push_back(std::nextafter(middle, 1e30f));
    values.push_back(std::nextafter(middle, -1e30f));
  }
  for (const uint32_t bits : {0u, 1u, 0x007fffffu, 0x00800000u, 0x33000000u, 0x33000001u, 0x477fefffu, 0x477ff000u,
                              0x7f7fffffu, 0x7f7f8000u, 0x7f7f7fffu, 0x7f800000u, 0x7f800001u, 0x7fc12345u}) {
    values.push_back(from_bits(bits));
    values.push_back(from_bits(bits | 0x80000000u));
  }
  std::mt19937 random(7);
  for (int i = 0; i < 200003; ++i) {
    values.push_back(from_bits(static_cast<uint32_t>(random())));
  }
  return values;
}

TEST_CASE("All 65,536 halves are decoded to their values at every level") {
  const wire::IeeeArithmetic ieee;
  std::vector<uint16_t> halves(65536);
  for (size_t i = 0; i < halves.size(); ++i) {
    halves[i] = static_cast<uint16_t>(i);
  }
  for (const InstructionSet level : levels_here()) {
    for (const float scale : {1.0f, 0x1p-20f, 0x1p30f}) {
      std::vector<float> decoded(halves.size());
      wire::kernels_of(level).from_fp16(halves.data(), static_cast<int64_t>(halves.size()), scale, decoded.data());
      size_t wrong = 0;
      for (size_t i = 0; i < halves.size(); ++i) {
        wrong += is_same_value(decoded[i], value_of_half(halves[i]) * scale) ? 0 : 1;
      }
      INFO(instruction_set_name(level) << " scale " << scale);
      REQUIRE(wrong == 0);
    }
  }
}

TEST_CASE("Casts to fp16 round to nearest even and keep NaN and infinity, at every level") {
  const wire::IeeeArithmetic ieee;
  const std::vector<float> values = interesting_floats();
  for (const InstructionSet level : levels_here()) {
    for (const float scale : {1.0f, 0x1p-10f, 0x1p12f}) {
      std::vector<uint16_t> halves(values.size());
      REQUIRE(
          wire::kernels_of(level).to_fp16(values.data(), static_cast<int64_t>(values.size()), scale, halves.data()));
      size_t wrong = 0;
      for (size_t i = 0; i < values.size(); ++i) {
        const double wanted = rounded(double{values[i]} * scale, 11, 0x1p-24, 65520.0);
        wrong += is_same_value(value_of_half(halves[i]), wanted) ? 0 : 1;
      }
      INFO(instruction_set_name(level) << " scale " << scale);
      REQUIRE(wrong == 0);
    }
  }
}

TEST_CASE("Casts to bf16 and back round to nearest even and keep NaN and infinity, at every level") {
  const wire::IeeeArithmetic ieee;
  const std::vector<float> values = interesting_floats();
  const auto count = static_cast<int64_t>(values.size());
  for (const InstructionSet level : levels_here()) {
    std::vector<uint16_t> halves(values.size());
    std::vector<float> decoded(values.size());
    REQUIRE(wire::kernels_of(level).to_bf16(values.data(), count, halves.data()));
    wire::kernels_of(level).from_bf16(halves.data(), count, decoded.data());
    size_t wrong = 0;
    for (size_t i = 0; i < values.size(); ++i) {
      wrong += is_same_value(decoded[i], rounded(values[i], 8, 0x1p-133, 0x1p128)) ? 0 : 1;
    }
    INFO(instruction_set_name(level));
    REQUIRE(wrong == 0);
  }
}

TEST_CASE("Casts give the same bits at every level and report exactly what is not finite") {
  const wire::IeeeArithmetic ieee;
  const std::vector<float> values = interesting_floats();
  const wire::WireKernels& plain = wire::kernels_of(InstructionSet::kScalar);
  for (const InstructionSet level : levels_here()) {
    const wire::WireKernels& kernels = wire::kernels_of(level);
    for (size_t begin = 0; begin + 40 < values.size(); begin += 997) {
      for (const int64_t n : {0, 1, 7, 8, 15, 16, 17, 33, 40}) {
        std::vector<uint16_t> here(41, 0xABCD), there(41, 0xABCD);
        const bool here_wrong = kernels.to_fp16(&values[begin], n, 4.0f, here.data());
        const bool there_wrong = plain.to_fp16(&values[begin], n, 4.0f, there.data());
        bool wanted_wrong = false;
        for (int64_t i = 0; i < n; ++i) {
          wanted_wrong |= !std::isfinite(value_of_half(there[static_cast<size_t>(i)]));
        }
        REQUIRE(here == there);
        REQUIRE(here_wrong == wanted_wrong);
        REQUIRE(there_wrong == wanted_wrong);
        REQUIRE(kernels.to_bf16(&values[begin], n, here.data()) == plain.to_bf16(&values[begin], n, there.data()));
        REQUIRE(here == there);
        REQUIRE(bits_of(kernels.largest(&values[begin], n)) == bits_of(plain.largest(&values[begin], n)));
      }
    }
  }
}

TEST_CASE("The largest magnitude is found in every place, and infinity stands for what is not finite") {
  for (const InstructionSet level : levels_here()) {
    const wire::WireKernels& kernels = wire::kernels_of(level);
    REQUIRE(kernels.largest(nullptr, 0) == 0.0f);
    for (size_t n = 1; n < 70; ++n) {
      for (size_t place = 0; place < n; ++place) {
        std::vector<float> x(n, 0.5f);
        x[place] = -3.0f;
        REQUIRE(kernels.largest(x.data(), static_cast<int64_t>(n)) == 3.0f);
        x[place] = -std::numeric_limits<float>::quiet_NaN();
        REQUIRE(std::isinf(kernels.largest(x.data(), static_cast<int64_t>(n))));
      }
    }
  }
}

template <typename Element>
void check_sums(bool (*sum)(const Element* const*, int, int64_t, Element*)) {
  std::mt19937 random(11);
  std::normal_distribution<Element> normal;
  for (const int count : {1, 2, 3, 4, 5, 9}) {
    for (const size_t n : {size_t{0}, size_t{1}, size_t{15}, size_t{16}, size_t{17}, size_t{1003}}) {
      std::vector<std::vector<Element>> sources(static_cast<size_t>(count), std::vector<Element>(n));
      std::vector<const Element*> pointers;
      for (auto& source : sources) {
        for (Element& value : source) {
          value = normal(random) * static_cast<Element>(std::ldexp(1.0, static_cast<int>(random() % 30) - 15));
        }
        pointers.push_back(source.data());
      }
      std::vector<Element> wanted(n);
      for (size_t i = 0; i < n; ++i) {
        wanted[i] = sources[0][i];
        for (size_t s = 1; s < sources.size(); ++s) {
          wanted[i] = wanted[i] + sources[s][i];
        }
      }
      // In place into the last source.
      REQUIRE_FALSE(sum(pointers.data(), count, static_cast<int64_t>(n), sources.back().data()));
      REQUIRE(sources.back() == wanted);
      if (n == 0) continue;
      for (const Element wrong :
           {std::numeric_limits<Element>::infinity(), std::numeric_limits<Element>::quiet_NaN()}) {
        sources.front()[n - 1] = wrong;
        std::vector<Element> result(n);
        REQUIRE(sum(pointers.data(), count, static_cast<int64_t>(n), result.data()));
        REQUIRE_FALSE(std::isfinite(result[n - 1]));
      }
    }
  }
}

TEST_CASE("Sums add the sources one after the other, at every level") {
  const wire::IeeeArithmetic ieee;
  for (const InstructionSet level : levels_here()) {
    INFO(instruction_set_name(level));
    check_sums<float>(wire::kernels_of(level).sum);
    check_sums<double>(wire::kernels_of(level).sum_doubles);
  }
  if (levels_here().size() < 3) std::cout << "not run: the AVX-512 kernels, which this processor does not have\n";
}

template <typename Element>
using SumInto = int64_t (*)(const Element* const*, int, int64_t, Element* const*, int);

// `outputs` of them are the first sources, or new ones where there are not so many; `wrong_at` < 0: all are finite.
template <typename Element>
void check_sum_into(SumInto<Element> sum_into, int count, int output_count, int64_t n, int64_t wrong_at) {
  CAPTURE(count, output_count, n, wrong_at);
  std::vector<std::vector<Element>> buffers(static_cast<size_t>(std::max(count, output_count)));
  for (size_t i = 0; i < buffers.size(); ++i) {
    for (int64_t at = 0; at < n; ++at)
      buffers[i].push_back(static_cast<Element>(at % 100 + 3) / static_cast<Element>(i + 7));
  }
  if (wrong_at >= 0) {
    buffers[static_cast<size_t>(count) - 1][static_cast<size_t>(wrong_at)] = std::numeric_limits<Element>::infinity();
  }
  const auto before = buffers;
  std::vector<const Element*> sources;
  std::vector<Element*> outputs;
  for (int i = 0; i < count; ++i) sources.push_back(buffers[static_cast<size_t>(i)].data());
  for (int i = 0; i < output_count; ++i) outputs.push_back(buffers[static_cast<size_t>(i)].data());
  const int64_t done = sum_into(sources.data(), count, n, outputs.data(), output_count);
  REQUIRE(done <= (wrong_at < 0 ? n : wrong_at));
  REQUIRE(done > (wrong_at < 0 ? n - 1 : wrong_at - 64));
  for (size_t at = 0; at < static_cast<size_t>(n); ++at) {
    Element wanted = before[0][at];
    for (size_t i = 1; i < static_cast<size_t>(count); ++i) wanted = wanted + before[i][at];
    for (size_t i = 0; i < buffers.size(); ++i) {
      const bool is_written = i < outputs.size() && static_cast<int64_t>(at) < done;
      REQUIRE(buffers[i][at] == (is_written ? wanted : before[i][at]));
    }
  }
}

TEST_CASE("Sums go into several outputs in place and end before what is not finite, at every level") {
  const wire::IeeeArithmetic ieee;
  for (const InstructionSet level : levels_here()) {
    INFO(instruction_set_name(level));
    for (const int count : {1, 2, 3, 4, 5}) {
      for (const int outputs : {1, 2, 3}) {
        for (const int64_t n : {0, 1, 63, 64, 65, 333}) {
          for (const int64_t wrong_at : {int64_t{-1}, int64_t{0}, n / 2, n - 1}) {
            if (wrong_at >= n) continue;
            check_sum_into<float>(wire::kernels_of(level).sum_into, count, outputs, n, wrong_at);
            check_sum_into<double>(wire::kernels_of(level).sum_doubles_into, count, outputs, n, wrong_at);
          }
        }
      }
    }
  }
}

#if defined(__SSE__)
TEST_CASE("Denormal numbers are kept by threads that flush them elsewhere") {
  const unsigned before = __builtin_ia32_stmxcsr();
  __builtin_ia32_ldmxcsr(before | 0x8040u);  // flush to zero, denormals are zero
  const float tiny = 0x1p-140f;
  std::vector<float> x(33, tiny), y(33, tiny);
  const float* sources[] = {x.data(), y.data()};
  for (const InstructionSet level : levels_here()) {
    const wire::IeeeArithmetic ieee;
    std::vector<float> result(33);
    wire::kernels_of(level).sum(sources, 2, 33, result.data());
    REQUIRE(bits_of(result[0]) == bits_of(0x1p-139f));
    REQUIRE(bits_of(result[32]) == bits_of(0x1p-139f));
    std::vector<float> into(33);
    float* const output = into.data();
    wire::kernels_of(level).sum_into(sources, 2, 33, &output, 1);
    REQUIRE(into == result);
  }
  const unsigned after = __builtin_ia32_stmxcsr();
  __builtin_ia32_ldmxcsr(before);
  REQUIRE((after & 0x8040u) == 0x8040u);
}
#endif

}  // namespace
}  // namespace bertft
