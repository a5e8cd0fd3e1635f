// Everything that `train` would refuse, found in one go: faults of the configuration, the checkpoint, the tokenizer,
// each data file, the labels and the place of the output. What cannot be looked at because of an earlier fault is
// named.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "config/run_config.h"
#include "core/error.h"
#include "train/compute.h"
#include "train/ranks.h"

namespace bertft {

struct CheckFault {
  std::string subject;  // "configuration", "checkpoint", "data.train", "labels", "output", "ranks"
  ExitCode code = ExitCode::kConfig;
  std::string message;  // complete: what, where, what to do
  bool operator==(const CheckFault&) const = default;
};

struct CheckReport {
  std::vector<CheckFault> faults;
  std::vector<std::string> warnings;
  std::vector<std::string> not_checked;  // and why
  Facts facts;                           // data report, load report: what is right
  Facts job;                             // what has to be the same on all ranks of a job, as far as it is known

  // kConfig when any fault is one of the configuration or the place of the output, else kData when there is any but
  // differences between ranks, else kComm when there are those.
  ExitCode exit_code() const;
};

// What was found before the check itself.
struct CheckStart {
  // While the configuration was read; those of its rules are added by the check.
  std::vector<std::string> config_faults = {};
  std::optional<ComputeSettings> compute = {};  // none: the fault is known
  int world = 1;                                // ranks of the job
};

// Reads everything and writes nothing but the cache of tokenized data.
CheckReport check_run(RunConfig config, const CheckStart& start);

}  // namespace bertft
