// Every half and every bfloat16 against a formula, unaligned sources, and the scan for values that are not finite.
#include "checkpoint/convert.h"

#include <bit>
#include <cmath>
#include <cstring>
#include <limits>

#include "tests/support/test.h"
#include "tests/unit/checkpoint/test_files.h"

namespace bertft {
namespace {

using Catch::Matchers::Contains;
using test::checkpoint_error;
using test::view_of;

constexpr float kInfinity = std::numeric_limits<float>::infinity();

// The definition of IEEE 754 binary16.
double half_value(uint16_t bits) {
  const int exponent = bits >> 10 & 0x1f;
  const int fraction = bits & 0x3ff;
  const double sign = (bits & 0x8000) != 0 ? -1.0 : 1.0;
  if (exponent == 31) return fraction != 0 ? std::nan("") : sign * double{kInfinity};
  if (exponent == 0) return sign * std::ldexp(fraction, -24);
  return sign * std::ldexp(1024 + fraction, exponent - 25);
}

std::vector<uint16_t> all_patterns() {
  std::vector<uint16_t> patterns(65536);
  for (size_t i = 0; i < patterns.size(); ++i) patterns[i] = static_cast<uint16_t>(i);
  return patterns;
}

TEST_CASE("all 65,536 halves are widened exactly") {
  const std::vector<uint16_t> patterns = all_patterns();
  const TensorView view = view_of("w", DType::kF16, {256, 256}, patterns);
  std::vector<float> narrow(patterns.size());
  std::vector<double> wide(patterns.size());
  copy_to_f32(view, narrow.data());
  copy_to_f64(view, wide.data());
  int wrong = 0;
  for (size_t i = 0; i < patterns.size(); ++i) {
    const double expected = half_value(patterns[i]);
    const bool is_right = std::isnan(expected) ? std::isnan(narrow[i]) && std::isnan(wide[i])
                                               : double{narrow[i]} == expected && wide[i] == expected;
    if (!is_right || std::signbit(narrow[i]) != ((patterns[i] & 0x8000) != 0)) ++wrong;
  }
  CHECK(wrong == 0);
}

TEST_CASE("all 65,536 bfloat16 are the upper half of a float") {
  const std::vector<uint16_t> patterns = all_patterns();
  const TensorView view = view_of("w", DType::kBF16, {65536}, patterns);
  std::vector<float> narrow(patterns.size());
  std::vector<double> wide(patterns.size());
  copy_to_f32(view, narrow.data());
  copy_to_f64(view, wide.data());
  int wrong = 0;
  for (size_t i = 0; i < patterns.size(); ++i) {
    if (std::bit_cast<uint32_t>(narrow[i]) != uint32_t{patterns[i]} << 16) ++wrong;
    if (std::isnan(narrow[i]) ? !std::isnan(wide[i]) : wide[i] != double{narrow[i]}) ++wrong;
  }
  CHECK(wrong == 0);
}

TEST_CASE("floats and doubles") {
  const std::vector<float> floats = {1.5f, -0.0f, 1e-45f, kInfinity, 3.4028235e38f};
  std::vector<double> wide(floats.size());
  copy_to_f64(view_of("w", DType::kF32, {5}, floats), wide.data());
  for (size_t i = 0; i < floats.size(); ++i) CHECK(wide[i] == double{floats[i]});
  std::vector<float> same(floats.size());
  copy_to_f32(view_of("w", DType::kF32, {5}, floats), same.data());
  CHECK(std::memcmp(same.data(), floats.data(), sizeof(float) * floats.size()) == 0);

  const std::vector<double> doubles = {0.1, 1.0 + 1e-12, 1e39, -1e-46};
  std::vector<float> rounded(doubles.size());
  copy_to_f32(view_of("w", DType::kF64, {2, 2}, doubles), rounded.data());
  CHECK(rounded == std::vector<float>{0.1f, 1.0f, kInfinity, -0.0f});
  std::vector<double> exact(doubles.size());
  copy_to_f64(view_of("w", DType::kF64, {2, 2}, doubles), exact.data());
  CHECK(exact == doubles);
}

TEST_CASE("unaligned sources and empty tensors") {
  const std::vector<double> doubles = {0.5, -3.25};
  std::vector<std::byte> bytes(1 + sizeof(double) * doubles.size());
  std::memcpy(bytes.data() + 1, doubles.data(), bytes.size() - 1);
  const TensorView view = {"w", DType::kF64, {2}, bytes.data() + 1, bytes.size() - 1};
  std::vector<float> out(2);
  copy_to_f32(view, out.data());
  CHECK(out == std::vector<float>{0.5f, -3.25f});
  CHECK(first_non_finite(view) == -1);

  const TensorView empty = {"e", DType::kF16, {0, 7}, nullptr, 0};
  copy_to_f32(empty, nullptr);
  CHECK(first_non_finite(empty) == -1);
}

TEST_CASE("the first value that is not finite") {
  for (const size_t at : {size_t{0}, size_t{4095}, size_t{4096}, size_t{9999}}) {
    std::vector<float> values(10000, 3.4028235e38f);
    values[at] = at % 2 == 0 ? kInfinity : std::numeric_limits<float>::quiet_NaN();
    values[9999] = -kInfinity;
    CHECK(first_non_finite(view_of("w", DType::kF32, {100, 100}, values)) == static_cast<int64_t>(at));
  }
  const std::vector<float> finite(10000, -3.4028235e38f);
  CHECK(first_non_finite(view_of("w", DType::kF32, {10000}, finite)) == -1);
  const std::vector<uint16_t> halves = {0x7bff, 0xfbff, 0x0001, 0x7c00};
  CHECK(first_non_finite(view_of("w", DType::kF16, {4}, halves)) == 3);
  CHECK(first_non_finite(view_of("w", DType::kBF16, {4}, halves)) == -1);
  const std::vector<uint16_t> brains = {0x7f7f, 0xff80};
  CHECK(first_non_finite(view_of("w", DType::kBF16, {2}, brains)) == 1);
  const std::vector<double> doubles = {1e38, -3.5e38};
  CHECK(first_non_finite(view_of("w", DType::kF64, {2}, doubles)) == 1);
}

TEST_CASE("other element types are refused by name") {
  const std::vector<int64_t> ids = {1};
  const TensorView view = view_of("embeddings.position_ids", DType::kI64, {1}, ids);
  float out = 0;
  double wide = 0;
  const std::string message = checkpoint_error([&] { copy_to_f32(view, &out); });
  CHECK_THAT(message, Contains("tensor 'embeddings.position_ids' holds I64"));
  CHECK_THAT(checkpoint_error([&] { copy_to_f64(view, &wide); }), Contains("holds I64"));
  CHECK_THAT(checkpoint_error([&] { first_non_finite(view); }), Contains("holds I64"));
  CHECK_FALSE(is_weight_dtype(DType::kF8E4M3));
}

TEST_CASE("element types and shapes") {
  CHECK(find_dtype("F8_E4M3") == DType::kF8E4M3);
  CHECK(find_dtype("BF16") == DType::kBF16);
  CHECK_FALSE(find_dtype("bf16").has_value());
  CHECK_FALSE(find_dtype("").has_value());
  CHECK(dtype_bytes(DType::kC64) == 8);
  CHECK(dtype_name(DType::kU16) == "U16");
  CHECK(element_count({}) == 1);
  CHECK(element_count({3, 0, 5}) == 0);
  CHECK(element_count({30522, 768}) == 23440896);
  CHECK_FALSE(checked_element_count({int64_t{1} << 32, int64_t{1} << 31}).has_value());
  CHECK_FALSE(checked_element_count({2, -1}).has_value());
  CHECK(shape_text({2, 3}) == "[2, 3]");
  CHECK(shape_text({}) == "[]");
  CHECK(shape_text(std::vector<int64_t>(9, 1)) == "[1, 1, 1, 1, 1, 1, 1, 1, ...]");
}

}  // namespace
}  // namespace bertft
