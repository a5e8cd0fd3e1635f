// Overrides, origins, the rules between options, and printing: what is printed loads to the same values.
#include "config/run_config.h"
#include "config/rules.h"

#include <filesystem>
#include <set>

#include "config/yaml.h"
#include "core/error.h"
#include "tests/support/errors.h"
#include "tests/support/temp_folder.h"

namespace bertft {
namespace {

using Catch::Contains;
using test::error_text;
using test::TempFolder;

RunConfig with_overrides(const std::vector<std::string>& assignments) {
  RunConfig config;
  for (const std::string& assignment : assignments) apply_override(config, assignment, "--set");
  return config;
}

// Complete enough to pass all rules.
RunConfig runnable(const std::vector<std::string>& more = {}) {
  std::vector<std::string> assignments = {"model.checkpoint=/m", "data.train=/t.tsv", "output.dir=/run"};
  assignments.insert(assignments.end(), more.begin(), more.end());
  return with_overrides(assignments);
}

std::string all_values(RunConfig& config) {
  std::string text;
  for (const OptionTable& table : config.tables()) {
    for (const Option& option : table.options) {
      text += table.section + "." + option.key + " = " + option_value_text(option) + "\n";
    }
  }
  return text;
}

TEST_CASE("An override by --set reaches any key and is remembered as the origin") {
  RunConfig config = with_overrides({"train.epochs=5", "seed=1", "data.labels=[b, a]", "data.columns.text=a=b",
                                     "optimizer.betas=[0.5, 0.6]", "model.dropout=auto", "train.epochs=6"});
  REQUIRE(config.train.epochs == 6);
  REQUIRE(config.run.seed == 1);
  REQUIRE(config.data.labels == StringList{"b", "a"});
  REQUIRE(config.data.columns.text == "a=b");
  REQUIRE(config.optimizer.betas == DoublePair{0.5, 0.6});
  REQUIRE(config.origins.at("train.epochs") == "--set");
  REQUIRE(config.origins.size() == 6);
  apply_override(config, "comm.mode=horovod", "--comm");
  REQUIRE(config.origins.at("comm.mode") == "--comm");
}

TEST_CASE("An override wins over the file, whose other values stay") {
  const TempFolder folder;
  RunConfig config = load_run_config(folder.write("run.yaml", "seed: 3\ntrain: {epochs: 2}\n"));
  apply_override(config, "train.epochs=9", "--set");
  REQUIRE(config.train.epochs == 9);
  REQUIRE(config.run.seed == 3);
  REQUIRE_THAT(config.origins.at("seed"), Catch::EndsWith("run.yaml:1"));
  REQUIRE(config.origins.at("train.epochs") == "--set");
}

TEST_CASE("Paths of a command line are relative to the working folder") {
  RunConfig config = with_overrides({"data.train=a/../b.tsv", "output.dir=/abs"});
  REQUIRE(config.data.train == StringList{(std::filesystem::current_path() / "b.tsv").string()});
  REQUIRE(config.output.dir == "/abs");
  REQUIRE(config.data.dev.empty());
}

TEST_CASE("A wrong override is refused with its text and the nearest key") {
  struct Case {
    const char* assignment;
    const char* fragment;
  };
  const std::vector<Case> cases = {
      {"train.epochs", "write it as section.key=value"},
      {"=5", "write it as section.key=value"},
      {"", "write it as section.key=value"},
      {"train.epoch=5", "unknown key 'train.epoch'; the nearest known key is 'train.epochs'"},
      {"lr=5", "unknown key 'lr'"},
      {"train.epochs=x", "train.epochs: 'x' is not of the expected type: an integer"},
      {"train.epochs=", "train.epochs: '' is not of the expected type: an integer"},
      {"train.epochs=[1, 2]", "train.epochs: an integer is needed, not a list"},
      {"data.labels=[a", "not a list"},
      {"device=tpu", "device: 'tpu' is not one of auto, cpu, cuda"},
      {"precision=fp16", "precision=fp16: not in this build"},
      {"train.=5", "unknown key 'train.'"},
      {".epochs=5", "unknown key '.epochs'"},
  };
  for (const Case& c : cases) {
    INFO(c.assignment);
    RunConfig config;
    const std::string before = all_values(config);
    const std::string message = error_text<ConfigError>([&] { apply_override(config, c.assignment, "--set"); });
    REQUIRE_THAT(message, Catch::StartsWith("--set") && Contains(c.fragment));
    REQUIRE(all_values(config) == before);
    REQUIRE(config.origins.empty());
  }
}

TEST_CASE("A complete configuration passes all rules") {
  REQUIRE_NOTHROW(check_run_config(runnable()));
  REQUIRE_NOTHROW(check_run_config(runnable({"train.max_steps=10", "schedule.warmup_steps=10"})));
  REQUIRE_NOTHROW(check_run_config(runnable({"train.batch_size_per_rank=8"})));
  REQUIRE_NOTHROW(check_run_config(runnable({"train.epochs=2", "schedule.warmup_ratio=0.5"})));
  REQUIRE_NOTHROW(check_run_config(runnable({"train.epochs=2", "train.max_steps=auto"})));
  REQUIRE_NOTHROW(check_run_config(runnable({"data.columns.text_pair=second"})));
}

TEST_CASE("Rules between options name the keys, values and origins that clash") {
  struct Case {
    std::vector<std::string> assignments;
    std::vector<std::string> fragments;
  };
  const std::vector<Case> cases = {
      {{"model.checkpoint="}, {"model.checkpoint: not set"}},
      {{"data.train="}, {"data.train: not set"}},
      {{"output.dir="}, {"output.dir: not set"}},
      {{"train.global_batch_size=32", "train.batch_size_per_rank=8"},
       {"train.global_batch_size (32, --set)", "train.batch_size_per_rank (8, --set)", "exactly one"}},
      {{"train.epochs=3", "train.max_steps=100"},
       {"train.epochs (3, --set)", "train.max_steps (100, --set)", "exactly one"}},
      {{"schedule.warmup_ratio=0.1", "schedule.warmup_steps=5"},
       {"schedule.warmup_ratio", "schedule.warmup_steps", "exactly one"}},
      {{"train.max_steps=10", "schedule.warmup_steps=11"},
       {"schedule.warmup_steps (11)", "train.max_steps (10)", "never reach its peak"}},
      {{"data.columns.text=a", "data.columns.text_pair=a"}, {"data.columns.text", "the same column 'a'"}},
  };
  for (const Case& c : cases) {
    INFO(c.assignments.front());
    const std::string message = error_text<ConfigError>([&] { check_run_config(runnable(c.assignments)); });
    for (const std::string& fragment : c.fragments) REQUIRE_THAT(message, Contains(fragment));
  }
}

TEST_CASE("What is printed loads to the same values, whatever the texts") {
  const TempFolder folder;
  RunConfig config = runnable({"seed=17", "threads=2", "train.epochs=5", "optimizer.learning_rate=0.1",
                               "optimizer.eps=1e-7", "optimizer.betas=[0.123456789012345, 0.3]", "model.dropout=0.15",
                               "train.micro_batch_tokens=1000000000", "deterministic=false"});
  config.data.columns.text = "a: b # c";
  config.data.columns.text_pair = " lead and trail ";
  config.data.columns.label = "null";
  config.data.columns.id = "-x";
  config.data.labels = {"null",
                        "~",
                        "",
                        "true",
                        "12",
                        "1e5",
                        "[x]",
                        "{y}",
                        "a, b",
                        "'",
                        "\"",
                        "back\\slash",
                        "tab\t",
                        "line\nfeed",
                        "return\r",
                        "bell\a",
                        "#",
                        "?",
                        "? q",
                        "- d",
                        "*s",
                        "&t",
                        "!u",
                        "|v",
                        ">w",
                        "%x",
                        "@y",
                        "`z",
                        "\u00e4\u4e2d\u6587",
                        "=",
                        "<<",
                        "---",
                        "..."};
  config.model.checkpoint = folder / "a folder: with # signs";
  const std::string printed = print_run_config(config);
  RunConfig loaded = load_run_config(folder.write("elsewhere/config.yaml", printed));
  REQUIRE(all_values(loaded) == all_values(config));
  REQUIRE(print_run_config(loaded).size() > 0);
  RunConfig defaults;
  RunConfig reloaded = load_run_config(folder.write("defaults.yaml", print_run_config(defaults)));
  REQUIRE(all_values(reloaded) == all_values(defaults));
}

TEST_CASE("Printing names every option once, in its section, with its origin") {
  const TempFolder folder;
  const std::string path = folder.write("run.yaml", "train:\n  epochs: 4\ndata: {columns: {text: t}}\n");
  RunConfig config = load_run_config(path);
  apply_override(config, "seed=5", "--set");
  const std::string printed = print_run_config(config);
  REQUIRE_THAT(printed, Contains("\n  epochs: 4 ") && Contains("# " + path + ":2\n"));
  REQUIRE_THAT(printed, Contains("seed: 5 ") && Contains("# --set\n"));
  REQUIRE_THAT(printed,
               Contains("\ndata:\n") && Contains("\n  columns:\n    text: t ") && Contains("\n    label: label "));
  REQUIRE_THAT(printed, Contains("\n  max_length: 128 ") && Contains("# default\n"));
  REQUIRE_THAT(printed, Contains("\n  micro_batch_tokens: auto "));
}

TEST_CASE("Help describes every option") {
  const std::string help = describe_options();
  RunConfig config;
  std::set<std::string> keys;
  for (const OptionTable& table : config.tables()) {
    for (const Option& option : table.options) {
      const std::string key = table.section.empty() ? option.key : table.section + "." + option.key;
      INFO(key);
      REQUIRE(keys.insert(key).second);
      REQUIRE_FALSE(option.help.empty());
      REQUIRE_THAT(help, Contains("  " + key + " ") && Contains(option.help));
    }
    for (const auto& [name, reason] : table.not_in_this_build) {
      INFO(name);
      REQUIRE_FALSE(reason.empty());
      // A key that is refused must not be in the table, or it could never be set; a value needs its key there.
      const bool is_value = name.find('=') != std::string::npos;
      const std::string key = name.substr(0, name.find('='));
      const auto found = std::find_if(table.options.begin(), table.options.end(),
                                      [&](const Option& option) { return option.key == key; });
      REQUIRE((found != table.options.end()) == is_value);
    }
  }
  REQUIRE(keys.size() > 40);
}

TEST_CASE("Every default lies within its own range and choices") {
  RunConfig config;
  for (const OptionTable& table : config.tables()) {
    for (const Option& option : table.options) {
      INFO(table.section << "." << option.key);
      const std::string text = option_value_text(option);
      if (takes_map(option) && text.starts_with("{")) continue;
      const bool is_list = text.starts_with("[");
      if (const auto* map = std::get_if<StringMap*>(&option.target)) {
        REQUIRE_NOTHROW(set_option(option, StringMap(**map), "p", "k"));
        continue;
      }
      REQUIRE_NOTHROW(set_option(option, is_list ? parse_value_texts(text, "p") : StringList{text}, "p", "k"));
      REQUIRE(option_value_text(option) == text);
    }
  }
}

}  // namespace
}  // namespace bertft
