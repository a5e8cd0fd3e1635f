#include "train/json_row.h"

#include <algorithm>

#include "data/json_scanner.h"
#include "data/text_arena.h"
#include "tokenize/utf8.h"
#include "train/table_text.h"

namespace bertft {
namespace {

bool holds(const std::vector<std::string>& names, const std::string& name) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

// `name` with the least number from 2 on behind it that makes it none of `taken`.
std::string numbered_name(const std::string& name, const std::vector<std::string>& taken) {
  int number = 2;
  while (holds(taken, name + "_" + std::to_string(number))) ++number;
  return name + "_" + std::to_string(number);
}

}  // namespace

std::string free_name(std::string name, const std::vector<std::string>& taken) {
  do {
    name.insert(0, "input_");
  } while (holds(taken, name));
  return name;
}

std::vector<std::string> names_beside(const std::vector<std::string>& input, const std::vector<std::string>& predicted,
                                      bool is_unique, RenamedColumns& renamed) {
  std::vector<std::string> taken = predicted;
  taken.insert(taken.end(), input.begin(), input.end());
  std::vector<std::string> names;
  for (const std::string& column : input) {
    std::string name = column;
    if (holds(predicted, name)) {
      name = free_name(name, taken);
      renamed[column] = name;
    } else if (is_unique && holds(names, name)) {
      name = numbered_name(name, taken);
      renamed[column] = name;
    }
    taken.push_back(name);
    names.push_back(std::move(name));
  }
  return names;
}

std::string json_object(const JsonMembers& members) {
  std::string text = "{";
  for (const auto& [key, value] : members) {
    if (text.size() > 1) text += ", ";
    text += json_string(key) + ": " + value;
  }
  return text + "}";
}

bool extend_json_object(std::string_view object, const JsonMembers& members, RenamedColumns& renamed,
                        std::string& row) {
  size_t halves = 0;
  std::string whole = json_with_whole_pairs(object, &halves);
  TextArena arena;
  std::vector<std::string> taken;
  for (const auto& [key, value] : members) taken.push_back(key);
  const size_t predicted = taken.size();
  std::vector<std::string_view> written;  // the keys in `whole`
  JsonObject scanner(whole);
  for (JsonMember member; scanner.next(member);) {
    written.push_back(member.key);
    taken.push_back(replace_invalid_utf8(json_text(member.key, arena)));
  }
  if (!scanner.fault().empty()) return false;
  std::string text;
  size_t copied = 0;
  for (size_t i = 0; i < written.size(); ++i) {
    const std::string key = taken[predicted + i];
    const auto end_of_predicted = taken.begin() + static_cast<std::ptrdiff_t>(predicted);
    if (std::find(taken.begin(), end_of_predicted, key) == end_of_predicted) continue;
    const std::string name = free_name(key, taken);
    taken.push_back(name);
    renamed[key] = name;
    const auto begin = static_cast<size_t>(written[i].data() - whole.data());
    text.append(whole, copied, begin - 1 - copied).append(json_string(name));
    copied = begin + written[i].size() + 1;
  }
  const size_t brace = whole.rfind('}');
  text.append(whole, copied, brace - copied);
  text += written.empty() ? "" : ", ";
  row += text + json_object(members).substr(1);
  return true;
}

}  // namespace bertft
