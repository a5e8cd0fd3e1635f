// What this process is busy with and whether it gets on, so that ranks that wait for it can tell slow from stuck.
#pragma once

#include <cstdint>

namespace bertft {

// Names what the process does while this lives; phases may lie inside each other. Main thread only; `name` is a
// literal.
class WorkPhase {
 public:
  explicit WorkPhase(const char* name);
  ~WorkPhase();
  WorkPhase(const WorkPhase&) = delete;
  WorkPhase& operator=(const WorkPhase&) = delete;

 private:
  const char* before_;
};

// A piece of work is done: a micro-batch, a block of a file. Any thread; costs nothing.
void note_work_done();

struct WorkNow {
  const char* phase = "";
  uint64_t pieces = 0;  // done since the start
};
WorkNow work_now();  // any thread

}  // namespace bertft
