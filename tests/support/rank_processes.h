// N ranks as processes of their own, forked from a test, with a bootstrap over sockets: for what threads cannot do,
// such as being killed.
#pragma once

#include <sys/types.h>

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "comm/bootstrap.h"

namespace bertft::test {

// How one rank's process ended.
struct RankEnd {
  int exit_code = -1;  // -1: killed
  int signal = 0;
  std::string text;      // what body() returned, or "error: " and the message of what it threw
  double after_s = 0.0;  // from the start of all
};

class RankProcesses {
 public:
  // Forks the ranks; body(bootstrap) runs in each. No thread may run in the test at that time.
  RankProcesses(int ranks, const std::function<std::string(Bootstrap&)>& body);
  ~RankProcesses();  // kills what is left
  RankProcesses(const RankProcesses&) = delete;
  RankProcesses& operator=(const RankProcesses&) = delete;

  pid_t pid(int rank) const;
  // Waits until the rank has written `mark` by say().
  void wait_for_mark(int rank);
  // Collects all ranks; those that take longer than `limit_s` are killed.
  std::vector<RankEnd> wait(double limit_s);

 private:
  struct State;
  std::unique_ptr<State> state_;
};

// Called in a rank's process: lets wait_for_mark() return.
void set_mark();

}  // namespace bertft::test
