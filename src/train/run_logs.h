// Where the numbers of a run go: metrics.jsonl for programs, event files for TensorBoard. Both are cut back when a run
// goes on from a saved state, so that each step stands in them once.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "train/event_log.h"
#include "train/metrics_log.h"

namespace bertft {

// How far the logs reach; part of the training state.
struct LogPositions {
  int64_t metrics_bytes = 0;
  std::string events_file;  // "" = none
  int64_t events_bytes = 0;
};

class RunLogs {
 public:
  // Writes nothing, as on ranks other than 0.
  RunLogs() = default;
  // `tensorboard_folder` "": no event files. Throws ResourceError when a file cannot be written.
  RunLogs(const std::string& metrics_path, const std::string& tensorboard_folder, const LogPositions& kept);

  void add(const StepLine& line);
  void add(int64_t step, double epoch, const std::string& split, const Evaluation& evaluation);

  // Waits until everything is on the disk.
  LogPositions sync();

 private:
  std::optional<MetricsLog> metrics_;
  std::optional<EventLog> events_;
};

}  // namespace bertft
