// The order of sums, and which contribution is blamed for a sum that is no number.
#include "comm/mpi/ordered_sum.h"

#include <cmath>
#include <limits>

#include "comm/wire/wire_kernels.h"
#include "tests/support/test.h"

namespace bertft {
namespace {

using mpi::Contribution;
using mpi::WrongPiece;

const auto kNobody = [](const WrongPiece&) { FAIL("a finite sum was called wrong"); };

// 1e8 swallows a 1 that is added to it alone, so every grouping has its own result.
TEST_CASE("Groups are added first, then their sums, from left to right") {
  std::vector<std::vector<float>> values = {{1e8f}, {3.0f}, {3.0f}, {-1e8f}};
  const auto sum = [&](const std::vector<int>& groups) {
    std::vector<Contribution> sources;
    for (size_t i = 0; i < values.size(); ++i) sources.push_back({values[i].data(), {}, groups[i]});
    float out = 0.0f;
    mpi::sum_in_order(sources, 1, sizeof(float), &out, kNobody);
    return out;
  };
  CHECK(sum({0, 0, 0, 0}) == ((1e8f + 3.0f) + 3.0f) - 1e8f);
  CHECK(sum({0, 1, 1, 2}) == (1e8f + (3.0f + 3.0f)) - 1e8f);
  CHECK(sum({0, 1, 1, 1}) == 1e8f + ((3.0f + 3.0f) - 1e8f));
  CHECK(sum({0, 0, 0, 0}) != sum({0, 1, 1, 2}));
}

TEST_CASE("A sum may be written over one of its contributions, in fp32 and in doubles") {
  constexpr int64_t kCount = 5000;
  std::vector<double> first(kCount), second(kCount);
  std::vector<float> first_float(kCount), second_float(kCount);
  for (size_t i = 0; i < kCount; ++i) {
    first[i] = first_float[i] = static_cast<float>(i);
    second[i] = second_float[i] = 0.5f;
  }
  mpi::sum_in_order({{first.data()}, {second.data()}}, kCount, sizeof(double), second.data(), kNobody);
  mpi::sum_in_order({{first_float.data()}, {second_float.data()}}, kCount, sizeof(float), first_float.data(), kNobody);
  for (size_t i = 0; i < kCount; ++i) {
    REQUIRE(second[i] == static_cast<double>(i) + 0.5);
    REQUIRE(first_float[i] == static_cast<float>(i) + 0.5f);
  }
}

TEST_CASE("Encoded contributions are added as what they decode to") {
  constexpr int64_t kCount = 4100;
  std::vector<float> plain(kCount, 0.25f), encoded(kCount), decoded(kCount), out(kCount);
  std::vector<uint16_t> wire(kCount);
  for (size_t i = 0; i < kCount; ++i) encoded[i] = std::sin(static_cast<float>(i));
  for (const WireType type : {WireType::kFp16, WireType::kBf16}) {
    const BlockCode code = encode_block(encoded.data(), kCount, type, {}, wire.data());
    decode_block(code, wire.data(), kCount, decoded.data());
    mpi::sum_in_order({{plain.data()}, {wire.data(), code, 1}, {wire.data(), code, 1}}, kCount, sizeof(float),
                      out.data(), kNobody);
    for (size_t i = 0; i < kCount; ++i) REQUIRE(out[i] == 0.25f + (decoded[i] + decoded[i]));
  }
}

TEST_CASE("All sources of a wrong piece are shown, as they were before the sum is written") {
  constexpr int64_t kCount = 5000;
  std::vector<float> first(kCount, 1.0f), second(kCount, 1.0f);
  first[4500] = std::numeric_limits<float>::quiet_NaN();
  std::vector<std::pair<size_t, bool>> seen;
  mpi::sum_in_order({{first.data()}, {second.data()}}, kCount, sizeof(float), first.data(), [&](const WrongPiece& one) {
    REQUIRE(one.first <= 4500);
    REQUIRE(one.first + one.count > 4500);
    seen.emplace_back(one.source, std::isnan(static_cast<const float*>(one.elements)[4500 - one.first]));
  });
  REQUIRE(seen == std::vector<std::pair<size_t, bool>>{{0, true}, {1, false}});
  REQUIRE(std::isnan(first[4500]));
  REQUIRE(first[4499] == 2.0f);
}

}  // namespace
}  // namespace bertft
