// A row of JSON Lines with the members of its prediction behind its own.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace bertft {

// Names of the input that are those of a prediction, and what they became.
using RenamedColumns = std::map<std::string, std::string>;

// "input_" before `name`, as often as it takes to be none of `taken`.
std::string free_name(std::string name, const std::vector<std::string>& taken);

// The columns of an input beside those of a prediction, which keep their names: a column of the input with such a name
// gets "input_" before it. With `is_unique`, as the keys of one object have to be, a name that the input has
// twice gets its number behind it ("text_2").
std::vector<std::string> names_beside(const std::vector<std::string>& input, const std::vector<std::string>& predicted,
                                      bool is_unique, RenamedColumns& renamed);

// A key, and its value as JSON text.
using JsonMembers = std::vector<std::pair<std::string, std::string>>;

// "{...}" of these members.
std::string json_object(const JsonMembers& members);

// `object` as it was written, with `members` behind its own. Its keys that are keys of `members` get "input_" before
// them; halves of surrogate pairs become U+FFFD. False, and `row` untouched, when `object` is no object of JSON.
bool extend_json_object(std::string_view object, const JsonMembers& members, RenamedColumns& renamed, std::string& row);

}  // namespace bertft
