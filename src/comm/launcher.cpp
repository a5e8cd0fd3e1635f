#include "comm/launcher.h"

#include <fmt/format.h>

#include <cstdlib>

#include "core/error.h"

namespace bertft {

LaunchedWorld launched_world() {
  LaunchedWorld world;
  for (const char* variable : {"OMPI_COMM_WORLD_SIZE", "PMI_SIZE", "PMIX_SIZE", "WORLD_SIZE"}) {
    const char* value = std::getenv(variable);
    const int size = value != nullptr ? std::atoi(value) : 0;
    if (size > world.size) world = {size, variable};
  }
  // A batch script of Slurm sees SLURM_NTASKS, too; only steps started by srun have a step's task count and rank.
  const char* step_tasks = std::getenv("SLURM_STEP_NUM_TASKS");
  if (step_tasks != nullptr && std::getenv("SLURM_PROCID") != nullptr && std::atoi(step_tasks) > world.size) {
    world = {std::atoi(step_tasks), "SLURM_STEP_NUM_TASKS"};
  }
  return world;
}

void refuse_more_than_one_process(const std::string& command) {
  const LaunchedWorld world = launched_world();
  if (world.size <= 1) return;
  throw ConfigError(
      fmt::format("started as one of {} processes ({}={}): `{}` runs as a single process, only `train` as "
                  "several. Start it without the launcher",
                  world.size, world.variable, world.size, command));
}

}  // namespace bertft
