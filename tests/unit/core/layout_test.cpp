// The flat layout: alignment, parameters that form one matrix, units that cover the buffer, and the hash.
#include "core/layout.h"

#include "core/error.h"
#include "tests/support/errors.h"

namespace bertft {
namespace {

using test::error_text;

ParameterSpec spec(const std::string& name, std::vector<int64_t> shape, bool continues = false) {
  return {.name = name, .shape = std::move(shape), .continues_previous = continues};
}

// What must hold for every layout.
void require_sound(const Layout& layout, int64_t unit_elements) {
  int64_t free_from = 0;
  for (const LayoutEntry& entry : layout.entries) {
    INFO(entry.spec.name);
    REQUIRE(entry.offset >= free_from);
    if (!entry.spec.continues_previous) REQUIRE(entry.offset % kAlignmentElements == 0);
    free_from = entry.offset + entry.size;
    REQUIRE(layout.units.at(static_cast<size_t>(entry.first_unit)).begin <= entry.offset);
    REQUIRE(layout.units.at(static_cast<size_t>(entry.first_unit)).end > entry.offset);
    REQUIRE(layout.units.at(static_cast<size_t>(entry.last_unit)).begin < free_from);
    REQUIRE(layout.units.at(static_cast<size_t>(entry.last_unit)).end >= free_from);
  }
  REQUIRE(layout.total >= free_from);
  REQUIRE(layout.total % kAlignmentElements == 0);
  int64_t next = 0;
  const int64_t largest = (unit_elements + kAlignmentElements - 1) / kAlignmentElements * kAlignmentElements;
  for (const LayoutUnit& unit : layout.units) {
    REQUIRE(unit.begin == next);
    REQUIRE(unit.begin % kAlignmentElements == 0);
    REQUIRE(unit.end > unit.begin);
    REQUIRE(unit.end - unit.begin < 2 * largest);
    next = unit.end;
  }
  REQUIRE(next == layout.total);
}

std::vector<std::pair<int64_t, int64_t>> borders(const Layout& layout) {
  std::vector<std::pair<int64_t, int64_t>> all;
  for (const LayoutUnit& unit : layout.units) all.emplace_back(unit.begin, unit.end);
  return all;
}

TEST_CASE("Parameters begin on 64-byte borders in the given order") {
  const Layout layout = make_layout({spec("a", {3, 5}), spec("b", {16}), spec("c", {17}), spec("d", {})}, 1 << 20);
  require_sound(layout, 1 << 20);
  REQUIRE(layout.entries[0].offset == 0);
  REQUIRE(layout.entries[0].size == 15);
  REQUIRE(layout.entries[1].offset == 16);
  REQUIRE(layout.entries[2].offset == 32);
  REQUIRE(layout.entries[3].offset == 64);
  REQUIRE(layout.entries[3].size == 1);
  REQUIRE(layout.total == 80);
  REQUIRE(layout.parameter_count() == 15 + 16 + 17 + 1);
  REQUIRE(layout.find("c") == 2);
  REQUIRE(layout.find("e") == -1);
  REQUIRE(borders(layout) == std::vector<std::pair<int64_t, int64_t>>{{0, 80}});
}

TEST_CASE("A parameter that continues the previous one lies right behind it, whatever its size") {
  for (const int64_t size : {1, 10, 15, 16, 17, 100}) {
    for (const int64_t unit : {1, 16, 24, 48, 1000}) {
      INFO("size " << size << ", unit " << unit);
      const Layout layout = make_layout(
          {spec("q", {size}), spec("k", {size}, true), spec("v", {size}, true), spec("next", {size})}, unit);
      require_sound(layout, unit);
      REQUIRE(layout.entries[1].offset == size);
      REQUIRE(layout.entries[2].offset == 2 * size);
      REQUIRE(layout.entries[3].offset % kAlignmentElements == 0);
      REQUIRE(layout.entries[3].offset >= 3 * size);
      REQUIRE(layout.entries[3].offset < 3 * size + kAlignmentElements);
    }
  }
}

TEST_CASE("The first parameter has nothing to continue") {
  const Layout layout = make_layout({spec("a", {5}, true), spec("b", {5})}, 64);
  REQUIRE(layout.entries[0].offset == 0);
  REQUIRE(layout.entries[1].offset == 16);
}

TEST_CASE("Small parameters share units, large ones are split evenly on aligned borders") {
  const Layout layout = make_layout(
      {spec("s1", {16}), spec("s2", {16}), spec("s3", {16}), spec("s4", {16}), spec("big", {20, 8}), spec("s5", {7})},
      48);
  require_sound(layout, 48);
  using Borders = std::vector<std::pair<int64_t, int64_t>>;
  // s1-s3 fill a unit; s4 is closed early by big, whose 160 elements become four units; s5 is alone.
  REQUIRE(borders(layout) == Borders{{0, 48}, {48, 64}, {64, 112}, {112, 160}, {160, 208}, {208, 224}, {224, 240}});
  const LayoutEntry& big = layout.entries[4];
  REQUIRE(big.first_unit == 2);
  REQUIRE(big.last_unit == 5);
  REQUIRE(layout.entries[0].first_unit == 0);
  REQUIRE(layout.entries[2].last_unit == 0);
  REQUIRE(layout.entries[3].first_unit == 1);
  REQUIRE(layout.entries[5].first_unit == 6);
}

TEST_CASE("A parameter of exactly a unit's size has a unit of its own") {
  const Layout layout = make_layout({spec("s", {1}), spec("big", {32}), spec("t", {1})}, 32);
  require_sound(layout, 32);
  using Borders = std::vector<std::pair<int64_t, int64_t>>;
  REQUIRE(borders(layout) == Borders{{0, 16}, {16, 48}, {48, 64}});
}

TEST_CASE("With a unit for each parameter none is divided and none shared") {
  using Borders = std::vector<std::pair<int64_t, int64_t>>;
  const Layout layout = make_layout({spec("small", {5}), spec("big", {20, 8}), spec("next", {16})}, kUnitPerParameter);
  require_sound(layout, 1 << 20);
  CHECK(borders(layout) == Borders{{0, 16}, {16, 176}, {176, 192}});
  // k begins inside what is aligned with q, so both are one unit; v begins on a border.
  const Layout parts = make_layout({spec("q", {24}), spec("k", {24}, true), spec("v", {24}, true)}, kUnitPerParameter);
  require_sound(parts, 1 << 20);
  CHECK(borders(parts) == Borders{{0, 48}, {48, 80}});
  CHECK(make_layout({}, kUnitPerParameter).units.empty());
}

TEST_CASE("What lies where does not depend on the units") {
  const std::vector<ParameterSpec> specs = {spec("a", {4, 6}), spec("b", {64})};
  const uint64_t base = make_layout(specs, 32).parameters_hash();
  CHECK(base == make_layout(specs, 64).parameters_hash());
  CHECK(base == make_layout(specs, kUnitPerParameter).parameters_hash());
  CHECK(base != make_layout({spec("a", {4, 6}), spec("c", {64})}, 32).parameters_hash());
}

TEST_CASE("Norm blocks are rows of lookup tables and fixed pieces of everything else") {
  ParameterSpec table = spec("table", {10, 12});
  table.is_lookup_table = true;
  const Layout layout = make_layout({table, spec("matrix", {10, 12})}, 1 << 20);
  REQUIRE(layout.entries[0].norm_block == 12);
  REQUIRE(layout.entries[1].norm_block == kNormBlockElements);
}

TEST_CASE("The hash tells names, shapes and units apart, and nothing else") {
  const std::vector<ParameterSpec> specs = {spec("a", {4, 6}), spec("b", {64})};
  const uint64_t base = make_layout(specs, 32).hash();
  REQUIRE(base == make_layout(specs, 32).hash());
  std::vector<ParameterSpec> flags = specs;
  flags[1].has_weight_decay = false;
  REQUIRE(base == make_layout(flags, 32).hash());
  REQUIRE(base != make_layout({spec("a", {6, 4}), spec("b", {64})}, 32).hash());
  REQUIRE(base != make_layout({spec("a", {24}), spec("b", {64})}, 32).hash());
  REQUIRE(base != make_layout({spec("A", {4, 6}), spec("b", {64})}, 32).hash());
  REQUIRE(base != make_layout({spec("b", {64}), spec("a", {4, 6})}, 32).hash());
  REQUIRE(base != make_layout({spec("a", {4, 6}), spec("b", {64}, true)}, 32).hash());
  REQUIRE(base != make_layout(specs, 64).hash());
  REQUIRE(base != make_layout({specs[0]}, 32).hash());
}

TEST_CASE("Edges: no parameters, no elements") {
  const Layout empty = make_layout({}, 16);
  REQUIRE(empty.total == 0);
  REQUIRE(empty.units.empty());
  const Layout hollow = make_layout({spec("a", {4}), spec("none", {0, 3}), spec("b", {4})}, 16);
  REQUIRE(hollow.entries[1].size == 0);
  REQUIRE(hollow.entries[2].offset == 16);
  REQUIRE(hollow.parameter_count() == 8);
}

TEST_CASE("A layout refuses two parameters of one name, and units of less than nothing") {
  error_text<InternalError>([] { make_layout({spec("a", {1}), spec("a", {1})}, 16); });
  error_text<InternalError>([] { make_layout({spec("a", {1})}, -1); });
}

}  // namespace
}  // namespace bertft
