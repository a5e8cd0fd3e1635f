// What is seen of processes that are stopped, and what a watch does about a call that does not return.
#include "comm/start_watch.h"

#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <thread>

#include "tests/support/test.h"

namespace bertft {
namespace {

void rest(int ms) { std::this_thread::sleep_for(std::chrono::milliseconds(ms)); }

// A child of this process that sleeps; killed at the end.
class Child {
 public:
  Child() : id_(::fork()) {
    if (id_ != 0) return;
    rest(60000);
    ::_exit(0);
  }
  ~Child() {
    ::kill(id_, SIGKILL);
    ::waitpid(id_, nullptr, 0);
  }
  Child(const Child&) = delete;
  Child& operator=(const Child&) = delete;
  pid_t id() const { return id_; }

 private:
  const pid_t id_;
};

TEST_CASE("Of the children of a process those that are stopped are seen") {
  const Child running, stopped;
  ::kill(stopped.id(), SIGSTOP);
  std::vector<std::string> seen;
  for (int i = 0; i < 1000 && seen.empty(); ++i) {
    seen = stopped_children(::getpid());
    rest(10);
  }
  REQUIRE(seen.size() == 1);
  CHECK_THAT(seen.front(), Catch::Contains("process " + std::to_string(stopped.id())));
}

// The exit code of a process that is in a call of this kind for half a minute at most; 0 when the watch lets it be.
int end_of_call(StartWatch::Kind kind, int call_ms) {
  const pid_t id = ::fork();
  if (id == 0) {
    {
      StartWatch watch({.warn_s = 0.2, .abort_s = 0.5});
      const StartWatch::Call call(watch, "a call", kind);
      rest(call_ms);
    }
    ::_exit(0);
  }
  int status = 0;
  ::waitpid(id, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

TEST_CASE("A call that should be short ends the process with the code of a communication failure") {
  CHECK(end_of_call(StartWatch::Kind::kShort, 30000) == 4);
  CHECK(end_of_call(StartWatch::Kind::kStart, 1500) == 0);
  CHECK(end_of_call(StartWatch::Kind::kLong, 1500) == 0);
}

TEST_CASE("A call of any kind ends the process once a sibling is stopped for too long") {
  const Child stopped;
  ::kill(stopped.id(), SIGSTOP);
  CHECK(end_of_call(StartWatch::Kind::kStart, 30000) == 4);
  CHECK(end_of_call(StartWatch::Kind::kLong, 30000) == 4);
}

}  // namespace
}  // namespace bertft
