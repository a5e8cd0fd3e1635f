// --trace: one JSON line per step and rank, so that anybody can compare two runs, or a run with another program.
#pragma once

#include <fstream>
#include <string>

#include "comm/world.h"
#include "train/train_step.h"

namespace bertft {

class Trace {
 public:
  // Throws ResourceError when `path` cannot be opened or written. Lines of steps up to `first_step` - 1 that are there
  // stay (a resumed run goes on behind them); others are dropped.
  Trace(const std::string& path, int64_t first_step);

  // After the update: parameter_hash is that of the weights behind the step.
  void add(const StepResult& result, int rank, const ParameterStore& store);

 private:
  std::string path_;
  std::ofstream file_;
};

// Where a rank writes: `path` itself in a world of one, else path.0003 for rank 3.
std::string trace_path(const std::string& path, const World& world);

// The hash of all weights, in layout order, alignment gaps included.
uint64_t parameter_hash(const ParameterStore& store);

}  // namespace bertft
