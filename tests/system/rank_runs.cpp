#include "tests/system/rank_runs.h"

#include <signal.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <sstream>

#include "core/timer.h"
#include "tests/support/test.h"

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

std::string funneled_mpi() { return BERTFT_FUNNELED_MPI; }
std::string brittle_mpi() { return BERTFT_BRITTLE_MPI; }

RunResult run_ranks(int ranks, const std::vector<std::string>& arguments) {
  return run_program("mpirun", ranks_request(ranks, arguments));
}

RankJob::RankJob(const RunRequest& request, std::string marker)
    : program_("mpirun", request), marker_(std::move(marker)) {}

RankJob::~RankJob() {
  program_.signal(SIGKILL);
  for (const pid_t process : processes("OMPI_COMM_WORLD_RANK=")) ::kill(process, SIGKILL);
}

// The ranks of this job whose environment has a variable that begins so.
std::vector<pid_t> RankJob::processes(const std::string& variable) const {
  namespace fs = std::filesystem;
  const auto content = [](const fs::path& path) {
    std::ifstream file(path, std::ios::binary);
    return std::string(1, '\0') + std::string(std::istreambuf_iterator<char>(file), {});
  };
  std::vector<pid_t> found;
  std::error_code error;
  for (const fs::directory_entry& entry : fs::directory_iterator("/proc", error)) {
    const std::string name = entry.path().filename().string();
    if (name.find_first_not_of("0123456789") != std::string::npos) continue;
    if (content(entry.path() / "cmdline").find('\0' + marker_ + '\0') == std::string::npos) continue;
    if (content(entry.path() / "environ").find('\0' + variable) == std::string::npos) continue;
    if (fs::read_symlink(entry.path() / "exe", error) != fs::canonical(binary_path(), error)) continue;
    found.push_back(std::atoi(name.c_str()));
  }
  return found;
}

void RankJob::wait_for(const std::string& text) {
  for (int i = 0; i < 6000 && program_.is_running(); ++i) {
    if (program_.err().find(text) != std::string::npos) return;
    ::usleep(10'000);
  }
  FAIL("the job never said '" << text << "':\n" << program_.err());
}

void RankJob::signal_rank(int rank, int number) const {
  const std::vector<pid_t> found = processes("OMPI_COMM_WORLD_RANK=" + std::to_string(rank) + '\0');
  INFO("rank " << rank);
  REQUIRE(found.size() == 1);
  ::kill(found.front(), number);
}

RunResult RankJob::wait(double limit_s) {
  const Timer timer;
  while (program_.is_running() && timer.seconds() < limit_s) ::usleep(5'000);
  if (program_.is_running()) FAIL("the job did not end in " << limit_s << " s:\n" << program_.err());
  return program_.wait();
}

}  // namespace bertft::test
