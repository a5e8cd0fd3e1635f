// Outputs filed by row: any order, any width, each row once.
#include "tasks/row_outputs.h"

#include "core/error.h"
#include "tests/support/errors.h"

namespace bertft {
namespace {

using test::error_text;
using Values = std::vector<double>;

Values row(const RowOutputs& outputs, int64_t index) {
  const std::span<const double> values = outputs.row(index);
  return {values.begin(), values.end()};
}

TEST_CASE("Rows come in any order and have any number of values") {
  RowOutputs outputs(4);
  REQUIRE(outputs.rows() == 4);
  REQUIRE(outputs.rows_set() == 0);
  outputs.set(2, Values{1.0, 2.0, 3.0});
  outputs.set(0, Values{});
  outputs.set(3, Values{4.0});
  REQUIRE(outputs.rows_set() == 3);
  REQUIRE(row(outputs, 2) == Values{1.0, 2.0, 3.0});
  REQUIRE(row(outputs, 0).empty());
  REQUIRE(row(outputs, 3) == Values{4.0});
  outputs.set(1, Values{5.0, 6.0});
  REQUIRE(outputs.rows_set() == 4);
  REQUIRE(row(outputs, 2) == Values{1.0, 2.0, 3.0});
}

TEST_CASE("A row is computed once, and only computed rows are read") {
  RowOutputs outputs(2);
  outputs.set(1, Values{1.0});
  REQUIRE_THAT(error_text<InternalError>([&] { outputs.set(1, Values{1.0}); }), Catch::Contains("twice"));
  REQUIRE_THAT(error_text<InternalError>([&] { outputs.row(0); }), Catch::Contains("not computed"));
  REQUIRE(outputs.rows_set() == 1);
}

}  // namespace
}  // namespace bertft
