// Everything that `train` would refuse, found in one go: faults of the configuration, the checkpoint, the tokenizer,
// each data file, the labels and the place of the output. What cannot be looked at because of an earlier fault is
// named.
#pragma once

#include <string>
#include <vector>

#include "config/run_config.h"
#include "core/error.h"

namespace bertft {

struct CheckFault {
  std::string subject;  // "configuration", "checkpoint", "data.train", "labels", "output"
  ExitCode code = ExitCode::kConfig;
  std::string message;  // complete: what, where, what to do
};

struct CheckReport {
  std::vector<CheckFault> faults;
  std::vector<std::string> warnings;
  std::vector<std::string> not_checked;  // and why
  std::string facts;                     // data report, load report: what is right

  // kConfig when any fault is one of the configuration or the place of the output, else kData when there is any.
  ExitCode exit_code() const;
};

// Reads everything and writes nothing but the cache of tokenized data. `config_faults`: what was found while the
// configuration was read; faults of the rules between its keys are added here.
CheckReport check_run(RunConfig config, const std::vector<std::string>& config_faults);

}  // namespace bertft
