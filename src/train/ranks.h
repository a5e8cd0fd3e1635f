// What the ranks of a job do alike outside the exchange of gradients: they fail together, begin only when they agree
// about the job, and add up what each of them knows a part of. Functions are collective unless they say otherwise.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "comm/world.h"
#include "core/error.h"

namespace bertft {

// Gives the texts of all ranks, in rank order: a bootstrap's or a communicator's all_gather.
using GatherTexts = std::function<std::vector<std::string>(const std::string& mine)>;

// Throws what all ranks have found alike: SharedError on rank 0, ReportedElsewhere on the others. Not collective.
[[noreturn]] void throw_alike(const World& world, ExitCode code, const std::string& message);

// Runs `work` on every rank. When it throws an Error on any of them, all throw alike, with the exit code of the lowest
// rank that failed and every different message, with the ranks that have it unless that is all.
void all_or_none(const World& world, const GatherTexts& gather, const std::function<void()>& work);

// Something that must be the same on all ranks.
struct Fact {
  std::string name;
  std::string value;
  std::string origin = "";  // where the value comes from, shown with it; not compared
};

// In the same order on every rank.
using Facts = std::vector<Fact>;

// Every fact that is not the same on all ranks, with its values and the ranks that have them: one text each, in the
// order of the facts of rank 0. Not collective.
std::vector<std::string> differences_of(const World& world, const std::vector<Facts>& of_ranks);

// The texts of it: what ranks send each other.
std::string packed(const Facts& facts);
Facts unpacked_facts(const std::string& text);

// "rank 0 (node-a), rank 1 (node-a)".
std::string names_of(const World& world, const std::vector<int>& ranks);

// Throws alike, with the code of CommError, naming the first fact that is not the same on all ranks,
// its values and the ranks that have them.
void require_equal_facts(const World& world, const GatherTexts& gather, const Facts& facts);

// Added in rank order, so that every rank gets the same bits.
double sum_over_ranks(const GatherTexts& gather, double mine);

}  // namespace bertft
