// What this process is busy with and whether it gets on, so that ranks that wait for it can tell slow from stuck.
#pragma once

#include <cstddef>
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

// Bytes of a file that are read at once at most, so that a slow mount looks slow and not stuck.
constexpr size_t kReadPart = size_t{8} << 20;

// A piece of work is done: a micro-batch, a block of a file. Any thread; costs nothing.
void note_work_done();

struct WorkNow {
  const char* phase = "";
  uint64_t pieces = 0;  // done since the start
};
WorkNow work_now();  // any thread

}  // namespace bertft
