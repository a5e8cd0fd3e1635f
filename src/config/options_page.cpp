#include "config/options_page.h"

#include <fmt/format.h>

#include "config/run_config.h"
#include "core/text.h"

namespace bertft {
namespace {

constexpr const char* kIntroduction = R"(# Configuration

Every key of the YAML file, made from the program's own tables by `bert_finetune help configuration`.

- Any key can be set on the command line, `--set section.key=value`; lists are written `[a, b]`, maps `{a: 1, b: 2}`.
- `--print-config` shows every value with its origin: default, `file:line`, or `--set`.
- `${NAME}` in a value of the file is replaced by the environment variable `NAME`; one that is not set is an error.
- Relative paths in the file are relative to the file, on the command line to the working folder.
- An unknown key, a wrong type and a value out of range are errors that name file, line and key.
)";

// Text of a table cell.
std::string cell(const std::string& text) {
  std::string escaped;
  for (const char c : text) escaped += c == '|' ? std::string("\\|") : std::string(1, c);
  return escaped;
}

std::string type_of(const Option& option) {
  std::string text = option.choices.empty() ? option_type_text(option) : "";
  for (const std::string& choice : option.choices) text += (text.empty() ? "`" : ", `") + choice + "`";
  if (!option.unit.empty()) text += ", " + option.unit;
  if (option.min && option.max) text += fmt::format(", {} to {}", *option.min, *option.max);
  if (option.min && !option.max) text += fmt::format(", at least {}", *option.min);
  return text;
}

std::string default_of(const Option& option) {
  const std::string value = option_value_text(option);
  std::string text = value.empty() ? "none" : "`" + value + "`";
  if (!option.auto_rule.empty()) text += ": " + option.auto_rule;
  return text;
}

std::string section_text(const OptionTable& table) {
  std::string text = fmt::format("\n## {}\n\n| key | value | default | |\n| --- | --- | --- | --- |\n",
                                 table.section.empty() ? "Top level" : "`" + table.section + "`");
  const std::string prefix = table.section.empty() ? "" : table.section + ".";
  for (const Option& option : table.options) {
    text += fmt::format("| `{}{}` | {} | {} | {} |\n", prefix, option.key, cell(type_of(option)),
                        cell(default_of(option)), cell(option.help));
  }
  if (table.not_in_this_build.empty()) return text;
  text += "\nNot in this build, and refused by name:\n\n";
  for (const auto& [name, instead] : table.not_in_this_build) {
    text += fmt::format("- `{}{}`: {}\n", prefix, name, instead);
  }
  return text;
}

}  // namespace

std::string options_page() {
  RunConfig defaults;
  std::string text = kIntroduction;
  for (const OptionTable& table : defaults.tables()) text += section_text(table);
  return text;
}

}  // namespace bertft
