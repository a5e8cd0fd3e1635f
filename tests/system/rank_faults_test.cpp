// What happens to a job of several ranks when one of them dies, stands still, fails or is asked to stop: it ends soon
// with the first cause in every log, or goes on to the same bits.
#include <netinet/in.h>
#include <signal.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <functional>
#include <iostream>
#include <random>

#include "core/files.h"
#include "tests/support/test.h"
#include "tests/system/golden_run.h"
#include "tests/system/long_job.h"
#include "tests/system/rank_checks.h"
#include "tests/system/rank_runs.h"

namespace bertft::test {
namespace {

namespace fs = std::filesystem;

void check_kill(const LongJob& job, const std::string& mode, int ranks, int victim,
                const std::string& transport = "native") {
  CAPTURE(mode, ranks, victim, transport);
  const std::string run = "run" + std::to_string(ranks) + std::to_string(victim);
  const std::vector<std::string> more = {"--comm=" + mode, "--set", "comm.transport=" + transport};
  RankJob program(ranks_request(ranks, job.arguments(run, more)), marker_of(job, run));
  program.wait_for("step 5/");
  const auto delay_ms = std::random_device()() % 500;
  CAPTURE(delay_ms);
  ::usleep(delay_ms * 1000);
  program.signal_rank(victim, SIGKILL);
  const RunResult result = program.wait(20.0);  // about one second on an idle machine
  CHECK(result.exit_code != 0);
  check_survivors(job, run, ranks, victim, name_of(victim) + " is gone", result.err);
}

TEST_CASE("aiacc: a killed rank ends the job, and every survivor names it last") {
  if (!has_mpirun()) return;
  const LongJob job(10000);
  check_kill(job, "aiacc", 2, 0);
  check_kill(job, "aiacc", 3, 1);
  check_kill(job, "aiacc", 4, 3);
}

TEST_CASE("horovod: a killed rank ends the job, and every survivor names it last") {
  if (!has_mpirun()) return;
  const LongJob job(10000);
  check_kill(job, "horovod", 2, 1);
  check_kill(job, "horovod", 3, 0);
  check_kill(job, "horovod", 4, 2);
}

TEST_CASE("over MPI a killed rank ends the job in both modes, and every survivor names it last") {
  if (!has_mpirun()) return;
  const LongJob job(10000);
  check_kill(job, "aiacc", 2, 0, "mpi");
  check_kill(job, "horovod", 3, 1, "mpi");
  check_kill(job, "aiacc", 4, 3, "mpi");
}

// The library aborts before anybody knows why: with a death a moment later the log names it, without one it is the end.
TEST_CASE("a survivor whose MPI aborts in the middle of a transfer names the killed rank all the same") {
  if (!has_mpirun()) return;
  for (const bool is_killed : {true, false}) {
    CAPTURE(is_killed);
    const LongJob job(10000);
    RunRequest request = ranks_request(2, job.arguments("run", {"--set", "comm.transport=mpi"}));
    request.environment.emplace_back("LD_PRELOAD", brittle_mpi());
    request.environment.emplace_back("BRITTLE_MPI_FILE", job.path("now"));
    RankJob program(request, marker_of(job, "run"));
    program.wait_for("step 5/");
    job.folder().write("now", "");
    program.wait_for("brittle MPI");
    if (is_killed) program.signal_rank(1, SIGKILL);
    const RunResult result = program.wait(20.0);
    CHECK(result.exit_code != 0);
    check_survivors(job, "run", 2, is_killed ? 1 : 0, name_of(is_killed ? 1 : 0) + " is gone", result.err);
    CHECK((result.err.find("signal 6") == std::string::npos) == is_killed);
  }
}

// The compute threads are in an evaluation of many seconds then, and wait for nobody.
TEST_CASE("survivors that are busy with something long name a killed rank, too") {
  if (!has_mpirun()) return;
  const LongJob job(2);
  std::string rows = "label\ttext\n";
  for (int i = 0; i < 300'000; ++i) rows += i % 2 == 0 ? "good\ta good film\n" : "bad\tthe bad book .\n";
  job.folder().write("dev.tsv", rows);
  RankJob program(ranks_request(2, job.arguments("run", {"--set", "eval.batch_tokens=64"})), marker_of(job, "run"));
  program.wait_for("step 4/");
  ::usleep(200'000);
  program.signal_rank(1, SIGKILL);
  const RunResult result = program.wait(20.0);
  CHECK(result.exit_code != 0);
  CHECK(result.err.find("dev after step 4") == std::string::npos);
  check_survivors(job, "run", 2, 1, name_of(1) + " is gone", result.err);
}

void check_stop(const std::string& mode, int victim, const std::string& transport = "native") {
  CAPTURE(mode, victim, transport);
  const LongJob job(10000);
  const std::vector<std::string> limits = {"--comm=" + mode,       "--set", "comm.stall_warn_s=1",        "--set",
                                           "comm.stall_abort_s=3", "--set", "comm.transport=" + transport};
  RankJob program(ranks_request(3, job.arguments("run", limits)), marker_of(job, "run"));
  program.wait_for("step 20/");
  program.signal_rank(victim, SIGSTOP);
  const RunResult result = program.wait(30.0);
  CHECK(result.exit_code == 4);
  const std::string late = name_of(victim) + ", which has said nothing for ";
  const size_t warning = result.err.find(late);
  CHECK(warning != std::string::npos);
  CHECK(warning < result.err.find("error: "));
  for (int rank = 0; rank < 3; ++rank) {
    if (rank == victim) continue;
    const std::string log = read_file(log_path(job, "run", rank));
    CAPTURE(rank, log);
    CHECK(last_line(log).find("no progress (comm.stall_abort_s)") != std::string::npos);
    CHECK(last_line(log).find(late) != std::string::npos);
    CHECK(count_of(log, late) >= 2);  // warned of before
  }
}

TEST_CASE("a rank that stands still is named, first in a warning and then as the cause of the end") {
  if (!has_mpirun()) return;
  check_stop("aiacc", 0);
  check_stop("horovod", 2);
}

TEST_CASE("over MPI a rank that stands still is named, too") {
  if (!has_mpirun()) return;
  check_stop("aiacc", 1, "mpi");
}

TEST_CASE("a rank that stood still for a while goes on to the same bits") {
  if (!has_mpirun()) return;
  const LongJob job(60);
  for (const std::string mode : {"aiacc", "horovod"}) {
    CAPTURE(mode);
    const std::vector<std::string> more = {"--overwrite", "--comm=" + mode, "--set", "comm.stall_warn_s=1",
                                           "--set",       "eval.every=100", "--set", "output.checkpoint_every=100"};
    REQUIRE(run_ranks(2, job.arguments("whole", more)).exit_code == 0);
    RankJob program(ranks_request(2, job.arguments("run", more)), marker_of(job, "run"));
    program.wait_for("step 20/");
    program.signal_rank(1, SIGSTOP);
    program.wait_for(name_of(1) + ", which has said nothing for ");
    program.signal_rank(1, SIGCONT);
    const RunResult result = program.wait();
    CAPTURE(result.err);
    REQUIRE(result.exit_code == 0);
    check_same_run(job, "run", "whole", 2);
  }
}

// Stops a run by `stop`, and goes on with it to the same end as one that was not stopped.
void check_preemption(const LongJob& job, int ranks, const std::vector<std::string>& mode,
                      const std::function<void(const RankJob&)>& stop) {
  CAPTURE(ranks, mode);
  const std::vector<std::string> seldom = {"--set", "eval.every=50", "--set", "output.checkpoint_every=100000"};
  const std::vector<std::string> more = joined(joined({"--overwrite"}, seldom), mode);
  REQUIRE(run_ranks(ranks, job.arguments("whole", more)).exit_code == 0);
  RankJob program(ranks_request(ranks, job.arguments("run", more)), marker_of(job, "run"));
  program.wait_for("step 20/");
  stop(program);
  const RunResult stopped = program.wait();
  CAPTURE(stopped.err);
  REQUIRE(stopped.exit_code == 7);
  CHECK(count_of(stopped.err, "training state after step") == 1);
  CHECK(count_of(stopped.err, "error:") == 0);
  CHECK(last_line(read_file(log_path(job, "run", 0))).find("bert_finetune train --config") == 0);
  const RunResult rest = run_ranks(ranks, job.arguments("run", joined(joined({"--resume"}, seldom), mode)));
  CAPTURE(rest.err);
  REQUIRE(rest.exit_code == 0);
  check_same_run(job, "run", "whole", ranks);
}

TEST_CASE("SIGTERM to one rank saves once, stops all, and the run goes on to the same bits") {
  if (!has_mpirun()) return;
  const LongJob job(40);
  check_preemption(job, 1, {}, [](const RankJob& program) { program.signal_rank(0, SIGTERM); });
  check_preemption(job, 2, {"--comm=horovod"}, [](const RankJob& program) { program.signal_rank(1, SIGTERM); });
}

TEST_CASE("SIGTERM to one of four ranks saves once, stops all, and the run goes on to the same bits") {
  if (!has_mpirun()) return;
  check_preemption(LongJob(40), 4, {"--comm=aiacc"}, [](const RankJob& program) { program.signal_rank(2, SIGTERM); });
}

TEST_CASE("SIGUSR2 to mpirun saves once, stops all, and the run goes on to the same bits") {
  if (!has_mpirun()) return;
  const LongJob job(40);
  check_preemption(job, 1, {}, [](const RankJob& program) { program.signal_launcher(SIGUSR2); });
  check_preemption(job, 2, {"--comm=aiacc"}, [](const RankJob& program) { program.signal_launcher(SIGUSR2); });
}

TEST_CASE("SIGUSR2 to mpirun of four ranks saves once, stops all, and the run goes on to the same bits") {
  if (!has_mpirun()) return;
  check_preemption(LongJob(40), 4, {"--comm=horovod"},
                   [](const RankJob& program) { program.signal_launcher(SIGUSR2); });
}

TEST_CASE("SIGUSR1 to one of several ranks saves once and the run goes on") {
  if (!has_mpirun()) return;
  const LongJob job(40);
  const std::vector<std::string> seldom = {"--set", "eval.every=50", "--set", "output.checkpoint_every=100000"};
  REQUIRE(run_ranks(2, job.arguments("whole", seldom)).exit_code == 0);
  RankJob program(ranks_request(2, job.arguments("run", seldom)), marker_of(job, "run"));
  program.wait_for("step 20/");
  program.signal_rank(1, SIGUSR1);
  const RunResult result = program.wait();
  CAPTURE(result.err);
  REQUIRE(result.exit_code == 0);
  CHECK(count_of(result.err, "training state after step") == 2);  // the one that was asked for, and the last step's
  check_same_run(job, "run", "whole", 2);
}

TEST_CASE("a rank that fails alone in the middle of training says so on the console, and the others end with it") {
  if (!has_mpirun()) return;
  const LongJob job(1000);
  for (const std::string how : {"--comm=aiacc", "--comm=horovod", "--set=comm.transport=mpi"}) {
    CAPTURE(how);
    fs::remove(job.path("run.trace.0001"));
    fs::create_symlink("/dev/full", job.path("run.trace.0001"));
    const RunResult result = run_ranks(3, job.arguments("run", {"--overwrite", how}));
    CAPTURE(result.err);
    CHECK(result.exit_code == 6);
    const std::string cause = "--trace: cannot write " + job.path("run.trace.0001");
    CHECK(result.err.find("error: rank 1: " + cause) != std::string::npos);
    CHECK(last_line(read_file(log_path(job, "run", 1))).find(cause) != std::string::npos);
    check_survivors(job, "run", 3, 1, name_of(1) + ": " + cause, result.err);
  }
}

// Holds a TCP port on all addresses.
class TakenPort {
 public:
  TakenPort() : socket_(::socket(AF_INET, SOCK_STREAM, 0)) {
    sockaddr_in place = {};
    place.sin_family = AF_INET;
    socklen_t bytes = sizeof place;
    REQUIRE(::bind(socket_, reinterpret_cast<sockaddr*>(&place), bytes) == 0);
    REQUIRE(::listen(socket_, 1) == 0);
    REQUIRE(::getsockname(socket_, reinterpret_cast<sockaddr*>(&place), &bytes) == 0);
    number = ntohs(place.sin_port);
  }
  ~TakenPort() { ::close(socket_); }
  TakenPort(const TakenPort&) = delete;
  TakenPort& operator=(const TakenPort&) = delete;
  int number = 0;

 private:
  int socket_;
};

// A host name of its own makes a rank a node of its own: the ranks connect over TCP.
TEST_CASE("a port that is taken is one clear error") {
  if (!has_mpirun()) return;
  if (std::system("unshare --uts true 2>/dev/null") != 0) {
    std::cout << "SKIPPED: a host name for one process needs root\n";
    return;
  }
  const LongJob job(1);
  const TakenPort port;
  REQUIRE(port.number <= 65000);
  const std::string key = "comm.port_base=" + std::to_string(port.number);
  RunRequest request = ranks_request({job.arguments("run", {"--set", key}), job.arguments("run", {"--set", key})});
  const auto second = std::find(request.arguments.rbegin(), request.arguments.rend(), binary_path());
  REQUIRE(second != request.arguments.rend());
  const std::vector<std::string> renamed = {"unshare", "--uts", "/bin/sh", "-c", "hostname node-b; exec \"$0\" \"$@\""};
  request.arguments.insert(second.base() - 1, renamed.begin(), renamed.end());
  const RunResult result = run_program("mpirun", request);
  CAPTURE(result.err);
  CHECK(result.exit_code == 4);
  CHECK(count_of(result.err, "port " + std::to_string(port.number)) == 1);
  CHECK(result.err.find("comm.port_base") != std::string::npos);
  CHECK_FALSE(fs::exists(job.path("run/run.json")));
}

TEST_CASE("two jobs on one machine work side by side, in one folder the second is refused") {
  if (!has_mpirun()) return;
  const LongJob job(40);
  RankJob first(ranks_request(2, job.arguments("first")), marker_of(job, "first"));
  RankJob second(ranks_request(2, job.arguments("second", {"--comm=horovod"})), marker_of(job, "second"));
  first.wait_for("step 20/");
  const RunResult intruder = run_ranks(2, job.arguments("first", {"--overwrite"}));
  CAPTURE(intruder.err);
  CHECK(intruder.exit_code == 2);
  CHECK(intruder.err.find("another job writes to this folder: process") != std::string::npos);
  const RunResult one = first.wait();
  const RunResult other = second.wait();
  CAPTURE(one.err, other.err);
  CHECK(one.exit_code == 0);
  CHECK(other.exit_code == 0);
  CHECK(traces_of(job, "first", 2).back() == traces_of(job, "second", 2).back());
}

}  // namespace
}  // namespace bertft::test
