// A file of trace events, one JSON array in the Chrome trace format, written by a thread of its own so that whoever has
// an event never waits for a disk.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <mutex>
#include <string>
#include <string_view>
#include <thread>

namespace bertft {

// Events are collected and written in blocks, at least twice a second; after each block the file is a whole array,
// since the next one overwrites its last bracket. A process that is killed loses what was not written yet and leaves a
// valid file; one that is killed within the write leaves an array without its bracket, which the viewers accept as
// well. When the disk is full, or so slow that 64 MiB wait for it, one warning is logged and the trace ends.
class TraceFile {
 public:
  // Makes or empties the file. Throws ResourceError when that fails.
  explicit TraceFile(const std::string& path);
  ~TraceFile();
  TraceFile(const TraceFile&) = delete;
  TraceFile& operator=(const TraceFile&) = delete;

  // One JSON object. Any thread.
  void append(std::string_view record);
  // Waits until everything is written that was appended before.
  void flush();

 private:
  void run();
  void write(std::string& block);
  void end_trace(const std::string& reason);

  const std::string path_;
  int file_ = -1;        // -1: closed after an error; the thread's
  int64_t written_ = 0;  // bytes of the file without the last bracket; the thread's

  std::mutex mutex_;
  std::condition_variable wanted_;   // for the thread
  std::condition_variable flushed_;  // for flush()
  std::string pending_;              // records, each with what divides it from the one before
  bool is_first_ = true;
  bool has_ended_ = false;  // after an error: nothing is kept any more
  bool is_too_slow_ = false;
  bool is_stopping_ = false;
  int64_t appended_ = 0;  // bytes
  int64_t flush_to_ = 0;  // of them, wanted on the disk now
  int64_t done_ = 0;      // of them, written or given up
  std::thread thread_;
};

}  // namespace bertft
