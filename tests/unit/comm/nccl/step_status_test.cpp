// The bytes of a step's status: what the kernels and the flags leave there is what the host reads.
#include "comm/nccl/step_status.h"

#include "comm/nccl/wire_grid.h"
#include "tests/support/test.h"

namespace bertft::nccl {
namespace {

TEST_CASE("Status of a step holds flags, marks and findings of every unit apart") {
  const StatusLayout layout(5);
  REQUIRE(layout.message_bytes() == 32 + 5);
  REQUIRE(layout.bytes() == 5 * sizeof(ScanCell) + 32 + 5 + 5);
  for (int unit = 0; unit < 5; ++unit) {
    std::vector<std::byte> block(layout.bytes());
    const UnitMarks marks = layout.marks(block.data(), unit);
    *marks.is_summed = 1;
    StepVerdict verdict = read_status(layout, block.data());
    REQUIRE(verdict.flags == 0);
    REQUIRE_FALSE(verdict.is_sum_finite);
    REQUIRE(verdict.overflowed == std::vector<int>{unit});
    REQUIRE(verdict.found.empty());

    // A contribution that is not finite, on any rank, makes the sum so: that is no overflow.
    *marks.is_sent = 1;
    verdict = read_status(layout, block.data());
    REQUIRE_FALSE(verdict.is_sum_finite);
    REQUIRE(verdict.overflowed.empty());

    marks.cell->inverted_first = ~uint64_t{77};
    marks.cell->inf_count = 2;
    verdict = read_status(layout, block.data());
    REQUIRE(verdict.found.size() == 1);
    REQUIRE(verdict.found[0].unit == unit);
    REQUIRE(verdict.found[0].index == 77);
    REQUIRE(verdict.found[0].inf_count == 2);
    REQUIRE(verdict.found[0].min == 0.0);
  }
}

TEST_CASE("Status flags are one byte each, so that a maximum is their OR") {
  const StatusLayout layout(1);
  for (const uint32_t word : {0u, 1u, 0x80000001u, 0xdeadbeefu}) {
    std::vector<std::byte> block(layout.bytes());
    spread_flags(word, block.data() + layout.flags_at());
    REQUIRE(read_status(layout, block.data()).flags == word);
  }
}

TEST_CASE("Ordered keys of floats keep their order and come back") {
  const std::vector<float> ascending = {-3e38f, -1.0f, -1e-40f, -0.0f, 0.0f, 1e-40f, 1.0f, 3e38f};
  for (size_t i = 0; i < ascending.size(); ++i) {
    REQUIRE(float_of_key(ordered_key(ascending[i])) == ascending[i]);
    REQUIRE(ordered_key(ascending[i]) != 0u);
    REQUIRE(~ordered_key(ascending[i]) != 0u);
    if (i > 0) REQUIRE(ordered_key(ascending[i - 1]) < ordered_key(ascending[i]));
  }
}

}  // namespace
}  // namespace bertft::nccl
