// The processes that run one command together: how they find each other, fail alike, and end.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "comm/bootstrap.h"
#include "comm/world.h"
#include "train/ranks.h"

namespace bertft {

class CommandRanks {
 public:
  // Collective; a world of one for a process that was started alone. Throws as start_bootstrap().
  CommandRanks();

  const World& world() const { return world_; }
  Bootstrap& bootstrap() { return *bootstrap_; }
  GatherTexts gather();

  // all_or_none(): what fails here on one rank fails on all, with one message.
  void together(const std::function<void()>& work);

  // Runs the command. All ranks have ended alike when `body` returns or throws a SharedError: then the launcher is told
  // that this was the end. After any other exception it is not, so it ends the others.
  int run(const std::function<int()>& body);

 private:
  std::unique_ptr<Bootstrap> bootstrap_;
  World world_;
};

// What must be the same on all ranks of a command that answers about a model directory: its files beside the weights,
// the weights, and the arguments, but not the places that they name (`--model`, `--data`, `--output`).
Facts model_facts(const std::string& model_folder, uint64_t checksum);

}  // namespace bertft
