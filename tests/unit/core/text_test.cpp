// Helpers for messages: the word that was meant, numbers, excerpts.
#include "core/text.h"

#include <limits>

#include "tests/support/test.h"

namespace bertft {
namespace {

TEST_CASE("The nearest word is found when it is near enough") {
  const std::vector<std::string> keys = {"train.epochs", "train.max_steps", "optimizer.learning_rate", "seed"};
  struct Case {
    const char* word;
    const char* nearest;  // "" = none
  };
  const std::vector<Case> cases = {
      {"train.epochs", "train.epochs"},
      {"train.epoch", "train.epochs"},
      {"train.epcohs", "train.epochs"},
      {"optimizer.lerning_rat", "optimizer.learning_rate"},
      {"optimiser.learning-rate", "optimizer.learning_rate"},
      {"sed", "seed"},
      {"speed", "seed"},
      {"lr", ""},
      {"completely.different", ""},
      {"", ""},
  };
  for (const Case& c : cases) {
    INFO(c.word);
    REQUIRE(nearest_word(c.word, keys).value_or("") == c.nearest);
  }
  REQUIRE_FALSE(nearest_word("seed", {}).has_value());
  // Of equally near words the first one.
  REQUIRE(nearest_word("cat", {"bat", "hat"}) == "bat");
}

TEST_CASE("Parts are joined") {
  REQUIRE(join({}, ", ").empty());
  REQUIRE(join({"a"}, ", ") == "a");
  REQUIRE(join({"a", "", "{}"}, ", ") == "a, , {}");
}

TEST_CASE("Thousands are set apart") {
  REQUIRE(with_thousands(0) == "0");
  REQUIRE(with_thousands(999) == "999");
  REQUIRE(with_thousands(1000) == "1,000");
  REQUIRE(with_thousands(22713216) == "22,713,216");
  REQUIRE(with_thousands(-123) == "-123");
  REQUIRE(with_thousands(-1234567) == "-1,234,567");
  REQUIRE(with_thousands(std::numeric_limits<int64_t>::min()) == "-9,223,372,036,854,775,808");
}

TEST_CASE("Excerpts are short, whole characters, without control characters") {
  REQUIRE(excerpt("plain") == "plain");
  REQUIRE(excerpt("") == "");
  REQUIRE(excerpt("a\tb\nc\x7f\x01") == "a\\x09b\\x0ac\\x7f\\x01");
  REQUIRE(excerpt(std::string("\0x", 2)) == "\\x00x");
  REQUIRE(excerpt("123456", 6) == "123456");
  REQUIRE(excerpt("1234567", 6) == "123456...");
  REQUIRE(excerpt("12345\xC3\xA4", 6) == "12345...");       // a-umlaut does not fit whole
  REQUIRE(excerpt("12345\xC3\xA4", 7) == "12345\xC3\xA4");  // now it does
  REQUIRE(excerpt("123\xE4\xB8\xAD\xE6\x96\x87", 8) == "123\xE4\xB8\xAD...");
  REQUIRE(excerpt("\x80\x80\x80\x80", 2) == "...");  // no character begins here
  REQUIRE(excerpt(std::string(1000, 'x')).size() == 63);
}

}  // namespace
}  // namespace bertft
