// The worst errors: only wrong rows, largest loss first, equal ones by row, never more than are shown.
#include "tasks/row_errors.h"

#include "tests/support/test.h"

namespace bertft {
namespace {

TEST_CASE("Wrong rows come by their loss") {
  const std::vector<double> losses = {0.5, 3.0, 9.0, 3.0, 0.1};
  const std::vector<uint8_t> is_wrong = {1, 1, 0, 1, 1};
  std::vector<int64_t> rows;
  for (const RowError& error : worst_errors(losses, is_wrong)) rows.push_back(error.row);
  CHECK(rows == std::vector<int64_t>{1, 3, 0, 4});
}

TEST_CASE("Fifty errors are kept, the worst ones") {
  const std::vector<uint8_t> is_wrong(200, 1);
  std::vector<double> losses;
  for (int i = 0; i < 200; ++i) losses.push_back((i * 37) % 200);
  const std::vector<RowError> errors = worst_errors(losses, is_wrong);
  REQUIRE(errors.size() == 50);
  CHECK(errors.front().loss == 199.0);
  CHECK(errors.back().loss == 150.0);
  CHECK(worst_errors(losses, std::vector<uint8_t>(200, 0)).empty());
}

}  // namespace
}  // namespace bertft
