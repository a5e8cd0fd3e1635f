// How a job is started decides what its ranks see: control groups with a CPU quota (field case B24), affinity masks,
// and variables that reach only some ranks (B21). Every case ends with one agreed value or names what differs.
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <nlohmann/json.hpp>

#include "core/cpu_features.h"
#include "core/files.h"
#include "core/host.h"
#include "core/threads.h"
#include "tests/support/job_folder.h"
#include "tests/support/test.h"
#include "tests/system/rank_runs.h"

namespace bertft::test {
namespace {

namespace fs = std::filesystem;

// A control group below another, each with a quota, as the kernel of this machine offers them.
class QuotaGroups {
 public:
  QuotaGroups() {
    const std::string name = "/bertft_test_" + std::to_string(::getpid());
    for (const std::string mount : {"/sys/fs/cgroup/cpu", "/sys/fs/cgroup/unified", "/sys/fs/cgroup"}) {
      outer_ = mount + name;
      std::error_code error;
      if (!fs::create_directory(outer_, error)) continue;
      write(mount + "/cgroup.subtree_control", "+cpu");
      write(outer_ + "/cgroup.subtree_control", "+cpu");
      fs::create_directory(inner(), error);
      if (!error && set(outer_, "max") && set(inner(), "max")) return;
      remove();
    }
    outer_.clear();
  }
  ~QuotaGroups() { remove(); }
  QuotaGroups(const QuotaGroups&) = delete;
  QuotaGroups& operator=(const QuotaGroups&) = delete;

  bool exist() const { return !outer_.empty(); }
  void set_outer(const std::string& quota) const { REQUIRE(set(outer_, quota)); }
  void set_inner(const std::string& quota) const { REQUIRE(set(inner(), quota)); }

  // The request as a process of the inner group.
  RunResult run(const std::string& program, RunRequest request) const {
    const std::string script = "echo $$ > '" + inner() + "/cgroup.procs' && exec \"$0\" \"$@\"";
    request.arguments.insert(request.arguments.begin(), {"-c", script, program});
    return run_program("/bin/bash", request);
  }

 private:
  std::string inner() const { return outer_ + "/inner"; }

  static bool write(const std::string& path, const std::string& text) {
    std::ofstream file(path);
    file << text;
    return static_cast<bool>(file.flush());
  }

  // Microseconds of each 100,000, or max.
  static bool set(const std::string& group, const std::string& quota) {
    if (fs::exists(group + "/cpu.max")) return write(group + "/cpu.max", quota + " 100000");
    return fs::exists(group + "/cpu.cfs_quota_us") && write(group + "/cpu.cfs_period_us", "100000") &&
           write(group + "/cpu.cfs_quota_us", quota == "max" ? "-1" : quota);
  }

  void remove() const {
    if (outer_.empty()) return;
    ::rmdir(inner().c_str());
    ::rmdir(outer_.c_str());
  }

  std::string outer_;
};

// Of a run that leaves `threads` at auto.
std::vector<std::string> arguments_of(const JobFolder& job, const std::vector<std::string>& more = {}) {
  std::vector<std::string> arguments = {"--config", job.path("c.yaml"), "--overwrite", "--set", "train.epochs=1"};
  arguments.insert(arguments.end(), more.begin(), more.end());
  return arguments;
}

std::vector<int> mask_of_test() { return own_cpu_share().cores; }

int cores_of_mask() { return static_cast<int>(mask_of_test().size()); }

bool has_two_cores() {
  if (cores_of_mask() >= 2) return true;
  std::cout << "SKIPPED: one core only\n";
  return false;
}

// The text of the start-up table, what run.json says, and what the training state keeps.
void check_threads(const JobFolder& job, const RunResult& result, int count, const std::string& reason) {
  CAPTURE(result.err);
  REQUIRE(result.exit_code == 0);
  const std::string expected =
      std::to_string(count) + (count == 1 ? " thread" : " threads") + " (" + reason + "), kernels";
  CAPTURE(expected);
  CHECK(result.err.find(expected) != std::string::npos);
  const auto resolved = nlohmann::json::parse(read_file(job.path("run/run.json")))["resolved"];
  CHECK(resolved["threads"] == count);
  CHECK(resolved["threads_reason"] == reason);
  const auto state = nlohmann::json::parse(read_file(job.path("run/checkpoints/step_00000003/state.json")));
  CHECK(state["resolved"]["threads"] == std::to_string(count));
}

TEST_CASE("a CPU quota limits threads: auto, for one process and for the ranks that share it") {
  if (!has_mpirun() || !has_two_cores()) return;
  const QuotaGroups groups;
  if (!groups.exist()) {
    std::cout << "SKIPPED: no control group of the cpu controller can be made here (it takes root)\n";
    return;
  }
  const JobFolder job;
  const int cores = cores_of_mask();
  const std::string mask = "affinity mask of " + std::to_string(cores) + " cores";
  struct Case {
    const char* outer;
    const char* inner;
    int alone;  // threads
    std::string reason;
  };
  const std::vector<Case> cases = {{"max", "100000", 1, "CPU quota of 1 core"},
                                   {"max", "150000", 1, "CPU quota of 1.5 cores"},
                                   {"100000", "max", 1, "CPU quota of 1 core"},
                                   {"max", "max", cores, mask}};
  for (const Case& c : cases) {
    CAPTURE(c.outer, c.inner);
    groups.set_inner("max");  // version 1 allows no more below than above
    groups.set_outer(c.outer);
    groups.set_inner(c.inner);
    check_threads(job, groups.run(binary_path(), {.arguments = arguments_of(job)}), c.alone, c.reason);
    check_threads(job, groups.run("mpirun", ranks_request(2, arguments_of(job))), std::max(1, c.alone / 2),
                  c.reason + " shared by 2 ranks");
  }
}

TEST_CASE("ranks that are bound to cores of their own use each its own, unbound ones share all") {
  if (!has_mpirun() || !has_two_cores()) return;
  const JobFolder job;
  const int cores = cores_of_mask();
  RunRequest bound = ranks_request(2, arguments_of(job));
  bound.environment.emplace_back("OMPI_MCA_hwloc_base_binding_policy", "hwthread");
  bound.environment.emplace_back("OMPI_MCA_hwloc_base_use_hwthreads_as_cpus", "1");
  const RunResult result = run_program("mpirun", bound);
  check_threads(job, result, 1, "affinity mask of 1 core");
  const std::string idle = "2 of 2 processes are bound to one core while " + std::to_string(cores - 2) + " of ";
  CHECK((result.err.find(idle) != std::string::npos) == (cores > 2));
  check_threads(job, run_ranks(2, arguments_of(job)), cores / 2,
                "affinity mask of " + std::to_string(cores) + " cores shared by 2 ranks");
}

TEST_CASE("a process that is bound to one core while others idle says so") {
  if (!has_two_cores()) return;
  const JobFolder job;
  const std::vector<std::string> arguments = arguments_of(job);
  RunRequest request{.arguments = {"-c", std::to_string(mask_of_test().front()), binary_path()}};
  request.arguments.insert(request.arguments.end(), arguments.begin(), arguments.end());
  const RunResult result = run_program("taskset", request);
  check_threads(job, result, 1, "affinity mask of 1 core");
  CHECK(result.err.find(": the process is bound to one core while " + std::to_string(cores_of_mask() - 1) + " of ") !=
        std::string::npos);
  const RunResult free = run_binary(arguments);
  CHECK(free.err.find("bound to one core") == std::string::npos);
}

// Two ranks with the same arguments, and a variable that only the second one gets.
RunResult run_mixed(const JobFolder& job, const std::string& variable, const std::vector<std::string>& more = {}) {
  const std::vector<std::string> arguments = arguments_of(job, more);
  RunRequest request = ranks_request({arguments, arguments});
  const auto second = std::find(request.arguments.rbegin(), request.arguments.rend(), binary_path()).base() - 1;
  request.arguments.insert(second, {"env", variable});
  return run_program("mpirun", request);
}

std::string name_of(int rank) { return "rank " + std::to_string(rank) + " (" + host_name() + ")"; }

TEST_CASE("settings that reach one rank only end the job with the key, both values and both ranks") {
  if (!has_mpirun()) return;
  struct Case {
    const char* variable;
    const char* comm;
    std::string differs;
    std::string first;
    std::string second;
  };
  const std::vector<Case> cases = {
      {"HOROVOD_FUSION_THRESHOLD=16777216", "--comm=horovod", "comm.horovod.fusion_mb", "128 (default)",
       "16 (HOROVOD_FUSION_THRESHOLD=16777216)"},
      {"PERSEUS_ALLREDUCE_DTYPE=0", "--comm=aiacc", "comm.wire", "auto (default)", "fp16 (PERSEUS_ALLREDUCE_DTYPE=0)"},
      {"BERTFT_PRODUCTS=blas", "--comm=aiacc", "the environment variable BERTFT_PRODUCTS", "not set", "blas"},
      {"MKL_CBWR=COMPATIBLE", "--comm=aiacc", "the environment variable MKL_CBWR", "not set", "COMPATIBLE"}};
  const JobFolder job;
  for (const Case& c : cases) {
    CAPTURE(c.variable);
    const RunResult result = run_mixed(job, c.variable, {c.comm});
    CAPTURE(result.err);
    CHECK(result.exit_code == 4);
    CHECK(result.err.find(c.differs + " differs:\n  " + name_of(0) + ": " + c.first + "\n  " + name_of(1) + ": " +
                          c.second + "\n") != std::string::npos);
    CHECK_FALSE(fs::exists(job.path("run/run.json")));
  }
}

TEST_CASE("a key in the configuration wins over variables of other programs on any rank") {
  if (!has_mpirun()) return;
  const JobFolder job;
  const RunResult result = run_mixed(job, "PERSEUS_ALLREDUCE_DTYPE=0", {"--set", "comm.wire=fp32"});
  CAPTURE(result.err);
  CHECK(result.exit_code == 0);
}

TEST_CASE("variables of other programs on all ranks set their keys, and the start-up table shows the origin") {
  if (!has_mpirun()) return;
  const JobFolder job;
  RunRequest request = ranks_request(2, arguments_of(job, {"--comm=horovod"}));
  request.environment.emplace_back("HOROVOD_CYCLE_TIME", "2.5");
  request.environment.emplace_back("HOROVOD_AUTOTUNE", "1");
  const RunResult result = run_program("mpirun", request);
  CAPTURE(result.err);
  CHECK(result.exit_code == 0);
  CHECK(result.err.find("comm.horovod.cycle_ms 2.5 (HOROVOD_CYCLE_TIME=2.5)") != std::string::npos);
  CHECK(result.err.find("not used by this program: HOROVOD_AUTOTUNE") != std::string::npos);
}

TEST_CASE("a number of threads for OpenMP on one rank changes none, and the job says so") {
  if (!has_mpirun()) return;
  const JobFolder job;
  const RunResult result = run_mixed(job, "OMP_NUM_THREADS=37");
  CAPTURE(result.err);
  CHECK(result.exit_code == 0);
  const int threads = std::max(1, cores_of_mask() / 2);
  CHECK(result.err.find("OMP_NUM_THREADS=37 of " + name_of(1) + " is not used") != std::string::npos);
  CHECK(nlohmann::json::parse(read_file(job.path("run/run.json")))["resolved"]["threads"] == threads);
}

TEST_CASE("ranks compute with the lowest instruction set that one of them offers") {
  if (!has_mpirun()) return;
  if (instruction_set() == InstructionSet::kScalar) {
    std::cout << "SKIPPED: no vector instructions here\n";
    return;
  }
  const JobFolder job;
  const std::vector<std::string> trace = {"--trace", job.path("trace")};
  const RunResult lowered = run_mixed(job, "BERTFT_INSTRUCTION_SET=scalar", trace);
  CAPTURE(lowered.err);
  REQUIRE(lowered.exit_code == 0);
  CHECK(lowered.err.find("kernels scalar (the most that " + name_of(1) + " has)") != std::string::npos);
  CHECK(nlohmann::json::parse(read_file(job.path("run/run.json")))["resolved"]["instruction_set"] == "scalar");
  const std::string first = read_file(job.path("trace.0000"));
  RunRequest all = ranks_request(2, arguments_of(job, trace));
  all.environment.emplace_back("BERTFT_INSTRUCTION_SET", "scalar");
  REQUIRE(run_program("mpirun", all).exit_code == 0);
  CHECK(read_file(job.path("trace.0000")) == first);
}

}  // namespace
}  // namespace bertft::test
