// The option table of section data: every key reaches its field.
#include "data/options.h"

#include <set>

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
    if (std::holds_alternative<StringMap*>(option.target)) {
      set_option(option, StringMap{{"1", option.key}}, "--set", "data." + option.key);
      continue;
    }
    const bool is_integer = std::holds_alternative<int64_t*>(option.target);
    const bool is_number = std::holds_alternative<double*>(option.target);
    const std::string number = is_integer ? "12" : is_number ? "0.25" : "";
    const std::string value = !option.choices.empty() ? option.choices.back() : number.empty() ? option.key : number;
    set_option(option, StringList{value}, "--set", "data." + option.key);
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
  REQUIRE(options.columns.labels == StringList{"columns.labels"});
  REQUIRE(options.columns.id == "columns.id");
  REQUIRE(options.labels == StringList{"labels"});
  REQUIRE(options.max_rows == 12);
  REQUIRE(options.label_map == StringMap{{"1", "label_map"}});
  REQUIRE(options.label_pattern == "label_pattern");
  REQUIRE(options.label_type == "real");
  REQUIRE(options.unknown_label == "skip");
  REQUIRE(options.dev_fraction == 0.25);
  REQUIRE(options.cache_dir == "cache_dir");
}

}  // namespace
}  // namespace bertft
