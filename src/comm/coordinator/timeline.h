// Writes what happens to each tensor as a trace that chrome://tracing and Perfetto open: the same names, nesting and
// file that users of HOROVOD_TIMELINE know (horovod/common/timeline.cc, catapult's Trace Event Format).
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "comm/coordinator/tensor_traits.h"

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
// trace shows one thing at a time. Times are seconds since the start of the trace and must not decrease. Not for
// several threads at once. Events are collected and written in blocks; after each the file is a whole JSON array, since
// the next block overwrites its last bracket. A process that is killed loses what was collected since the last flush()
// and leaves a valid file; one killed within the write leaves an array without its bracket, which the viewers accept as
// well. When the disk is full, one warning is logged and the trace ends; training goes on.
class Timeline {
 public:
  // Makes or empties the file. `start_us`: microseconds since 1970 at time 0. Throws ResourceError when that fails.
  Timeline(const std::string& path, int64_t start_us);
  ~Timeline();
  Timeline(const Timeline&) = delete;
  Timeline& operator=(const Timeline&) = delete;

  // Negotiation of a reduction, at rank 0: from the first rank that has it ready, with a mark for each further one, to
  // the agreement. May be called again while it lasts. Ranks are only known of tensors that are not cached.
  void negotiate_start(const std::string& tensor, double now_s);
  void negotiate_rank_ready(const std::string& tensor, int rank, double now_s);
  void negotiate_end(const std::string& tensor, double now_s);

  // The reduction itself, and one activity at a time within it. `end` also ends an activity that lasts.
  void start(const std::string& tensor, double now_s);
  void activity_start(const std::string& tensor, std::string_view activity, double now_s);
  void activity_end(const std::string& tensor, double now_s);
  void end(const std::string& tensor, const TensorTraits& traits, double now_s);

  void mark_cycle(double now_s);
  void flush();

 private:
  enum class State { kNothing, kNegotiating, kReducing, kInActivity };
  struct Tensor {
    int process = 0;
    State state = State::kNothing;
  };

  Tensor& find(const std::string& name);
  Tensor& expect(const std::string& name, State state);
  // One event; `more` are further members, with a comma in front.
  void event(char phase, const Tensor& tensor, std::string_view name, double now_s, const std::string& more = {});
  void append(std::string_view record);

  std::string path_;
  int file_ = -1;        // -1: closed after an error
  int64_t written_ = 0;  // bytes of the file without the last bracket
  std::string pending_;  // records, each with what divides it from the one before
  bool is_first_ = true;
  std::unordered_map<std::string, Tensor> tensors_;
};

}  // namespace bertft
