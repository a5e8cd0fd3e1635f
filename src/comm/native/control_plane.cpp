#include "comm/native/control_plane.h"

#include <fcntl.h>
#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <utility>

#include "comm/native/bytes.h"
#include "comm/native/hang_up.h"
#include "core/error.h"

namespace bertft::native {
namespace {

constexpr double kAbortFlush = 0.3;  // s
constexpr double kByeFlush = 5.0;    // s

}  // namespace

void ControlPlane::post(int rank, ControlKind kind, std::string_view payload, Fd descriptor) {
  check(payload.size() < kMostControlBytes, "a control message of 256 MiB or more");
  Peer& peer = *peers_[static_cast<size_t>(rank)];
  Frame frame;
  frame.bytes = encode(ControlHeader{kind, static_cast<uint32_t>(payload.size())}, job_);
  frame.bytes += payload;
  frame.descriptor = std::move(descriptor);
  const std::lock_guard lock(peer.mutex);
  if (peer.is_broken) return;  // the thread learns from its side of the connection why
  peer.outgoing.push_back(std::move(frame));
  flush(rank, peer);
}

void ControlPlane::send(int to, std::string_view bytes) {
  failure_.throw_if_set();
  check(to >= 0 && to < topology_.size, "a message to a rank that is not there");
  {
    const std::lock_guard lock(mutex_);
    counters_.messages_sent += 1;
    counters_.payload_sent += static_cast<int64_t>(bytes.size());
    if (to == topology_.rank) {
      counters_.messages_received += 1;
      counters_.payload_received += static_cast<int64_t>(bytes.size());
      received_.push_back({to, std::string(bytes)});
    } else {
      counters_.header_sent += kControlHeaderBytes;
    }
  }
  if (to == topology_.rank) {
    changed_.notify_all();
  } else {
    post(to, ControlKind::kMessage, bytes);
  }
}

std::optional<ControlMessage> ControlPlane::receive(double timeout_s) {
  std::unique_lock lock(mutex_);
  const auto is_there = [&] { return !received_.empty() || failure_.is_set(); };
  if (timeout_s < 0.0) {
    changed_.wait(lock, is_there);
  } else if (!changed_.wait_for(lock, std::chrono::duration<double>(std::min(timeout_s, 1e8)), is_there)) {
    return std::nullopt;
  }
  failure_.throw_if_set();
  ControlMessage message = std::move(received_.front());
  received_.pop_front();
  return message;
}

void ControlPlane::announce(std::string_view status) {
  for (int rank = 0; rank < topology_.size; ++rank) {
    if (rank != topology_.rank) post(rank, ControlKind::kStatus, status);
  }
}

std::vector<ControlMessage> ControlPlane::take_announced() {
  const std::lock_guard lock(mutex_);
  std::vector<ControlMessage> all;
  for (auto& [rank, status] : announced_) all.push_back({rank, std::move(status)});
  announced_.clear();
  return all;
}

void ControlPlane::send_memory(int to, uint32_t tag, const SharedMemory& memory) {
  ByteWriter writer;
  writer.number(tag);
  Fd copy(::fcntl(memory.descriptor(), F_DUPFD_CLOEXEC, 0));
  if (!copy) throw ResourceError("no file descriptor left for shared memory. Raise ulimit -n");
  post(to, ControlKind::kMemory, writer.bytes(), std::move(copy));
}

SharedMemory ControlPlane::take_memory(int from, uint32_t tag, size_t bytes) {
  std::unique_lock lock(mutex_);
  for (;;) {
    failure_.throw_if_set();
    const auto found = std::find_if(memories_.begin(), memories_.end(),
                                    [&](const Memory& one) { return one.from == from && one.tag == tag; });
    if (found != memories_.end()) {
      const Fd descriptor = std::move(found->descriptor);
      memories_.erase(found);
      return SharedMemory::open(descriptor.get(), bytes);
    }
    changed_.wait(lock);
  }
}

// Lets the rules look at an event, sends what they say, and wakes everybody once they name a cause.
void ControlPlane::tell(const std::function<void(PeerWatch&)>& event) {
  std::vector<PeerNotice> notices;
  std::string cause;
  {
    const std::lock_guard lock(mutex_);
    event(watch_);
    notices = watch_.take_notices();
    cause = watch_.cause();
  }
  for (const PeerNotice& notice : notices) {
    const bool is_abort = notice.kind == PeerNotice::Kind::kAbort;
    post(notice.to, is_abort ? ControlKind::kAbort : ControlKind::kBye, notice.cause);
  }
  changed_.notify_all();
  if (!cause.empty()) failure_.set(cause);
}

void ControlPlane::take_frame(int rank, ControlKind kind, std::string_view payload) {
  if (kind == ControlKind::kAbort)
    return tell([&](PeerWatch& watch) { watch.abort_received(rank, std::string(payload)); });
  if (kind == ControlKind::kStatus) {
    const std::lock_guard lock(mutex_);
    announced_[rank] = payload;
    return;
  }
  if (kind == ControlKind::kBye) return tell([&](PeerWatch& watch) { watch.bye_received(rank); });
  {
    const std::lock_guard lock(mutex_);
    if (kind == ControlKind::kMemory) {
      ByteReader reader(payload, "the announcement of shared memory");
      const auto tag = reader.number<uint32_t>();
      reader.expect_end();
      std::deque<Fd>& descriptors = peers_[static_cast<size_t>(rank)]->descriptors;
      if (descriptors.empty()) throw CommError("shared memory was announced without a descriptor");
      memories_.push_back({rank, tag, std::move(descriptors.front())});
      descriptors.pop_front();
    } else {
      counters_.messages_received += 1;
      counters_.payload_received += static_cast<int64_t>(payload.size());
      counters_.header_received += kControlHeaderBytes;
      received_.push_back({rank, std::string(payload)});
    }
  }
  changed_.notify_all();
}

void ControlPlane::connection_ended(int rank, int error) {
  Peer& peer = *peers_[static_cast<size_t>(rank)];
  peer.is_open = false;
  {
    const std::lock_guard lock(peer.mutex);
    peer.is_broken = true;
    peer.outgoing.clear();
  }
  const bool is_silent = error == ETIMEDOUT || error == EHOSTUNREACH || error == ENETUNREACH;
  const std::string name = topology_.name_of(rank);
  const std::string cause =
      is_silent ? fmt::format("{} does not answer any more ({}): check the machine, its cable and the switch", name,
                              std::strerror(error))
                : gone_cause(name);
  tell([&](PeerWatch& watch) { watch.end_of_stream(rank, cause); });
}

void ControlPlane::abort(const std::string& cause) noexcept {
  try {
    tell([&](PeerWatch& watch) { watch.abort(cause); });
    wait_for_flush(kAbortFlush);
  } catch (...) {  // the peers see the connection end
  }
}

void ControlPlane::say_bye() {
  {
    const std::lock_guard lock(mutex_);
    if (std::exchange(is_leaving_, true)) return;
  }
  tell([](PeerWatch& watch) { watch.finish(); });
  {
    std::unique_lock lock(mutex_);
    // The rules know of a failure a moment before failure_ does.
    changed_.wait(lock, [&] { return failure_.is_set() || (watch_.may_close() && !watch_.failed()); });
  }
  failure_.throw_if_set();
  wait_for_flush(kByeFlush);
}

bool ControlPlane::is_flushed() {
  return std::all_of(peers_.begin(), peers_.end(), [](const std::unique_ptr<Peer>& peer) {
    if (!peer) return true;
    const std::lock_guard lock(peer->mutex);
    return peer->outgoing.empty();
  });
}

void ControlPlane::wait_for_flush(double seconds) {
  const auto end = std::chrono::steady_clock::now() + std::chrono::duration<double>(seconds);
  while (!is_flushed() && std::chrono::steady_clock::now() < end) {
    std::this_thread::sleep_for(std::chrono::milliseconds(2));
  }
}

ChannelCounters ControlPlane::counters() const {
  const std::lock_guard lock(mutex_);
  return counters_;
}

}  // namespace bertft::native
