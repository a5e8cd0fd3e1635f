// The books of a step's gradients: who overwrites, who adds, and when a unit is complete.
#include "model/gradient_ledger.h"

#include "core/error.h"
#include "tests/support/errors.h"

namespace bertft {
namespace {

using test::error_text;
using Units = std::vector<int>;

// Parameters 0 and 1 share unit 0; 2 spans units 1 and 2; 3 has unit 3.
Layout four_parameters() {
  const Layout layout = make_layout({{.name = "0", .shape = {16}},
                                     {.name = "1", .shape = {16}},
                                     {.name = "2", .shape = {64}},
                                     {.name = "3", .shape = {32}}},
                                    32);
  REQUIRE(layout.units.size() == 4);
  REQUIRE(layout.entries[1].last_unit == 0);
  REQUIRE(layout.entries[2].first_unit == 1);
  REQUIRE(layout.entries[2].last_unit == 2);
  REQUIRE(layout.entries[3].first_unit == 3);
  return layout;
}

// A ledger over them that remembers which units were announced.
struct Books {
  Layout layout = four_parameters();
  GradientLedger ledger{layout};
  Units announced;

  Books() {
    ledger.on_unit_ready([this](int unit) { announced.push_back(unit); });
  }
  void contribute_all() {
    for (int entry = 3; entry >= 0; --entry) ledger.contributed({entry});
  }
};

TEST_CASE("The first contribution of a step overwrites, later ones add") {
  Books books;
  for (int entry = 0; entry < 4; ++entry) books.ledger.declare_use({entry});
  for (int step = 0; step < 2; ++step) {
    books.ledger.begin_step();
    books.ledger.begin_micro_batch(false);
    REQUIRE(books.ledger.beta({0}) == 0.0);
    REQUIRE(books.ledger.beta({1, 2}) == 0.0);
    books.contribute_all();
    REQUIRE(books.ledger.beta({0, 1, 2, 3}) == 1.0);
    books.ledger.begin_micro_batch(true);
    REQUIRE(books.ledger.beta({3}) == 1.0);
    books.contribute_all();
  }
}

TEST_CASE("Parameters of one contribution must be in the same state") {
  Books books;
  books.ledger.begin_step();
  books.ledger.contributed({0});
  error_text<InternalError>([&] { books.ledger.beta({0, 1}); });
}

TEST_CASE("A unit is ready once, when all its parameters are complete, and only in the last micro-batch") {
  Books books;
  for (int entry = 0; entry < 4; ++entry) books.ledger.declare_use({entry});
  for (int step = 0; step < 3; ++step) {
    books.announced.clear();
    books.ledger.begin_step();
    books.ledger.begin_micro_batch(false);
    books.contribute_all();
    books.ledger.begin_micro_batch(false);
    books.contribute_all();
    REQUIRE(books.announced.empty());
    books.ledger.begin_micro_batch(true);
    books.ledger.contributed({3});
    REQUIRE(books.announced == Units{3});
    books.ledger.contributed({0});
    REQUIRE(books.announced == Units{3});
    books.ledger.contributed({2});
    REQUIRE(books.announced == Units{3, 1, 2});
    books.ledger.contributed({1});
    REQUIRE(books.announced == Units{3, 1, 2, 0});
    REQUIRE(books.ledger.missing().empty());
    books.ledger.release();
    REQUIRE(books.announced == Units{3, 1, 2, 0});
  }
}

TEST_CASE("A tied parameter is complete after its second use") {
  Books books;
  books.ledger.declare_use({0, 1, 2});
  books.ledger.declare_use({3});
  books.ledger.declare_use({3});
  books.ledger.begin_step();
  books.ledger.begin_micro_batch(true);
  books.ledger.contributed({3});
  REQUIRE(books.announced.empty());
  REQUIRE(books.ledger.beta({3}) == 1.0);
  books.ledger.contributed({3});
  REQUIRE(books.announced == Units{3});
  error_text<InternalError>([&] { books.ledger.contributed({3}); });
}

TEST_CASE("What got no contribution is missing, and release announces what was held back") {
  Books books;
  for (int entry = 0; entry < 4; ++entry) books.ledger.declare_use({entry});
  SECTION("no micro-batch at all") {
    books.ledger.begin_step();
    REQUIRE(books.ledger.missing() == Units{0, 1, 2, 3});
    books.ledger.release();
    REQUIRE(books.announced == Units{0, 1, 2, 3});
  }
  SECTION("one parameter of a shared unit") {
    books.ledger.begin_step();
    books.ledger.begin_micro_batch(true);
    books.ledger.contributed({0});
    books.ledger.contributed({2});
    REQUIRE(books.announced == Units{1, 2});
    REQUIRE(books.ledger.missing() == Units{1, 3});
    books.ledger.release();
    REQUIRE(books.announced == Units{1, 2, 0, 3});
  }
  SECTION("a parameter that an earlier micro-batch used and the last one did not") {
    books.ledger.begin_step();
    books.ledger.begin_micro_batch(false);
    books.contribute_all();
    books.ledger.begin_micro_batch(true);
    for (const int entry : {0, 1, 2}) books.ledger.contributed({entry});
    REQUIRE(books.ledger.missing().empty());
    REQUIRE(books.announced == Units{0, 1, 2});
    books.ledger.release();
    REQUIRE(books.announced == Units{0, 1, 2, 3});
  }
}

TEST_CASE("A parameter nobody declared is missing and holds up nobody") {
  Books books;
  books.ledger.declare_use({0});
  books.ledger.begin_step();
  books.ledger.begin_micro_batch(true);
  books.ledger.contributed({0});
  REQUIRE(books.announced == Units{0});
  REQUIRE(books.ledger.missing() == Units{1, 2, 3});
  books.ledger.release();
  REQUIRE(books.announced == Units{0, 1, 2, 3});
}

TEST_CASE("Without a listener nothing is announced and nothing breaks") {
  const Layout layout = four_parameters();
  GradientLedger ledger(layout);
  ledger.declare_use({0, 1, 2, 3});
  ledger.begin_step();
  ledger.begin_micro_batch(true);
  ledger.contributed({0, 1, 2, 3});
  ledger.release();
  REQUIRE(ledger.missing().empty());
}

}  // namespace
}  // namespace bertft
