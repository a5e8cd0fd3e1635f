// Thread counts from affinity masks and the control groups of both versions, on folders made like the kernel's.
#include "core/threads.h"

#include "tests/support/temp_folder.h"
#include "tests/support/test.h"

namespace bertft {
namespace {

using test::TempFolder;

TEST_CASE("The tightest quota on the way to the root counts (version 2)") {
  struct Case {
    const char* inner;  // cpu.max of /job/step, /job and the root; nullptr = no such file
    const char* middle;
    const char* root;
    double quota;  // 0 = none
  };
  const std::vector<Case> cases = {
      {"150000 100000\n", nullptr, nullptr, 1.5},
      {"max 100000\n", nullptr, nullptr, 0},
      {"max 100000\n", "400000 100000\n", nullptr, 4},
      {"200000 100000\n", "400000 100000\n", nullptr, 2},
      {"800000 100000\n", "400000 100000\n", "300000 100000\n", 3},
      {nullptr, nullptr, "50000 100000\n", 0.5},
      {nullptr, nullptr, nullptr, 0},
      {"", "nonsense\n", "0 100000\n", 0},
      {"100000 0\n", "-5 100000\n", "100000\n", 0},
  };
  for (const Case& c : cases) {
    const TempFolder mount;
    mount.write("job/step/cgroup.procs", "");
    if (c.inner != nullptr) mount.write("job/step/cpu.max", c.inner);
    if (c.middle != nullptr) mount.write("job/cpu.max", c.middle);
    if (c.root != nullptr) mount.write("cpu.max", c.root);
    REQUIRE(cpu_quota("0::/job/step\n", mount.path()).value_or(0) == c.quota);
  }
}

TEST_CASE("Version 1 is read from the folder of the cpu controller, and both versions can be there") {
  const TempFolder mount;
  mount.write("cpu/docker/cpu.cfs_quota_us", "250000\n");
  mount.write("cpu/docker/cpu.cfs_period_us", "100000\n");
  mount.write("cpu/cpu.cfs_quota_us", "-1\n");
  mount.write("cpu/cpu.cfs_period_us", "100000\n");
  REQUIRE(cpu_quota("5:cpu,cpuacct:/docker\n3:memory:/docker\n", mount.path()) == 2.5);
  REQUIRE(cpu_quota("5:cpuacct,cpu:/docker\n0::/\n", mount.path()) == 2.5);
  REQUIRE_FALSE(cpu_quota("5:cpuset:/docker\n", mount.path()).has_value());
  REQUIRE_FALSE(cpu_quota("5:cpu:/elsewhere\n", mount.path()).has_value());
  mount.write("cpu.max", "100000 100000\n");
  REQUIRE(cpu_quota("5:cpu:/docker\n0::/\n", mount.path()) == 1.0);
}

TEST_CASE("Lines that are no membership are passed over") {
  const TempFolder mount;
  mount.write("cpu.max", "100000 100000\n");
  for (const char* text : {"", "\n", "nonsense", "1:2", ":", "::relative-without-slash"}) {
    INFO(text);
    const auto quota = cpu_quota(text, mount.path());
    REQUIRE_FALSE(quota.has_value());
  }
  REQUIRE(cpu_quota("nonsense\n0::/gone\n", mount.path()) == 1.0);
}

TEST_CASE("Threads: the smaller of mask and quota, rounded down, divided among ranks, at least one") {
  struct Case {
    int mask;
    double quota;  // 0 = none
    int ranks;
    int count;
    const char* reason;
  };
  const std::vector<Case> cases = {
      {8, 0, 1, 8, "affinity mask 8"},
      {8, 2.9, 1, 2, "CPU quota 2.9"},
      {8, 0.5, 1, 1, "CPU quota 0.5"},
      {2, 16, 1, 2, "affinity mask 2"},
      {4, 4, 1, 4, "affinity mask 4"},
      {8, 0, 3, 2, "affinity mask 8, 3 ranks on this machine"},
      {8, 4, 2, 2, "CPU quota 4, 2 ranks on this machine"},
      {2, 0, 16, 1, "affinity mask 2, 16 ranks on this machine"},
      {4, 0, 0, 4, "affinity mask 4"},
  };
  for (const Case& c : cases) {
    const auto quota = c.quota > 0 ? std::optional<double>(c.quota) : std::nullopt;
    const ThreadCount chosen = choose_threads(c.mask, quota, c.ranks);
    REQUIRE(chosen.count == c.count);
    REQUIRE(chosen.reason == c.reason);
  }
  REQUIRE(available_threads(1).count >= 1);
  REQUIRE(available_threads(100000).count == 1);
}

}  // namespace
}  // namespace bertft
