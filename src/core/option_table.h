// Every option of the program is declared once, in its component's table: key, type, default, unit, range, help.
// Loading, --set, --print-config, help and validation all walk these tables (config/ does; a component only declares).
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

namespace bertft {

// An option whose default is a rule: no value means "auto".
using AutoInt = std::optional<int64_t>;
using AutoDouble = std::optional<double>;
using StringList = std::vector<std::string>;
using DoublePair = std::array<double, 2>;
using StringMap = std::vector<std::pair<std::string, std::string>>;  // in the order in which it was written

// Either one word or a map, for example a named rule or the values themselves.
struct TextOrMap {
  std::string text;  // "" when the map counts
  StringMap map;
};

// Where a value lives. The target must outlive the table.
using OptionTarget = std::variant<bool*, int64_t*, double*, std::string*, AutoInt*, AutoDouble*, StringList*,
                                  DoublePair*, StringMap*, TextOrMap*>;

enum class OptionKind {
  kValue,
  kPath,        // strings that name files: relative ones are relative to the YAML file
  kListOrPath,  // a list of plain texts; a single text other than auto names a file
};

struct Option {
  std::string key;                        // "learning_rate"; the section is the table's
  OptionTarget target;                    // holds the default until something sets it
  std::string help;                       // one line
  std::string unit = "";                  // "rows", "steps", "seconds"; "" for none
  std::optional<double> min = {};         // inclusive; for each element of a list
  std::optional<double> max = {};         // inclusive
  std::vector<std::string> choices = {};  // allowed texts; empty = any
  std::string auto_rule = "";             // for AutoInt/AutoDouble: what no value does
  std::string auto_word = "auto";         // for AutoInt/AutoDouble: the text of no value
  OptionKind kind = OptionKind::kValue;
};

struct OptionTable {
  std::string section;  // "" for the top level
  std::vector<Option> options;
  // Known keys or values that this build refuses by name: "key" or "key=value" -> what to do instead.
  std::map<std::string, std::string> not_in_this_build = {};
};

// The present value as YAML would write it ("auto" for an unset AutoInt; lists as [a, b], maps as {k: v}), unquoted.
std::string option_value_text(const Option& option);

// "number", "integer", "true or false", ...
std::string option_type_text(const Option& option);

// Sets the value from its texts (one text, or the elements of a list). Throws ConfigError "<place>: <key>: ..." naming
// the expected type or range. `place` is file:line or "--set".
void set_option(const Option& option, const StringList& texts, const std::string& place, const std::string& full_key);

// Whether the option is written as a map, and how it is set from one. Throws ConfigError for an option that is not.
bool takes_map(const Option& option);
void set_option(const Option& option, const StringMap& map, const std::string& place, const std::string& full_key);

}  // namespace bertft
