// metrics.jsonl: one JSON line per logged step and per evaluation.
#pragma once

#include <cstdint>
#include <fstream>
#include <string>

#include "tasks/task.h"

namespace bertft {

// A logged training step. Rates count real rows and tokens since the line before, evaluations left out.
struct StepLine {
  int64_t step = 0;
  double epoch = 0.0;
  double loss = 0.0;
  double loss_window = 0.0;
  double lr = 0.0;
  double grad_norm = 0.0;
  double samples_per_s = 0.0;
  double tokens_per_s = 0.0;
  double comm_exposed_s = 0.0;
  double comm_total_s = 0.0;
};

class MetricsLog {
 public:
  // Throws ResourceError when the file cannot be opened or written. `kept_bytes`: what a resumed run keeps of the lines
  // that are there; lines behind it belong to steps that are done again.
  MetricsLog(const std::string& path, int64_t kept_bytes);
  void add(const StepLine& line);
  void add(int64_t step, double epoch, const std::string& split, const Evaluation& evaluation);

  // The length of the file, all of which has reached the disk then.
  int64_t sync();

 private:
  void write(const std::string& line);
  std::string path_;
  std::ofstream file_;
};

}  // namespace bertft
