// Option tables: every type is read from text, checked against its range or choices, and written back as YAML would.
#include "core/option_table.h"

#include "core/error.h"
#include "tests/support/errors.h"

namespace bertft {
namespace {

using Catch::Contains;
using test::error_text;

// One option of every type, with limits where the type knows them.
struct Targets {
  bool flag = false;
  int64_t count = 3;
  double rate = 0.5;
  std::string word = "linear";
  std::string free_text = "";
  AutoInt steps;
  AutoDouble share;
  StringList names;
  StringList kinds;
  DoublePair betas = {0.9, 0.999};
  AutoInt every;
  StringMap renamed;
  TextOrMap weights = {"none", {}};
};

std::vector<Option> options_of(Targets& t) {
  return {
      {.key = "flag", .target = &t.flag, .help = "h"},
      {.key = "count", .target = &t.count, .help = "h", .unit = "rows", .min = 1, .max = 100000},
      {.key = "rate", .target = &t.rate, .help = "h", .min = 0.0},
      {.key = "word", .target = &t.word, .help = "h", .choices = {"linear", "cosine"}},
      {.key = "free_text", .target = &t.free_text, .help = "h"},
      {.key = "steps", .target = &t.steps, .help = "h", .max = 50},
      {.key = "share", .target = &t.share, .help = "h", .min = 0.0, .max = 1.0},
      {.key = "names", .target = &t.names, .help = "h"},
      {.key = "kinds", .target = &t.kinds, .help = "h", .choices = {"a", "b"}},
      {.key = "betas", .target = &t.betas, .help = "h", .min = 0.0, .max = 0.9999},
      {.key = "every", .target = &t.every, .help = "h", .min = 1, .auto_word = "epoch"},
      {.key = "renamed", .target = &t.renamed, .help = "h"},
      {.key = "weights", .target = &t.weights, .help = "h", .choices = {"none", "balanced"}},
  };
}

const Option& find(const std::vector<Option>& options, const std::string& key) {
  for (const Option& option : options) {
    if (option.key == key) return option;
  }
  throw InternalError("no option " + key);
}

TEST_CASE("A text of the right type and range becomes the value") {
  struct Case {
    const char* key;
    StringList texts;
    const char* shown;  // what option_value_text makes of the value
  };
  const std::vector<Case> cases = {
      {"flag", {"true"}, "true"},
      {"flag", {"false"}, "false"},
      {"count", {"17"}, "17"},
      {"count", {"+17"}, "17"},
      {"count", {"1e5"}, "100000"},
      {"count", {"2.0"}, "2"},
      {"count", {"1"}, "1"},
      {"rate", {"5e-5"}, "5e-05"},
      {"rate", {"0"}, "0"},
      {"rate", {"0.1"}, "0.1"},
      {"word", {"cosine"}, "cosine"},
      {"free_text", {"a: b, [c]"}, "a: b, [c]"},
      {"free_text", {""}, ""},
      {"steps", {"auto"}, "auto"},
      {"steps", {"-3"}, "-3"},
      {"share", {"auto"}, "auto"},
      {"share", {"0.25"}, "0.25"},
      {"share", {"1"}, "1"},
      {"names", {}, "[]"},
      {"names", {"x"}, "[x]"},
      {"names", {"x", "y z"}, "[x, y z]"},
      {"kinds", {"b", "a"}, "[b, a]"},
      {"betas", {"0.5", "0"}, "[0.5, 0]"},
  };
  for (const Case& c : cases) {
    Targets targets;
    const std::vector<Option> options = options_of(targets);
    const Option& option = find(options, c.key);
    INFO(c.key << " <- " << (c.texts.empty() ? "nothing" : c.texts.front()));
    set_option(option, c.texts, "c.yaml:1", c.key);
    REQUIRE(option_value_text(option) == c.shown);
  }
}

TEST_CASE("auto takes a value away again") {
  Targets targets;
  targets.steps = 7;
  targets.share = 0.5;
  const std::vector<Option> options = options_of(targets);
  set_option(find(options, "steps"), {"auto"}, "p", "k");
  set_option(find(options, "share"), {"auto"}, "p", "k");
  REQUIRE_FALSE(targets.steps.has_value());
  REQUIRE_FALSE(targets.share.has_value());
}

TEST_CASE("A wrong type, range, choice or number of values is named with its place and key") {
  struct Case {
    const char* key;
    StringList texts;
    const char* fragment;
  };
  const std::vector<Case> cases = {
      {"flag", {"yes"}, "'yes' is not of the expected type: true or false"},
      {"flag", {"True"}, "'True' is not of the expected type: true or false"},
      {"flag", {""}, "'' is not of the expected type: true or false"},
      {"count", {"many"}, "'many' is not of the expected type: an integer"},
      {"count", {"1.5"}, "'1.5' is not of the expected type: an integer"},
      {"count", {""}, "'' is not of the expected type: an integer"},
      {"count", {"+"}, "'+' is not of the expected type: an integer"},
      {"count", {"+-5"}, "'+-5' is not of the expected type: an integer"},
      {"count", {"12 "}, "'12 ' is not of the expected type: an integer"},
      {"count", {"0x10"}, "'0x10' is not of the expected type: an integer"},
      {"count", {"1e300"}, "'1e300' is not of the expected type: an integer"},
      {"count", {"99999999999999999999"}, "'99999999999999999999' is not of the expected type: an integer"},
      {"count", {"auto"}, "'auto' is not of the expected type: an integer"},
      {"count", {"0"}, "0 is out of range: it must be between 1 and 100000 rows"},
      {"count", {"100001"}, "100001 is out of range: it must be between 1 and 100000 rows"},
      {"count", {"1", "2"}, "an integer is needed, not a list"},
      {"count", {}, "an integer is needed, not a list"},
      {"rate", {"fast"}, "'fast' is not of the expected type: a number"},
      {"rate", {"nan"}, "'nan' is not of the expected type: a number"},
      {"rate", {"inf"}, "'inf' is not of the expected type: a number"},
      {"rate", {"1e999"}, "'1e999' is not of the expected type: a number"},
      {"rate", {"-0.1"}, "-0.1 is out of range: it must be at least 0"},
      {"word", {"lineal"}, "'lineal' is not one of linear, cosine"},
      {"word", {"linear", "cosine"}, "not a list"},
      {"free_text", {"a", "b"}, "not a list"},
      {"steps", {"Auto"}, "'Auto' is not of the expected type: an integer or auto"},
      {"steps", {"51"}, "51 is out of range: it must be at most 50"},
      {"share", {"x"}, "'x' is not of the expected type: a number or auto"},
      {"share", {"1.5"}, "1.5 is out of range: it must be between 0 and 1"},
      {"kinds", {"a", "c"}, "'c' is not one of a, b"},
      {"betas", {"0.9"}, "a list of two numbers is needed, got 1 value(s)"},
      {"betas", {"0.9", "0.9", "0.9"}, "got 3 value(s)"},
      {"betas", {"0.9", "1.0"}, "1.0 is out of range"},
      {"betas", {"0.9", "b"}, "'b' is not of the expected type"},
  };
  for (const Case& c : cases) {
    Targets targets;
    const std::vector<Option> options = options_of(targets);
    const Option& option = find(options, c.key);
    const std::string before = option_value_text(option);
    INFO(c.key << " <- " << (c.texts.empty() ? "nothing" : c.texts.front()));
    const std::string message =
        error_text<ConfigError>([&] { set_option(option, c.texts, "run.yaml:12", "train.it"); });
    REQUIRE_THAT(message, Catch::StartsWith("run.yaml:12: train.it: ") && Contains(c.fragment));
    REQUIRE(option_value_text(option) == before);
  }
}

TEST_CASE("A long or binary text is shown as an excerpt") {
  Targets targets;
  const std::vector<Option> options = options_of(targets);
  const std::string message =
      error_text<ConfigError>([&] { set_option(find(options, "count"), {std::string(5000, 'x') + "\n"}, "p", "k"); });
  REQUIRE(message.size() < 200);
  REQUIRE_THAT(message, Contains("xxx..."));
}

TEST_CASE("An option with a word of its own for no value") {
  Targets targets;
  const auto options = options_of(targets);
  const Option& every = find(options, "every");
  CHECK(option_value_text(every) == "epoch");
  CHECK(option_type_text(every) == "an integer or epoch");
  set_option(every, StringList{"20"}, "c.yaml:1", "every");
  CHECK(targets.every == 20);
  set_option(every, StringList{"epoch"}, "c.yaml:1", "every");
  CHECK_FALSE(targets.every.has_value());
  CHECK_THAT(error_text<ConfigError>([&] { set_option(every, StringList{"auto"}, "c.yaml:1", "every"); }),
             Contains("an integer or epoch"));
}

TEST_CASE("Maps keep their order, and only options that are maps take them") {
  Targets targets;
  const auto options = options_of(targets);
  const StringMap map = {{"1", "World"}, {"0", "Sports"}};
  CHECK(takes_map(find(options, "renamed")));
  CHECK(takes_map(find(options, "weights")));
  CHECK_FALSE(takes_map(find(options, "names")));
  set_option(find(options, "renamed"), map, "c.yaml:1", "renamed");
  CHECK(option_value_text(find(options, "renamed")) == "{1: World, 0: Sports}");
  set_option(find(options, "weights"), StringMap{{"a", "2.5"}}, "c.yaml:1", "weights");
  CHECK(option_value_text(find(options, "weights")) == "{a: 2.5}");
  set_option(find(options, "weights"), StringList{"balanced"}, "c.yaml:1", "weights");
  CHECK(option_value_text(find(options, "weights")) == "balanced");
  CHECK_THAT(error_text<ConfigError>([&] { set_option(find(options, "count"), map, "c.yaml:7", "x.count"); }),
             Contains("c.yaml:7") && Contains("x.count") && Contains("not a map"));
  CHECK_THAT(error_text<ConfigError>([&] { set_option(find(options, "renamed"), StringList{"a"}, "c.yaml:7", "x"); }),
             Contains("a map is needed"));
  CHECK_THROWS_AS(set_option(find(options, "weights"), StringList{"other"}, "c.yaml:7", "x"), ConfigError);
}

}  // namespace
}  // namespace bertft
