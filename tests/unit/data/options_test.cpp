// The option table of section data: every key reaches its field, and what is not built is refused by name.
#include "data/options.h"

#include <set>

#include "core/error.h"
#include "tests/support/test.h"

namespace bertft {
namespace {

TEST_CASE("Every key of section data reaches its own field") {
  DataOptions options;
  const OptionTable table = data_option_table(options);
  REQUIRE(table.section == "data");
  std::set<std::string> keys;
  for (const Option& option : table.options) {
    REQUIRE(keys.insert(option.key).second);
    REQUIRE_FALSE(option.help.empty());
    const bool is_number = std::holds_alternative<int64_t*>(option.target);
    const std::string value = !option.choices.empty() ? option.choices.back() : is_number ? "12" : option.key;
    set_option(option, {value}, "--set", "data." + option.key);
  }
  REQUIRE(options.train == StringList{"train"});
  REQUIRE(options.dev == StringList{"dev"});
  REQUIRE(options.test == StringList{"test"});
  REQUIRE(options.format == "jsonl");
  REQUIRE(options.delimiter == "delimiter");
  REQUIRE(options.max_splits == 12);
  REQUIRE(options.schema == "schema");
  REQUIRE(options.encoding == "gb18030");
  REQUIRE(options.invalid_utf8 == "skip");
  REQUIRE(options.bad_row == "skip");
  REQUIRE(options.header == "false");
  REQUIRE(options.columns.text == "columns.text");
  REQUIRE(options.columns.text_pair == "columns.text_pair");
  REQUIRE(options.columns.label == "columns.label");
  REQUIRE(options.columns.id == "columns.id");
  REQUIRE(options.labels == StringList{"labels"});
  REQUIRE(options.max_rows == 12);
}

TEST_CASE("What section data refuses by name is no option, and each has a remedy") {
  DataOptions options;
  const OptionTable table = data_option_table(options);
  REQUIRE(table.not_in_this_build.count("unknown_label") == 1);
  for (const auto& [key, remedy] : table.not_in_this_build) {
    REQUIRE_FALSE(remedy.empty());
    for (const Option& option : table.options) REQUIRE(option.key != key);
  }
}

}  // namespace
}  // namespace bertft
