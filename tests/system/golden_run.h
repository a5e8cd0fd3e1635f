// Runs of the real executable on the inputs of tests/golden/numerics, and what numeric tests read from them.
#pragma once

#include <cstdint>
#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <vector>

#include "tests/support/temp_folder.h"

namespace bertft::test {

// A file or folder of tests/golden/numerics. Tests run in the root of the source tree.
std::string golden_path(const std::string& name);
std::string absolute_golden_path(const std::string& name);

// expected.json, as make_numerics.py wrote it.
const nlohmann::json& expected_values();

using Environment = std::vector<std::pair<std::string, std::string>>;

// Every way in which this machine can compute in fp32: each level of our kernels, with our own matrix products and with
// those of the BLAS.
std::vector<Environment> kernel_choices();
std::string to_text(const Environment& environment);

// One training run. The settings of the golden case hold, dropout is 0 and the checkpoint's head is kept, unless
// `changes` say otherwise.
struct GoldenRequest {
  std::string data = "single";            // the golden case: single or pair
  std::string precision = "fp32";         //
  int64_t steps = 1;                      // the whole run, schedule included
  int64_t dump_step = 0;                  // 0 = no dump
  std::vector<std::string> changes = {};  // section.key=value
  Environment environment = {};
};

struct TraceLine {
  int64_t step = 0;
  std::vector<int64_t> rows;
  double loss = 0.0;
  double lr = 0.0;
  double grad_norm = 0.0;
  std::string parameter_hash;
};

using Values = std::vector<double>;
using NamedValues = std::map<std::string, Values>;

// All tensors of a safetensors file, row-major, in double.
NamedValues read_tensors(const std::string& path);

// A finished run; its folder lives as long as this object.
class GoldenRun {
 public:
  // Fails the test when the executable does not end with exit code 0.
  explicit GoldenRun(const GoldenRequest& request);

  const std::vector<TraceLine>& trace() const { return trace_; }
  std::string path(const std::string& name) const { return folder_ / ("run/" + name); }

  // Of the dumped step: gradients by published parameter name, and logits in the order of its rows.
  NamedValues gradients() const;
  Values logits() const;
  // The weights behind the last step, by published parameter name.
  NamedValues weights() const { return read_tensors(path("last/model.safetensors")); }

 private:
  std::string config_text(const GoldenRequest& request) const;

  TempFolder folder_;
  std::vector<TraceLine> trace_;
};

// Settings that put all rows of a case into each step.
std::vector<std::string> whole_batch();

// Dropout as the checkpoint's config.json has it, 0.1 everywhere.
std::vector<std::string> with_dropout();

std::vector<std::string> joined(std::vector<std::string> first, const std::vector<std::string>& second);

double norm(const Values& values);
double norm(const NamedValues& tensors);
// The Euclidean norm of the difference. Fails the test when names or sizes differ.
double distance(const Values& a, const Values& b);
double distance(const NamedValues& a, const NamedValues& b);

}  // namespace bertft::test
