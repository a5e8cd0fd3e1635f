// Blocks on the wire: bounds of the error, scales, what falls back to fp32, and what is said about values that are no
// numbers.
#include "comm/wire/block_codec.h"

#include <cmath>
#include <limits>
#include <random>
#include <vector>

#include "comm/wire/non_finite.h"
#include "tests/support/test.h"

namespace bertft {
namespace {

std::vector<float> values_around(double size, double spread, size_t n) {
  std::mt19937 random(5);
  std::normal_distribution<double> normal;
  std::vector<float> values(n);
  for (float& value : values) {
    value = static_cast<float>(size * normal(random) * std::exp(spread * normal(random)));
  }
  return values;
}

TEST_CASE("What fp16 blocks change stays below its bound, whatever the size of the gradients") {
  for (const double size : {1e-38, 1e-20, 1e-7, 1e-3, 1.0, 1e5, 1e30}) {
    const std::vector<float> x = values_around(size, 3.0, 1001);
    std::vector<uint16_t> wire(x.size());
    const BlockCode code = encode_block(x.data(), 1001, WireType::kFp16, std::nullopt, wire.data());
    REQUIRE(code.type == WireType::kFp16);
    REQUIRE(is_possible(code));
    std::vector<float> decoded(x.size());
    decode_block(code, wire.data(), 1001, decoded.data());
    const double least = std::ldexp(1.0, -25 - code.scale_exponent);
    double worst = 0.0;
    for (size_t i = 0; i < x.size(); ++i) {
      const double bound = std::max(std::ldexp(std::abs(double{x[i]}), -11), least);
      worst = std::max(worst, std::abs(double{decoded[i]} - double{x[i]}) / bound);
    }
    INFO(size);
    REQUIRE(worst <= 1.0);
    REQUIRE(worst > 0.5);  // the bound is no wider than it has to be
  }
}

TEST_CASE("What bf16 blocks change stays below its bound") {
  for (const double size : {1e-30, 1e-3, 1e30}) {
    const std::vector<float> x = values_around(size, 1.0, 1001);
    std::vector<uint16_t> wire(x.size());
    const BlockCode code = encode_block(x.data(), 1001, WireType::kBf16, std::nullopt, wire.data());
    REQUIRE(code == BlockCode{WireType::kBf16, 0});
    std::vector<float> decoded(x.size());
    decode_block(code, wire.data(), 1001, decoded.data());
    for (size_t i = 0; i < x.size(); ++i) {
      REQUIRE(std::abs(double{decoded[i]} - double{x[i]}) <= std::ldexp(std::abs(double{x[i]}), -8));
    }
  }
}

TEST_CASE("A decoded block is encoded to itself, so an owner and its peers hold the same bits") {
  for (const WireType type : {WireType::kFp16, WireType::kBf16}) {
    std::vector<float> x = values_around(1e-4, 2.0, 517);
    std::vector<uint16_t> wire(x.size()), again(x.size());
    const BlockCode code = encode_block(x.data(), 517, type, std::nullopt, wire.data());
    decode_block(code, wire.data(), 517, x.data());
    REQUIRE(encode_block(x.data(), 517, type,
                         code.type == WireType::kFp16 ? std::optional(code.scale_exponent) : std::nullopt,
                         again.data()) == code);
    REQUIRE(wire == again);
  }
}

TEST_CASE("A block falls back to fp32 exactly when its type cannot hold a value") {
  std::vector<float> x = values_around(1.0, 1.0, 300);
  std::vector<uint16_t> wire(x.size());
  const auto type_of = [&](WireType wanted, std::optional<int> scale) {
    return encode_block(x.data(), 300, wanted, scale, wire.data()).type;
  };
  x[299] = 65519.0f;  // the largest float that rounds to a finite half
  REQUIRE(type_of(WireType::kFp16, 0) == WireType::kFp16);
  x[299] = 65520.0f;
  REQUIRE(type_of(WireType::kFp16, 0) == WireType::kFp32);
  REQUIRE(type_of(WireType::kFp16, -1) == WireType::kFp16);
  REQUIRE(type_of(WireType::kFp16, std::nullopt) == WireType::kFp16);
  REQUIRE(type_of(WireType::kBf16, std::nullopt) == WireType::kBf16);
  x[299] = std::numeric_limits<float>::max();
  REQUIRE(type_of(WireType::kFp16, std::nullopt) == WireType::kFp16);
  REQUIRE(type_of(WireType::kBf16, std::nullopt) == WireType::kFp32);  // rounds up to infinity
  for (const float wrong : {std::numeric_limits<float>::infinity(), std::numeric_limits<float>::quiet_NaN()}) {
    x[299] = wrong;
    REQUIRE(type_of(WireType::kFp16, 0) == WireType::kFp32);
    REQUIRE(type_of(WireType::kFp16, std::nullopt) == WireType::kFp32);
    REQUIRE(type_of(WireType::kBf16, std::nullopt) == WireType::kFp32);
  }
}

TEST_CASE("Blocks of zeros and of the least numbers keep their values") {
  std::vector<float> x(20, 0.0f);
  x[3] = -0.0f;
  std::vector<uint16_t> wire(x.size());
  REQUIRE(encode_block(x.data(), 20, WireType::kFp16, std::nullopt, wire.data()) == BlockCode{WireType::kFp16, 0});
  std::vector<float> decoded(x.size(), 1.0f);
  decode_block({WireType::kFp16, 0}, wire.data(), 20, decoded.data());
  REQUIRE(decoded == x);
  REQUIRE(std::signbit(decoded[3]));
  x.assign(20, std::numeric_limits<float>::denorm_min());
  const BlockCode code = encode_block(x.data(), 20, WireType::kFp16, std::nullopt, wire.data());
  REQUIRE(code == BlockCode{WireType::kFp16, kMostScaleExponent});
  decode_block(code, wire.data(), 20, decoded.data());
  REQUIRE(decoded == x);
}

TEST_CASE("Codes that no encoder makes are told apart") {
  REQUIRE(is_possible({WireType::kFp32, 0}));
  REQUIRE(is_possible({WireType::kFp16, -126}));
  REQUIRE_FALSE(is_possible({WireType::kFp16, 127}));
  REQUIRE_FALSE(is_possible({WireType::kBf16, 1}));
  REQUIRE_FALSE(is_possible({WireType::kMixed, 0}));
  REQUIRE_FALSE(is_possible({static_cast<WireType>(9), 0}));
}

TEST_CASE("A scan counts what is not finite and bounds the rest") {
  std::vector<float> x = {1.0f, -2.0f, 7.0f};
  REQUIRE_FALSE(scan_non_finite(x.data(), 3));
  REQUIRE_FALSE(scan_non_finite(x.data(), 0));
  const float infinity = std::numeric_limits<float>::infinity();
  x = {4.0f, infinity, -1.0f, std::numeric_limits<float>::quiet_NaN(), -infinity, 3.0f};
  const auto found = scan_non_finite(x.data(), 6);
  REQUIRE(found);
  REQUIRE(found->first == 1);
  REQUIRE(found->nan_count == 1);
  REQUIRE(found->inf_count == 2);
  REQUIRE(found->min == -1.0);
  REQUIRE(found->max == 4.0);
  const double only = std::numeric_limits<double>::quiet_NaN();
  REQUIRE(scan_non_finite(&only, 1)->max == 0.0);
}

}  // namespace
}  // namespace bertft
