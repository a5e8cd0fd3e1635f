// Thread counts from affinity masks and the control groups of both versions, on folders made like the kernel's.
#include "core/threads.h"

#include <sched.h>

#include <utility>

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

TEST_CASE("Hierarchies are also found under the names of all their controllers, and beside each other") {
  const TempFolder mount;
  mount.write("cpu,cpuacct/job/cpu.cfs_quota_us", "350000");
  mount.write("cpu,cpuacct/job/cpu.cfs_period_us", "100000");
  REQUIRE(cpu_quota("5:cpu,cpuacct:/job\n", mount.path()) == 3.5);
  mount.write("unified/job/cpu.max", "300000 100000\n");
  REQUIRE(cpu_quota("5:cpu,cpuacct:/job\n0::/job\n", mount.path()) == 3.0);
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

CpuShare share_of(std::vector<int> cores, double quota = 0.0, std::vector<int> reachable = {}) {
  if (reachable.empty()) reachable = cores;
  return {std::move(cores), std::move(reachable), quota > 0.0 ? std::optional<double>(quota) : std::nullopt};
}

const std::vector<int> kEight = {0, 1, 2, 3, 4, 5, 6, 7};

TEST_CASE("Threads: the smaller of mask and quota, rounded down, shared where it is shared, at least one") {
  struct Case {
    std::vector<CpuShare> node;
    size_t index;
    int count;
    const char* reason;
  };
  const CpuShare eight = share_of(kEight);
  const std::vector<Case> cases = {
      {{eight}, 0, 8, "affinity mask of 8 cores"},
      {{share_of(kEight, 2.9)}, 0, 2, "CPU quota of 2.9 cores"},
      {{share_of(kEight, 1.0)}, 0, 1, "CPU quota of 1 core"},
      {{share_of({0, 1}, 1.5)}, 0, 1, "CPU quota of 1.5 cores"},
      {{share_of(kEight, 0.5)}, 0, 1, "CPU quota of 0.5 cores"},
      {{share_of({2, 3}, 16)}, 0, 2, "affinity mask of 2 cores"},
      {{share_of({0, 1, 2, 3}, 4)}, 0, 4, "affinity mask of 4 cores"},
      // equal masks
      {{eight, eight, eight}, 1, 2, "affinity mask of 8 cores shared by 3 ranks"},
      {std::vector<CpuShare>(16, share_of({0, 1})), 15, 1, "affinity mask of 2 cores shared by 16 ranks"},
      {std::vector<CpuShare>(3, share_of({0, 1, 2})), 2, 1, "affinity mask of 3 cores shared by 3 ranks"},
      {std::vector<CpuShare>(6, share_of({0, 1, 2, 3, 4, 5})), 0, 1, "affinity mask of 6 cores shared by 6 ranks"},
      // masks of their own
      {{share_of({0}), share_of({1})}, 1, 1, "affinity mask of 1 core"},
      {{share_of({0, 1, 2}), share_of({3, 4, 5})}, 0, 3, "affinity mask of 3 cores"},
      {{share_of({0, 1, 2}), share_of({5})}, 1, 1, "affinity mask of 1 core"},
      // two share one half, one has the other; and masks that share a part
      {{share_of({0, 1, 2, 3}), share_of({0, 1, 2, 3}), share_of({4, 5, 6, 7})},
       0,
       2,
       "affinity mask of 4 cores shared by 2 ranks"},
      {{share_of({0, 1, 2, 3}), share_of({0, 1, 2, 3}), share_of({4, 5, 6, 7})}, 2, 4, "affinity mask of 4 cores"},
      {{share_of({0, 1, 2, 3}), share_of({2, 3, 4, 5})}, 1, 3, "affinity mask of 4 cores shared by 2 ranks"},
      // the quota belongs to all
      {{share_of(kEight, 4), share_of(kEight, 4)}, 0, 2, "CPU quota of 4 cores shared by 2 ranks"},
      {{share_of({0}, 1), share_of({1}, 1)}, 0, 1, "CPU quota of 1 core shared by 2 ranks"},
      {{share_of({0, 1}, 1), share_of({0, 1}, 1)}, 1, 1, "CPU quota of 1 core shared by 2 ranks"},
      {{share_of({0, 1, 2, 3}, 6), share_of({4, 5, 6, 7}, 6)}, 1, 3, "CPU quota of 6 cores shared by 2 ranks"},
      {{share_of({0, 1}, 64), share_of({2, 3}, 64)}, 1, 2, "affinity mask of 2 cores"},
  };
  for (const Case& c : cases) {
    CAPTURE(c.reason, c.index);
    const ThreadCount chosen = choose_threads(c.node, c.index);
    CHECK(chosen.count == c.count);
    CHECK(chosen.reason == c.reason);
  }
}

TEST_CASE("A mask of one core is a fault when cores idle that the quota lets it use") {
  const auto bound = [](int core, double quota = 0.0) { return share_of({core}, quota, {0, 1, 2, 3}); };
  CHECK(binding_fault({bound(0)}) == "the process is bound to one core while 3 of 4 cores idle");
  CHECK(binding_fault({bound(0), bound(1)}) == "2 of 2 processes are bound to one core while 2 of 4 cores idle");
  CHECK(binding_fault({bound(2), bound(2)}) == "2 of 2 processes are bound to one core while 3 of 4 cores idle");
  CHECK(binding_fault({bound(0), share_of({1, 2}, 0, {0, 1, 2, 3})}) ==
        "1 of 2 processes are bound to one core while 1 of 4 cores idle");
  CHECK(binding_fault({bound(0, 2.0)}) == "the process is bound to one core while 3 of 4 cores idle");
  CHECK(binding_fault({bound(0, 1.9)}).empty());
  CHECK(binding_fault({bound(0), bound(1), bound(2), bound(3)}).empty());
  CHECK(binding_fault({share_of({0})}).empty());  // a machine, or a container, of one core
  CHECK(binding_fault({share_of({0, 1}, 0, {0, 1, 2, 3})}).empty());
}

TEST_CASE("The mask of this process is seen whole, and left as it is") {
  cpu_set_t before;
  REQUIRE(sched_getaffinity(0, sizeof before, &before) == 0);
  const CpuShare all = own_cpu_share();
  CHECK(all.cores.size() == static_cast<size_t>(CPU_COUNT(&before)));
  cpu_set_t one;
  CPU_ZERO(&one);
  CPU_SET(all.cores.back(), &one);
  REQUIRE(sched_setaffinity(0, sizeof one, &one) == 0);
  const CpuShare bound = own_cpu_share();
  cpu_set_t after;
  sched_getaffinity(0, sizeof after, &after);
  sched_setaffinity(0, sizeof before, &before);
  CHECK(bound.cores == std::vector<int>{all.cores.back()});
  CHECK(bound.reachable == all.reachable);
  CHECK(CPU_EQUAL(&after, &one));
}

}  // namespace
}  // namespace bertft
