#include "train/ranks.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <nlohmann/json.hpp>

#include "core/error.h"
#include "core/text.h"

namespace bertft {
namespace {

using Json = nlohmann::json;

struct Group {
  std::string text;
  std::vector<int> ranks;
};

// Equal texts together, in the order of their lowest rank.
std::vector<Group> groups_of(const std::vector<std::string>& texts) {
  std::vector<Group> groups;
  for (size_t rank = 0; rank < texts.size(); ++rank) {
    const auto found =
        std::find_if(groups.begin(), groups.end(), [&](const Group& group) { return group.text == texts[rank]; });
    Group& group = found != groups.end() ? *found : groups.emplace_back(Group{texts[rank], {}});
    group.ranks.push_back(static_cast<int>(rank));
  }
  return groups;
}

std::string failure_of(const std::function<void()>& work) {
  try {
    work();
  } catch (const Error& failure) {
    return Json{static_cast<int>(failure.code()), failure.what()}.dump(-1, ' ', false, Json::error_handler_t::replace);
  }
  return "";
}

}  // namespace

std::string names_of(const World& world, const std::vector<int>& ranks) {
  std::vector<std::string> names;
  for (const int rank : ranks) names.push_back(world.name_of(rank));
  return join(names, ", ");
}

std::string packed(const Facts& facts) {
  Json json = Json::array();
  for (const Fact& fact : facts) json.push_back({fact.name, fact.value, fact.origin});
  return json.dump(-1, ' ', false, Json::error_handler_t::replace);
}

Facts unpacked_facts(const std::string& text) {
  Facts facts;
  for (const Json& fact : Json::parse(text)) {
    facts.push_back({fact[0].get<std::string>(), fact[1].get<std::string>(), fact[2].get<std::string>()});
  }
  return facts;
}

void throw_alike(const World& world, ExitCode code, const std::string& message) {
  if (world.rank == 0) throw SharedError(code, message);
  throw ReportedElsewhere(code, message);
}

void all_or_none(const World& world, const GatherTexts& gather, const std::function<void()>& work) {
  std::vector<Group> groups = groups_of(gather(failure_of(work)));
  std::erase_if(groups, [](const Group& group) { return group.text.empty(); });
  if (groups.empty()) return;
  std::string message;
  for (const Group& group : groups) {
    if (!message.empty()) message += "\n";
    const bool is_everywhere = group.ranks.size() == static_cast<size_t>(world.size);
    if (!is_everywhere) message += names_of(world, group.ranks) + ": ";
    message += Json::parse(group.text)[1].get<std::string>();
  }
  throw_alike(world, static_cast<ExitCode>(Json::parse(groups.front().text)[0].get<int>()), message);
}

std::vector<std::string> differences_of(const World& world, const std::vector<Facts>& of_ranks) {
  std::vector<std::string> differences;
  const Facts& facts = of_ranks.front();
  for (size_t i = 0; i < facts.size(); ++i) {
    std::vector<std::string> values;
    for (const Facts& theirs : of_ranks) {
      const bool is_same_fact = i < theirs.size() && theirs[i].name == facts[i].name;
      values.push_back(is_same_fact ? theirs[i].value : "not known there");
    }
    const std::vector<Group> groups = groups_of(values);
    if (groups.size() == 1) continue;
    std::string text = fmt::format("the ranks do not run the same job: {} differs:", facts[i].name);
    for (const Group& group : groups) {
      const Facts& theirs = of_ranks[static_cast<size_t>(group.ranks.front())];
      const std::string origin = i < theirs.size() ? theirs[i].origin : "";
      text += fmt::format("\n  {}: {}{}", names_of(world, group.ranks), group.text.empty() ? "not set" : group.text,
                          origin.empty() ? "" : " (" + origin + ")");
    }
    differences.push_back(text + "\nStart all ranks with the same program, configuration, data and checkpoint");
  }
  return differences;
}

void require_equal_facts(const World& world, const GatherTexts& gather, const Facts& facts) {
  std::vector<Facts> of_ranks;
  for (const std::string& text : gather(packed(facts))) of_ranks.push_back(unpacked_facts(text));
  const std::vector<std::string> differences = differences_of(world, of_ranks);
  if (!differences.empty()) throw_alike(world, ExitCode::kComm, differences.front());
}

double sum_over_ranks(const GatherTexts& gather, double mine) {
  std::string bytes(sizeof mine, '\0');
  std::memcpy(bytes.data(), &mine, sizeof mine);
  double sum = 0.0;
  for (const std::string& theirs : gather(bytes)) {
    check(theirs.size() == sizeof sum, "every rank sends one number");
    double value = 0.0;
    std::memcpy(&value, theirs.data(), sizeof value);
    sum += value;
  }
  return sum;
}

}  // namespace bertft
