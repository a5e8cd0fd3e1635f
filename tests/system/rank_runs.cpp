#include "tests/system/rank_runs.h"

#include <cstdlib>
#include <iostream>

namespace bertft::test {
namespace {

RunRequest request_of(std::vector<std::string> arguments) {
  return {.arguments = std::move(arguments),
          .environment = {{"OMPI_ALLOW_RUN_AS_ROOT", "1"},
                          {"OMPI_ALLOW_RUN_AS_ROOT_CONFIRM", "1"},
                          {"OMPI_MCA_rmaps_base_oversubscribe", "1"},
                          {"OMPI_MCA_hwloc_base_binding_policy", "none"}}};
}

void add_process(std::vector<std::string>& all, int ranks, const std::vector<std::string>& arguments) {
  for (const std::string& one : {std::string("-np"), std::to_string(ranks), binary_path()}) all.push_back(one);
  all.insert(all.end(), arguments.begin(), arguments.end());
}

}  // namespace

bool has_mpirun() {
  if (std::system("command -v mpirun >/dev/null 2>&1") == 0) return true;
  std::cout << "SKIPPED: no mpirun (scripts/setup.sh installs it)\n";
  return false;
}

RunRequest ranks_request(int ranks, const std::vector<std::string>& arguments) {
  std::vector<std::string> all;
  add_process(all, ranks, arguments);
  return request_of(std::move(all));
}

RunRequest ranks_request(const std::vector<std::vector<std::string>>& arguments_of_ranks) {
  std::vector<std::string> all;
  for (const std::vector<std::string>& arguments : arguments_of_ranks) {
    if (!all.empty()) all.push_back(":");
    add_process(all, 1, arguments);
  }
  return request_of(std::move(all));
}

RunResult run_ranks(int ranks, const std::vector<std::string>& arguments) {
  return run_program("mpirun", ranks_request(ranks, arguments));
}

}  // namespace bertft::test
