// A job of some hundred steps with dropout, shuffled data, evaluations and saved states: long enough to be interrupted.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "tests/support/job_folder.h"

namespace bertft::test {

class LongJob {
 public:
  // `epochs` of 5 steps each; evaluation every 4 steps, saved states every 3, a log line each step.
  explicit LongJob(int epochs);

  std::string path(const std::string& name) const { return job_.path(name); }
  const JobFolder& folder() const { return job_; }

  // The command line of train, with output and trace under the given name.
  std::vector<std::string> arguments(const std::string& run, const std::vector<std::string>& more = {}) const;
  RunResult train(const std::string& run, const std::vector<std::string>& more = {}) const;

 private:
  JobFolder job_;
};

// What a run has left, without what a clock decides: trace, metrics, results, predictions, and the bytes of the models.
nlohmann::json comparable(const LongJob& job, const std::string& run);

// The last line of a text.
std::string last_line(const std::string& text);

}  // namespace bertft::test
