#include "train/check_ranks.h"

#include <algorithm>
#include <functional>
#include <nlohmann/json.hpp>
#include <set>

namespace bertft {
namespace {

using Json = nlohmann::json;

std::string packed(const RankCheck& check) {
  Json json;
  json["faults"] = Json::array();
  for (const CheckFault& fault : check.report.faults) {
    json["faults"].push_back({fault.subject, static_cast<int>(fault.code), fault.message});
  }
  json["warnings"] = check.report.warnings;
  json["not_checked"] = check.report.not_checked;
  json["facts"] = packed(check.report.facts);
  json["job"] = packed(check.report.job);
  json["cores"] = check.share.cores;
  json["reachable"] = check.share.reachable;
  json["quota"] = check.share.quota.value_or(0.0);
  json["node"] = packed(check.node);
  return json.dump(-1, ' ', false, Json::error_handler_t::replace);
}

RankCheck unpacked(const std::string& text) {
  const Json json = Json::parse(text);
  RankCheck check;
  for (const Json& fault : json["faults"]) {
    check.report.faults.push_back(
        {fault[0].get<std::string>(), static_cast<ExitCode>(fault[1].get<int>()), fault[2].get<std::string>()});
  }
  json["warnings"].get_to(check.report.warnings);
  json["not_checked"].get_to(check.report.not_checked);
  check.report.facts = unpacked_facts(json["facts"].get<std::string>());
  check.report.job = unpacked_facts(json["job"].get<std::string>());
  json["cores"].get_to(check.share.cores);
  json["reachable"].get_to(check.share.reachable);
  if (json["quota"].get<double>() > 0.0) check.share.quota = json["quota"].get<double>();
  check.node = unpacked_facts(json["node"].get<std::string>());
  return check;
}

// Equal entries of the ranks together, in the order in which they were found; those that not all have begin with the
// names of their ranks.
template <typename Entry>
std::vector<Entry> merged(const World& world, const std::vector<RankCheck>& ranks,
                          const std::function<const std::vector<Entry>&(const RankCheck&)>& entries_of,
                          const std::function<std::string&(Entry&)>& text_of) {
  std::vector<Entry> all;
  std::vector<std::vector<int>> owners;
  for (int rank = 0; rank < world.size; ++rank) {
    for (const Entry& entry : entries_of(ranks[static_cast<size_t>(rank)])) {
      const auto found = static_cast<size_t>(std::find(all.begin(), all.end(), entry) - all.begin());
      if (found == all.size()) {
        all.push_back(entry);
        owners.emplace_back();
      }
      if (owners[found].empty() || owners[found].back() != rank) owners[found].push_back(rank);
    }
  }
  for (size_t i = 0; i < all.size(); ++i) {
    if (static_cast<int>(owners[i].size()) == world.size) continue;
    std::string& text = text_of(all[i]);
    text = names_of(world, owners[i]) + ": " + text;
  }
  return all;
}

// The facts that every rank knows.
std::vector<Facts> known_everywhere(const std::vector<RankCheck>& ranks) {
  std::set<std::string> names;
  for (const Fact& fact : ranks.front().report.job) names.insert(fact.name);
  for (const RankCheck& rank : ranks) {
    std::set<std::string> theirs;
    for (const Fact& fact : rank.report.job) theirs.insert(fact.name);
    std::erase_if(names, [&](const std::string& name) { return theirs.count(name) == 0; });
  }
  std::vector<Facts> all;
  for (const RankCheck& rank : ranks) {
    Facts& facts = all.emplace_back(rank.report.job);
    std::erase_if(facts, [&](const Fact& fact) { return names.count(fact.name) == 0; });
  }
  return all;
}

}  // namespace

JobCheck merge_checks(const World& world, const std::vector<RankCheck>& ranks) {
  JobCheck job;
  job.report.facts = ranks.front().report.facts;
  job.report.faults = merged<CheckFault>(
      world, ranks, [](const RankCheck& rank) -> const auto& { return rank.report.faults; },
      [](CheckFault& fault) -> std::string& { return fault.message; });
  const auto itself = [](std::string& text) -> std::string& { return text; };
  job.report.warnings = merged<std::string>(
      world, ranks, [](const RankCheck& rank) -> const auto& { return rank.report.warnings; }, itself);
  job.report.not_checked = merged<std::string>(
      world, ranks, [](const RankCheck& rank) -> const auto& { return rank.report.not_checked; }, itself);
  for (const std::string& difference : differences_of(world, known_everywhere(ranks))) {
    job.report.faults.push_back({"ranks", ExitCode::kComm, difference});
  }
  std::vector<CpuShare> shares;
  std::vector<Facts> facts;
  for (const RankCheck& rank : ranks) {
    shares.push_back(rank.share);
    facts.push_back(rank.node);
  }
  job.nodes = node_reports(world, shares, facts);
  return job;
}

JobCheck merge_checks(const World& world, const GatherTexts& gather, const RankCheck& mine) {
  std::vector<RankCheck> ranks;
  for (const std::string& text : gather(packed(mine))) ranks.push_back(unpacked(text));
  return merge_checks(world, ranks);
}

}  // namespace bertft
