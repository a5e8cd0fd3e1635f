// Writes what happens to each tensor, and what this rank's threads do, as a trace that chrome://tracing and Perfetto
// open: the same names, nesting and file that users of HOROVOD_TIMELINE know (horovod/common/timeline.cc, catapult's
// Trace Event Format).
#pragma once

#include <cstdint>
#include <mutex>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "comm/coordinator/tensor_traits.h"
#include "comm/timeline/trace_file.h"

namespace bertft {

// Activities of a reduction, as Horovod names them; the transport's own is NATIVE_ALLREDUCE, MPI_ALLREDUCE or
// NCCL_ALLREDUCE.
namespace timeline_activity {
constexpr const char* kQueue = "QUEUE";
constexpr const char* kMemcpyIn = "MEMCPY_IN_FUSION_BUFFER";
constexpr const char* kMemcpyOut = "MEMCPY_OUT_FUSION_BUFFER";
}  // namespace timeline_activity

// Each tensor is a process of the trace and goes through: nothing -> negotiating -> nothing -> reducing -> in an
// activity -> reducing ... -> nothing. Calls of a reduction that do not fit the state of the tensor throw
// InternalError; what is negotiated while rank 0 still reduces the step before is left out, since a process of the
// trace shows one thing at a time. Process 0 is this rank, with a thread of the trace for each of its own.
// Times are seconds since the start of the trace and must not decrease for a tensor or a thread. Any thread may call;
// nothing waits for the disk (comm/timeline/trace_file.h says what a process that ends early leaves behind).
class Timeline {
 public:
  // Makes or empties the file. `start_us`: microseconds since 1970 at time 0; `rank_name`: what process 0 is called.
  // Throws ResourceError when that fails.
  Timeline(const std::string& path, int64_t start_us, const std::string& rank_name = "rank 0");

  // Negotiation of a reduction, at rank 0: from the first rank that has it ready, with a mark for each further one, to
  // the agreement. May be called again while it lasts. Ranks are only known of tensors that are not cached.
  void negotiate_start(const std::string& tensor, double now_s);
  void negotiate_rank_ready(const std::string& tensor, int rank, double now_s);
  void negotiate_end(const std::string& tensor, double now_s);

  // The reduction itself, and one activity at a time within it. `end` also ends an activity that lasts.
  void start(const std::string& tensor, double now_s);
  void activity_start(const std::string& tensor, std::string_view activity, double now_s);
  void activity_end(const std::string& tensor, double now_s);
  void next_activity(const std::string& tensor, std::string_view activity, double now_s);  // ends the one that lasts
  void end(const std::string& tensor, const TensorTraits& traits, double now_s);

  void mark_cycle(double now_s);

  // What a thread of this rank does; what begins later ends first. end_in_thread() without a begin throws
  // InternalError.
  void name_thread(int thread, const std::string& name);
  void begin_in_thread(int thread, std::string_view what, double now_s);
  void end_in_thread(int thread, double now_s);

  // Waits until everything is written that happened before.
  void flush() { file_.flush(); }

 private:
  enum class State { kNothing, kNegotiating, kReducing, kInActivity };
  struct Tensor {
    int process = 0;
    State state = State::kNothing;
  };

  // All of these under mutex_.
  Tensor& find(const std::string& name);
  Tensor& expect(const std::string& name, State state);
  void begin_activity(Tensor& tensor, std::string_view activity, double now_s);
  void end_activity(Tensor& tensor, double now_s);
  // One event; `more` are further members, with a comma in front.
  void event(char phase, const Tensor& tensor, std::string_view name, double now_s, const std::string& more = {});

  TraceFile file_;
  std::mutex mutex_;
  std::unordered_map<std::string, Tensor> tensors_;
  std::unordered_map<int, int> depth_of_thread_;
};

}  // namespace bertft
