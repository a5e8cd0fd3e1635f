// What `check` makes of the findings of several ranks, and what it says of nodes.
#include "train/check_ranks.h"

#include "tests/support/test.h"

namespace bertft {
namespace {

World world_of_three() { return make_world(0, {"x", "x", "y"}, {"node-a", "node-a", "node-b"}); }

RankCheck good_rank() {
  RankCheck rank;
  rank.share = {{0, 1}, {0, 1}, std::nullopt};
  rank.report.facts = {{"data", "10 rows"}};
  rank.report.job = {{"seed", "42", "default"}, {"the content of data.train", "abc"}};
  rank.node = {{"memory", "8,000 MB"}};
  return rank;
}

TEST_CASE("What all ranks found is told once, and anything else with the ranks that found it") {
  std::vector<RankCheck> ranks(3, good_rank());
  const CheckFault everywhere = {"data.dev", ExitCode::kData, "dev.tsv:3: broken"};
  for (RankCheck& rank : ranks) rank.report.faults.push_back(everywhere);
  ranks[2].report.faults.push_back({"data.train", ExitCode::kData, "train.tsv: not there"});
  ranks[0].report.warnings = {"a warning"};
  ranks[1].report.warnings = {"a warning"};
  ranks[2].report.not_checked = {"the labels: there are no training rows"};
  ranks[2].report.job.pop_back();  // not known there
  const JobCheck job = merge_checks(world_of_three(), ranks);
  REQUIRE(job.report.faults.size() == 2);
  CHECK(job.report.faults[0] == everywhere);
  CHECK(job.report.faults[1].message == "rank 2 (node-b): train.tsv: not there");
  CHECK(job.report.warnings == std::vector<std::string>{"rank 0 (node-a), rank 1 (node-a): a warning"});
  CHECK(job.report.not_checked == std::vector<std::string>{"rank 2 (node-b): the labels: there are no training rows"});
  CHECK(job.report.exit_code() == ExitCode::kData);
}

TEST_CASE("Each difference between ranks is a fault, with the exit code of communication when it is all") {
  std::vector<RankCheck> ranks(3, good_rank());
  CHECK(merge_checks(world_of_three(), ranks).report.exit_code() == ExitCode::kDone);
  ranks[1].report.job[0] = {"seed", "7", "--set"};
  ranks[2].report.job[1].value = "xyz";
  JobCheck job = merge_checks(world_of_three(), ranks);
  REQUIRE(job.report.faults.size() == 2);
  CHECK(job.report.faults[0].subject == "ranks");
  CHECK_THAT(
      job.report.faults[0].message,
      Catch::Contains("seed differs:\n  rank 0 (node-a), rank 2 (node-b): 42 (default)\n  rank 1 (node-a): 7 (--set)"));
  CHECK_THAT(job.report.faults[1].message, Catch::Contains("the content of data.train differs"));
  CHECK(job.report.exit_code() == ExitCode::kComm);
  job.report.faults.push_back({"checkpoint", ExitCode::kData, "damaged"});
  CHECK(job.report.exit_code() == ExitCode::kData);
  job.report.faults.push_back({"output", ExitCode::kConfig, "not set"});
  CHECK(job.report.exit_code() == ExitCode::kConfig);
}

TEST_CASE("A node is told with its ranks, their cores, and what its first rank knows") {
  std::vector<RankCheck> ranks(3, good_rank());
  ranks[2].share = {{0, 1, 2, 5}, {0, 1, 2, 3, 4, 5}, 1.5};
  ranks[2].node = {{"memory", "4,000 MB"}};
  const auto nodes = merge_checks(world_of_three(), ranks).nodes;
  REQUIRE(nodes.size() == 2);
  CHECK(nodes[0].host == "node-a");
  CHECK(nodes[0].ranks == std::vector<int>{0, 1});
  CHECK(nodes[0].facts[0].value == "2 cores (0-1) of 2, shared by 2 ranks");
  CHECK(nodes[0].facts[1].value == "none");
  CHECK(nodes[1].facts[0].value == "4 cores (0-2, 5) of 6");
  CHECK(nodes[1].facts[1].value == "1.5 cores");
  CHECK(nodes[1].facts[2].value == "4,000 MB");
  ranks[0].share.cores = {0};
  ranks[1].share.cores = {1};
  CHECK(merge_checks(world_of_three(), ranks).nodes[0].facts[0].value == "rank 0: 1 core (0), rank 1: 1 core (1) of 2");
}

TEST_CASE("Numbers in a row are one range") {
  CHECK(ranges_text({}).empty());
  CHECK(ranges_text({4}) == "4");
  CHECK(ranges_text({0, 1, 2, 3}) == "0-3");
  CHECK(ranges_text({0, 2, 3, 7}) == "0, 2-3, 7");
}

TEST_CASE("The mount of a path is the longest that holds it, and of equal ones the last") {
  const std::string mounts =
      "22 1 8:1 / / rw,relatime shared:1 - ext4 /dev/sda1 rw\n"
      "30 22 0:40 / /mnt/nas rw - nfs4 nas:/export rw,vers=4.2\n"
      "31 22 0:41 / /mnt rw - tmpfs none rw\n"
      "32 22 0:42 / /data rw - ext4 /dev/sdb1 rw\n"
      "33 22 0:43 / /data rw - xfs /dev/sdc1 rw\n"
      "a line that is none\n";
  CHECK(mount_text(mounts, "/home/x") == "ext4 /dev/sda1");
  CHECK(mount_text(mounts, "/mnt/nas/data/train.tsv") == "nfs4 nas:/export");
  CHECK(mount_text(mounts, "/mnt/nas") == "nfs4 nas:/export");
  CHECK(mount_text(mounts, "/mnt/nasty") == "tmpfs");
  CHECK(mount_text(mounts, "/data/x") == "xfs /dev/sdc1");
  CHECK(mount_text("", "/data/x") == "unknown");
}

}  // namespace
}  // namespace bertft
