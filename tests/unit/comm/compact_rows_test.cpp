// Rows of a lookup table that travel alone: they come to the front and back, and units are cut by their number.
#include "comm/compact_rows.h"

#include <algorithm>
#include <cstring>
#include <numeric>
#include <random>

#include "core/error.h"
#include "tests/support/errors.h"
#include "tests/support/test.h"

namespace bertft {
namespace {

using Rows = std::vector<int32_t>;

constexpr int64_t kTableRows = 37;
constexpr int64_t kWidth = 20;  // rows do not begin on aligned borders

Rows random_rows(std::mt19937& random, int64_t of) {
  Rows all(static_cast<size_t>(of));
  std::iota(all.begin(), all.end(), 0);
  std::shuffle(all.begin(), all.end(), random);
  all.resize(random() % (all.size() + 1));
  std::sort(all.begin(), all.end());
  return all;
}

std::vector<Rows> many_row_lists() {
  Rows all(kTableRows);
  std::iota(all.begin(), all.end(), 0);
  std::vector<Rows> lists = {{},
                             {0},
                             {kTableRows - 1},
                             {0, kTableRows - 1},
                             {1},
                             {0, 1, 2},
                             {1, 2, 3},
                             all,
                             Rows(all.begin() + 1, all.end()),
                             Rows(all.begin(), all.end() - 1)};
  std::mt19937 random(7);
  for (int i = 0; i < 200; ++i) lists.push_back(random_rows(random, kTableRows));
  return lists;
}

float value_at(int64_t row, int64_t column) { return static_cast<float>(row * 100 + column + 1); }

ParameterSpec table_spec() {
  return {.name = "table", .shape = {kTableRows, kWidth}, .is_lookup_table = true, .depth = 1};
}

Layout layout_with_table(int64_t unit_elements) {
  return make_layout({{.name = "a", .shape = {300}}, table_spec(), {.name = "b", .shape = {40, 4}}}, unit_elements);
}

// Zero but for `rows`, as backward leaves it.
void fill_rows(GradientBuffer& gradients, const LayoutEntry& table, const Rows& rows) {
  auto* values = static_cast<float*>(gradients.data()) + table.offset;
  std::fill(values, values + table.size, 0.0f);
  for (const int32_t row : rows) {
    for (int64_t column = 0; column < kWidth; ++column) values[row * kWidth + column] = value_at(row, column);
  }
}

bool holds_exactly(const float* table, const Rows& rows) {
  for (int64_t row = 0; row < kTableRows; ++row) {
    const bool is_used = std::binary_search(rows.begin(), rows.end(), static_cast<int32_t>(row));
    for (int64_t column = 0; column < kWidth; ++column) {
      if (table[row * kWidth + column] != (is_used ? value_at(row, column) : 0.0f)) return false;
    }
  }
  return true;
}

TEST_CASE("Rows move to the front and back, and the table is as it was") {
  for (const Rows& rows : many_row_lists()) {
    CAPTURE(rows);
    std::vector<float> table(kTableRows * kWidth, 0.0f);
    for (const int32_t row : rows) {
      for (int64_t column = 0; column < kWidth; ++column) {
        table[static_cast<size_t>(row * kWidth + column)] = value_at(row, column);
      }
    }
    const std::vector<float> before = table;
    auto* bytes = reinterpret_cast<std::byte*>(table.data());
    rows_to_front(bytes, kWidth * sizeof(float), rows);
    for (size_t i = 0; i < rows.size(); ++i) {
      REQUIRE(std::equal(table.begin() + static_cast<int64_t>(i) * kWidth,
                         table.begin() + static_cast<int64_t>(i + 1) * kWidth, before.begin() + rows[i] * kWidth));
    }
    rows_from_front(bytes, kWidth * sizeof(float), rows);
    REQUIRE(table == before);
  }
}

TEST_CASE("A table with units of its own is found, one that shares a unit or is frozen is not") {
  CHECK(table_with_own_units(layout_with_table(200)) == 1);
  CHECK(table_with_own_units(layout_with_table(kTableRows * kWidth)) == 1);
  CHECK(table_with_own_units(layout_with_table(kTableRows * kWidth + 1)) == -1);
  CHECK(table_with_own_units(make_layout({{.name = "a", .shape = {300}}}, 16)) == -1);
  ParameterSpec frozen = table_spec();
  frozen.is_trainable = false;
  CHECK(table_with_own_units(make_layout({{.name = "a", .shape = {300}}, frozen}, 16)) == -1);
}

TEST_CASE("Units are cut by the number of rows: whole ones, a part, then nothing") {
  const Layout layout = layout_with_table(200);
  const LayoutEntry& table = layout.entries[1];
  REQUIRE(table.last_unit - table.first_unit >= 3);
  const GradientBuffer gradients(layout.trainable_total, sizeof(float));
  for (const Rows& rows : many_row_lists()) {
    CAPTURE(rows.size());
    CompactRows compact(layout, gradients, SparseRule::kAnyUnused);
    compact.set_rows(1, rows);
    REQUIRE(compact.is_compact() == (rows.size() < kTableRows));
    int64_t sent = 0;
    int64_t next = table.offset;
    for (size_t unit = 0; unit < layout.units.size(); ++unit) {
      const ElementRange range = compact.range_of(static_cast<int>(unit));
      const LayoutUnit& whole = layout.units[unit];
      REQUIRE(range.begin == whole.begin);
      REQUIRE(range.begin % kAlignmentElements == 0);
      if (static_cast<int>(unit) < table.first_unit || static_cast<int>(unit) > table.last_unit) {
        REQUIRE(range.end == whole.end);
        continue;
      }
      REQUIRE((range.size() == 0 || range.begin == next));  // no hole
      next = range.end;
      sent += range.size();
    }
    if (compact.is_compact()) REQUIRE(sent == static_cast<int64_t>(rows.size()) * kWidth);
    compact.end_step();
    REQUIRE(compact.range_of(table.last_unit).end == layout.units[static_cast<size_t>(table.last_unit)].end);
  }
}

TEST_CASE("The rule knows counts alone, and nothing is sparse without rows or for another parameter") {
  const Layout layout = layout_with_table(200);
  const GradientBuffer gradients(layout.trainable_total, sizeof(float));
  const auto is_compact = [&](SparseRule rule, int64_t rows) {
    Rows list(static_cast<size_t>(rows));
    std::iota(list.begin(), list.end(), static_cast<int32_t>(kTableRows - rows));
    CompactRows compact(layout, gradients, rule);
    compact.set_rows(1, list);
    return compact.is_compact();
  };
  CHECK(is_compact(SparseRule::kUpToHalf, 0));
  CHECK(is_compact(SparseRule::kUpToHalf, kTableRows / 2));
  CHECK_FALSE(is_compact(SparseRule::kUpToHalf, kTableRows / 2 + 1));
  CHECK(is_compact(SparseRule::kAnyUnused, kTableRows - 1));
  CHECK_FALSE(is_compact(SparseRule::kAnyUnused, kTableRows));
  CHECK_FALSE(is_compact(SparseRule::kNever, 1));
  CompactRows compact(layout, gradients, SparseRule::kUpToHalf);
  CHECK_FALSE(compact.is_compact());
  compact.set_rows(0, {1});
  CHECK_FALSE(compact.is_compact());
  const Layout shared = layout_with_table(1 << 20);
  CompactRows dense(shared, gradients, SparseRule::kUpToHalf);
  dense.set_rows(1, {1});
  CHECK_FALSE(dense.is_compact());
  CHECK(dense.description() == "dense embedding rows");
}

TEST_CASE("Elements of the block are named by their place among the gradients") {
  const Layout layout = layout_with_table(200);
  const LayoutEntry& table = layout.entries[1];
  const GradientBuffer gradients(layout.trainable_total, sizeof(float));
  CompactRows compact(layout, gradients, SparseRule::kAnyUnused);
  compact.set_rows(1, {2, 5, 30});
  CHECK(compact.origin_of(table.offset) == table.offset + 2 * kWidth);
  CHECK(compact.origin_of(table.offset + kWidth + 3) == table.offset + 5 * kWidth + 3);
  CHECK(compact.origin_of(table.offset + 3 * kWidth - 1) == table.offset + 31 * kWidth - 1);
  for (const int64_t other : {int64_t{0}, table.offset - 1, layout.entries[2].offset, layout.entries[2].offset + 7}) {
    CHECK(compact.origin_of(other) == other);
  }
  compact.end_step();
  CHECK(compact.origin_of(table.offset) == table.offset);
}

// Steps with other rows each, some of them dense, some without any rows being known.
TEST_CASE("No value of an earlier step survives, whether sums stand among the gradients or elsewhere") {
  const Layout layout = layout_with_table(200);
  const LayoutEntry& table = layout.entries[1];
  GradientBuffer gradients(layout.trainable_total, sizeof(float));
  GradientBuffer result(layout.trainable_total, sizeof(float));
  std::mt19937 random(11);
  for (const bool is_elsewhere : {false, true}) {
    CompactRows compact(layout, gradients, SparseRule::kUpToHalf);
    auto* own = static_cast<float*>(gradients.data());
    auto* sums = is_elsewhere ? static_cast<float*>(result.data()) : own;
    std::fill(own, own + layout.trainable_total, 0.0f);
    int compact_steps = 0;
    for (int step = 0; step < 300; ++step) {
      const Rows rows = random_rows(random, kTableRows);
      CAPTURE(is_elsewhere, step, rows);
      fill_rows(gradients, table, rows);
      if (step % 7 != 3) compact.set_rows(1, rows);
      const bool is_compact = compact.is_compact();
      for (int unit = static_cast<int>(layout.units.size()) - 1; unit >= 0; --unit) {
        compact.before_leaving(unit);
        const ElementRange range = compact.range_of(unit);
        std::copy(own + range.begin, own + range.end, sums + range.begin);  // a sum over one rank
      }
      if (is_compact) {
        ++compact_steps;
        if (is_elsewhere) {
          compact.restore_in(static_cast<std::byte*>(result.data()));
          compact.clear_block();
        } else {
          compact.restore();
        }
      }
      compact.end_step();
      REQUIRE(holds_exactly(sums + table.offset, rows));
      for (int64_t row = 0; row < kTableRows; ++row) {
        if (std::binary_search(rows.begin(), rows.end(), static_cast<int32_t>(row))) continue;
        const float* begin = own + table.offset + row * kWidth;
        REQUIRE(std::all_of(begin, begin + kWidth, [](float value) { return value == 0.0f; }));
      }
    }
    REQUIRE(compact_steps > 50);
  }
}

TEST_CASE("Rows that are not there, out of order or twice are an internal error") {
  const Layout layout = layout_with_table(200);
  const GradientBuffer gradients(layout.trainable_total, sizeof(float));
  CompactRows compact(layout, gradients, SparseRule::kUpToHalf);
  for (const Rows& wrong : {Rows{-1, 2}, Rows{3, 2}, Rows{2, 2}, Rows{1, kTableRows}}) {
    CAPTURE(wrong);
    REQUIRE_THAT(test::error_text<InternalError>([&] { compact.set_rows(1, wrong); }), Catch::Contains("ascending"));
  }
}

}  // namespace
}  // namespace bertft
