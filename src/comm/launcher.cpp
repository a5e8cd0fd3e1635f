#include "comm/launcher.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdlib>

#include "core/error.h"

namespace bertft {

namespace {

constexpr std::array<const char*, 4> kSizes = {"OMPI_COMM_WORLD_SIZE", "PMI_SIZE", "PMIX_SIZE", "WORLD_SIZE"};

// A batch script of Slurm sees SLURM_NTASKS, too; only steps started by srun have a step's task count and rank.
const char* step_tasks() {
  return std::getenv("SLURM_PROCID") != nullptr ? std::getenv("SLURM_STEP_NUM_TASKS") : nullptr;
}

}  // namespace

LaunchedWorld launched_world() {
  LaunchedWorld world;
  for (const char* variable : kSizes) {
    const char* value = std::getenv(variable);
    const int size = value != nullptr ? std::atoi(value) : 0;
    if (size > world.size) world = {size, variable};
  }
  const char* tasks = step_tasks();
  if (tasks != nullptr && std::atoi(tasks) > world.size) world = {std::atoi(tasks), "SLURM_STEP_NUM_TASKS"};
  return world;
}

bool is_launched() {
  const auto is_set = [](const char* value) { return value != nullptr && std::atoi(value) >= 1; };
  return is_set(step_tasks()) ||
         std::any_of(kSizes.begin(), kSizes.end(), [&](const char* variable) { return is_set(std::getenv(variable)); });
}

void refuse_more_than_one_process(const std::string& command) {
  const LaunchedWorld world = launched_world();
  if (world.size <= 1) return;
  throw ConfigError(
      fmt::format("started as one of {} processes ({}={}): `{}` runs as a single process. Start it without "
                  "the launcher",
                  world.size, world.variable, world.size, command));
}

}  // namespace bertft
