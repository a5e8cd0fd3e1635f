// What a run says of itself before the first step, for people (the table) and for programs (run.json).
#pragma once

#include <string>

#include "train/build.h"

namespace bertft {

std::string startup_table(const TrainingJob& job);

// Versions, host, hashes of data and checkpoint, seed, world and everything that "auto" was resolved to.
std::string run_json(const TrainingJob& job);

}  // namespace bertft
