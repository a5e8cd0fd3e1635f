// Packing on a dataset made by hand.
#include "data/packed_batch.h"

#include "data/dataset.h"
#include "tests/support/test.h"

namespace bertft {
namespace {

using Ids = std::vector<int32_t>;

// Row 0: a single text; row 1: a pair; row 2: empty texts; row 3: no ids at all.
Dataset small_dataset() {
  DatasetArrays arrays;
  arrays.ids = {2, 11, 12, 3, 2, 13, 3, 14, 15, 3, 2, 3};
  arrays.begins = {0, 4, 10, 12};
  arrays.lengths = arrays.untruncated_lengths = {4, 6, 2, 0};
  arrays.second_begins = {4, 3, 2, 0};
  return Dataset(arrays);
}

TEST_CASE("Rows are packed in the given order without gaps") {
  const Dataset dataset = small_dataset();
  const PackedBatch batch = pack_rows(dataset, std::vector<int64_t>{2, 1, 0});
  REQUIRE(batch.ids == Ids{2, 3, 2, 13, 3, 14, 15, 3, 2, 11, 12, 3});
  REQUIRE(batch.token_types == Ids{0, 0, 0, 0, 0, 1, 1, 1, 0, 0, 0, 0});
  REQUIRE(batch.positions == Ids{0, 1, 0, 1, 2, 3, 4, 5, 0, 1, 2, 3});
  REQUIRE(batch.offsets == Ids{0, 2, 8, 12});
  REQUIRE(batch.rows == std::vector<int64_t>{2, 1, 0});
  REQUIRE(batch.parts == Ids{0, 0, 0});
  REQUIRE(batch.max_length == 6);
  REQUIRE(batch.tokens() == 12);
  REQUIRE(batch.sequences() == 3);
}

TEST_CASE("A batch may hold no row, or a row without ids") {
  const Dataset dataset = small_dataset();
  const PackedBatch nothing = pack_rows(dataset, {});
  REQUIRE(nothing.offsets == Ids{0});
  REQUIRE(nothing.tokens() == 0);
  REQUIRE(nothing.max_length == 0);
  const PackedBatch batch = pack_rows(dataset, std::vector<int64_t>{3, 2});
  REQUIRE(batch.offsets == Ids{0, 0, 2});
  REQUIRE(batch.positions == Ids{0, 1});
}

}  // namespace
}  // namespace bertft
