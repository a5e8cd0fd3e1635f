// A folder with everything that a small training run needs, to be run as it is or after something in it was broken.
#pragma once

#include <string>
#include <vector>

#include "tests/support/run_binary.h"
#include "tests/support/temp_folder.h"
#include "tests/support/tiny_checkpoint.h"

namespace bertft::test {

class JobFolder {
 public:
  // Writes checkpoint/ (tiny), train.tsv, dev.tsv, test.tsv (two labels, good and bad) and c.yaml.
  JobFolder();

  std::string path(const std::string& name) const { return folder_ / name; }
  void write(const std::string& name, const std::string& content) const { folder_.write(name, content); }
  void append(const std::string& name, const std::string& content) const;
  void remove(const std::string& name) const;
  // Replaces the first occurrence of `from` in a file; throws when there is none.
  void replace(const std::string& name, const std::string& from, const std::string& to) const;

  // The arguments of train() below.
  std::vector<std::string> train_arguments(const std::vector<std::string>& more = {}) const;
  // Runs train on c.yaml with more arguments; output goes to run/.
  RunResult train(const std::vector<std::string>& more = {}) const;

 private:
  TempFolder folder_;
};

}  // namespace bertft::test
