// Has the real transformers judge model folders that we wrote: it must load them whole, with our logits, ids and
// labels.
#pragma once

#include <string>
#include <vector>

#include "tests/support/run_binary.h"
#include "tests/support/temp_folder.h"

namespace bertft::test {

// Fails the test unless the program ended well; returns its output.
std::string require_success(const RunResult& result);

// Collects model folders with our predictions and ids for them, and has transformers judge all at once.
class ReloadCheck {
 public:
  // `columns` are those of the texts: one name, or two for pairs.
  void add(const std::string& model_folder, const std::string& table, const std::vector<std::string>& columns);
  void run(const std::string& python) const;

 private:
  TempFolder folder_;
  std::vector<std::string> arguments_ = {"tests/golden/check_model_folder.py"};
  int cases_ = 0;
};

}  // namespace bertft::test
