// The cutting of ranges into blocks: complete, on the grid, one kind each, the same however a range is divided.
#include "comm/wire/wire_map.h"

#include "tests/support/test.h"

namespace bertft {
namespace {

Layout layout_with_vectors() {
  return make_layout({{.name = "a.weight", .shape = {300, 400}},
                      {.name = "a.bias", .shape = {300}},
                      {.name = "norm.weight", .shape = {70}},
                      {.name = "b.weight", .shape = {500, 401}},
                      {.name = "b.bias", .shape = {5}}},
                     100000);
}

// The wire type of every element of the layout.
std::vector<WireType> types_of(const WireMap& map, ElementRange range, WireType wire, std::vector<WireType> types) {
  int64_t at = range.begin;
  for (const WireBlock& block : map.blocks(range, wire)) {
    REQUIRE(block.range.begin == at);
    REQUIRE(block.range.size() > 0);
    REQUIRE(block.range.begin / kWireBlockElements == (block.range.end - 1) / kWireBlockElements);
    std::fill(types.begin() + block.range.begin, types.begin() + block.range.end, block.wanted);
    at = block.range.end;
  }
  REQUIRE(at == range.end);
  return types;
}

TEST_CASE("Under the mixed wire vectors are fp32 and matrices fp16, however a range is cut") {
  const Layout layout = layout_with_vectors();
  const WireMap map(layout);
  std::vector<WireType> wanted(static_cast<size_t>(layout.total), WireType::kFp16);
  for (const LayoutEntry& entry : layout.entries) {
    if (entry.spec.shape.size() > 1) continue;
    std::fill_n(wanted.begin() + entry.offset, (entry.size + 15) / 16 * 16, WireType::kFp32);
  }
  for (const int64_t pieces : {1, 2, 3, 7, 40}) {
    std::vector<WireType> types(static_cast<size_t>(layout.total), WireType::kBf16);
    for (int64_t i = 0; i < pieces; ++i) {
      types = types_of(map, {layout.total * i / pieces, layout.total * (i + 1) / pieces}, WireType::kMixed, types);
    }
    REQUIRE((types == wanted));
  }
}

TEST_CASE("With one type for all, blocks follow the grid of the flat buffer alone") {
  const WireMap map(layout_with_vectors());
  REQUIRE(map.blocks({100, 100}, WireType::kFp16).empty());
  const auto blocks = map.blocks({100, 200000}, WireType::kBf16);
  REQUIRE(blocks.size() == 4);
  REQUIRE((blocks[0].range == ElementRange{100, 65536}));
  REQUIRE((blocks[1].range == ElementRange{65536, 131072}));
  REQUIRE((blocks[3].range == ElementRange{196608, 200000}));
  REQUIRE(blocks[3].wanted == WireType::kBf16);
  REQUIRE(WireMap().blocks({0, 10}, WireType::kMixed).at(0).wanted == WireType::kFp16);
}

}  // namespace
}  // namespace bertft
