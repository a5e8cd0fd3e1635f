#include "comm/timeline/trace_file.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <cstring>
#include <utility>

#include "core/error.h"
#include "core/log.h"

namespace bertft {
namespace {

constexpr size_t kBlockBytes = 64 * 1024;
constexpr size_t kMostPending = size_t{64} << 20;
constexpr auto kInterval = std::chrono::milliseconds(500);
constexpr std::string_view kEnd = "\n]\n";

}  // namespace

TraceFile::TraceFile(const std::string& path) : path_(path) {
  file_ = ::open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
  if (file_ < 0) {
    throw ResourceError(fmt::format("cannot write the timeline {}: {}; choose another place or leave comm.timeline out",
                                    path, std::strerror(errno)));
  }
  thread_ = std::thread([this] { run(); });
}

TraceFile::~TraceFile() {
  {
    const std::lock_guard lock(mutex_);
    is_stopping_ = true;
  }
  wanted_.notify_all();
  thread_.join();
  if (file_ >= 0) ::close(file_);
}

void TraceFile::append(std::string_view record) {
  const std::lock_guard lock(mutex_);
  if (has_ended_) return;
  if (pending_.size() > kMostPending) {
    has_ended_ = is_too_slow_ = true;
    return;
  }
  pending_ += is_first_ ? "[\n" : ",\n";
  is_first_ = false;
  pending_ += record;
  appended_ += static_cast<int64_t>(record.size()) + 2;
  if (pending_.size() >= kBlockBytes) wanted_.notify_all();
}

void TraceFile::flush() {
  std::unique_lock lock(mutex_);
  flush_to_ = appended_;
  wanted_.notify_all();
  flushed_.wait(lock, [this, goal = appended_] { return done_ >= goal; });
}

void TraceFile::run() {
  std::unique_lock lock(mutex_);
  while (true) {
    wanted_.wait_for(lock, kInterval,
                     [this] { return is_stopping_ || pending_.size() >= kBlockBytes || flush_to_ > done_; });
    const bool is_last = is_stopping_;
    std::string block = std::exchange(pending_, {});
    const int64_t upto = appended_;
    const bool is_too_slow = std::exchange(is_too_slow_, false);
    lock.unlock();
    write(block);
    if (is_too_slow) end_trace("the disk is too slow for it");
    lock.lock();
    if (file_ < 0) has_ended_ = true;
    done_ = upto;
    flushed_.notify_all();
    if (is_last) return;
  }
}

void TraceFile::write(std::string& block) {
  if (file_ < 0 || block.empty()) return;
  const auto records = static_cast<int64_t>(block.size());
  block += kEnd;
  size_t done = 0;
  while (done < block.size()) {
    const ssize_t bytes = ::pwrite(file_, block.data() + done, block.size() - done,
                                   static_cast<off_t>(written_ + static_cast<int64_t>(done)));
    if (bytes < 0 && errno == EINTR) continue;
    if (bytes <= 0) return end_trace(std::strerror(errno));
    done += static_cast<size_t>(bytes);
  }
  written_ += records;
}

void TraceFile::end_trace(const std::string& reason) {
  if (file_ < 0) return;
  log::warn(fmt::format("the timeline {} ends here: {}", path_, reason));
  ::close(file_);
  file_ = -1;
}

}  // namespace bertft
