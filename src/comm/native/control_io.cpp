// The thread of the control plane and the bytes it moves: frames in and out of non-blocking sockets.
#include <fmt/format.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>

#include <array>
#include <cerrno>
#include <cstring>

#include "comm/native/control_plane.h"
#include "core/error.h"

namespace bertft::native {
namespace {

constexpr uint64_t kWakeTag = UINT64_MAX;
constexpr size_t kReadBytes = 65536;

void watch(const Fd& poll, int operation, int socket, uint64_t tag, uint32_t events) {
  epoll_event event = {};
  event.events = events;
  event.data.u64 = tag;
  ::epoll_ctl(poll.get(), operation, socket, &event);
}

// Moves the descriptors that came with a message to `into`.
void take_descriptors(msghdr& message, std::deque<Fd>& into) {
  for (cmsghdr* part = CMSG_FIRSTHDR(&message); part != nullptr; part = CMSG_NXTHDR(&message, part)) {
    if (part->cmsg_level != SOL_SOCKET || part->cmsg_type != SCM_RIGHTS) continue;
    for (size_t at = 0; CMSG_LEN(at + sizeof(int)) <= part->cmsg_len; at += sizeof(int)) {
      int descriptor = -1;
      std::memcpy(&descriptor, CMSG_DATA(part) + at, sizeof descriptor);
      into.emplace_back(descriptor);
    }
  }
}

// What sendmsg() did: bytes, or -1 with errno.
ssize_t send_part(int socket, const char* data, size_t bytes, int descriptor) {
  iovec vector = {const_cast<char*>(data), bytes};
  msghdr message = {};
  message.msg_iov = &vector;
  message.msg_iovlen = 1;
  alignas(cmsghdr) std::array<char, CMSG_SPACE(sizeof(int))> space = {};
  if (descriptor >= 0) {
    message.msg_control = space.data();
    message.msg_controllen = space.size();
    cmsghdr* part = CMSG_FIRSTHDR(&message);
    part->cmsg_level = SOL_SOCKET;
    part->cmsg_type = SCM_RIGHTS;
    part->cmsg_len = CMSG_LEN(sizeof(int));
    std::memcpy(CMSG_DATA(part), &descriptor, sizeof descriptor);
  }
  return ::sendmsg(socket, &message, MSG_NOSIGNAL | MSG_DONTWAIT);
}

}  // namespace

ControlPlane::ControlPlane(const Topology& topology, uint64_t job, std::vector<Fd> sockets, Failure& failure)
    : topology_(topology),
      job_(job),
      failure_(failure),
      peers_(static_cast<size_t>(topology.size)),
      poll_(::epoll_create1(EPOLL_CLOEXEC)),
      wake_(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)),
      watch_(topology.rank, topology.size) {
  if (!poll_ || !wake_) throw ResourceError("no file descriptor left for the communicator. Raise ulimit -n");
  watch(poll_, EPOLL_CTL_ADD, wake_.get(), kWakeTag, EPOLLIN);
  for (int rank = 0; rank < topology.size; ++rank) {
    if (rank == topology.rank) continue;
    auto peer = std::make_unique<Peer>();
    peer->socket = std::move(sockets[static_cast<size_t>(rank)]);
    watch(poll_, EPOLL_CTL_ADD, peer->socket.get(), static_cast<uint64_t>(rank), EPOLLIN);
    peers_[static_cast<size_t>(rank)] = std::move(peer);
  }
  // Whoever finds the fault, the peers hear of it.
  failure_.on_set([this] { tell([&](PeerWatch& watch) { watch.abort(failure_.cause()); }); });
  thread_ = std::thread([this] { run(); });
}

ControlPlane::~ControlPlane() {
  if (failure_.is_set()) wait_for_flush(0.3);  // the peers read the cause before the end of the connection
  ::eventfd_write(wake_.get(), 1);
  thread_.join();
}

void ControlPlane::run() {
  std::array<epoll_event, 64> events = {};
  for (;;) {
    const int count = ::epoll_wait(poll_.get(), events.data(), static_cast<int>(events.size()), -1);
    for (int i = 0; i < count; ++i) {
      const epoll_event& event = events[static_cast<size_t>(i)];
      if (event.data.u64 == kWakeTag) return;
      const int rank = static_cast<int>(event.data.u64);
      Peer& peer = *peers_[static_cast<size_t>(rank)];
      if ((event.events & EPOLLOUT) != 0) {
        const std::lock_guard lock(peer.mutex);
        flush(rank, peer);
      }
      if (peer.is_open && (event.events & ~static_cast<uint32_t>(EPOLLOUT)) != 0) read(rank);
    }
  }
}

void ControlPlane::read(int rank) {
  Peer& peer = *peers_[static_cast<size_t>(rank)];
  std::array<char, kReadBytes> bytes;
  alignas(cmsghdr) std::array<char, CMSG_SPACE(8 * sizeof(int))> space = {};
  iovec vector = {bytes.data(), bytes.size()};
  msghdr message = {};
  message.msg_iov = &vector;
  message.msg_iovlen = 1;
  message.msg_control = space.data();
  message.msg_controllen = space.size();
  const ssize_t got = ::recvmsg(peer.socket.get(), &message, MSG_DONTWAIT | MSG_CMSG_CLOEXEC);
  if (got < 0 && (errno == EAGAIN || errno == EWOULDBLOCK || errno == EINTR)) return;
  if (got <= 0) {
    const int error = got < 0 ? errno : 0;
    watch(poll_, EPOLL_CTL_DEL, peer.socket.get(), 0, 0);
    connection_ended(rank, error);
    return;
  }
  take_descriptors(message, peer.descriptors);
  peer.inbox.append(bytes.data(), static_cast<size_t>(got));
  try {
    take_frames(rank);
  } catch (const Error& error) {
    watch(poll_, EPOLL_CTL_DEL, peer.socket.get(), 0, 0);
    peer.is_open = false;
    const std::string cause = fmt::format("{}: {}", topology_.name_of(rank), error.what());
    tell([&](PeerWatch& rules) { rules.abort(cause); });
  }
}

void ControlPlane::take_frames(int rank) {
  std::string& inbox = peers_[static_cast<size_t>(rank)]->inbox;
  size_t at = 0;
  while (inbox.size() - at >= kControlHeaderBytes) {
    const std::string_view rest = std::string_view(inbox).substr(at);
    const ControlHeader header = decode_control(rest.substr(0, kControlHeaderBytes), job_);
    if (rest.size() - kControlHeaderBytes < header.bytes) break;
    take_frame(rank, header.kind, rest.substr(kControlHeaderBytes, header.bytes));
    at += kControlHeaderBytes + header.bytes;
  }
  inbox.erase(0, at);
}

void ControlPlane::flush(int rank, Peer& peer) {
  while (!peer.outgoing.empty()) {
    Frame& frame = peer.outgoing.front();
    const ssize_t sent = send_part(peer.socket.get(), frame.bytes.data() + frame.sent, frame.bytes.size() - frame.sent,
                                   frame.descriptor.get());
    if (sent < 0) {
      if (errno == EINTR) continue;
      if (errno == EAGAIN || errno == EWOULDBLOCK) break;
      peer.is_broken = true;
      peer.outgoing.clear();
      return;
    }
    frame.descriptor.reset();
    frame.sent += static_cast<size_t>(sent);
    if (frame.sent == frame.bytes.size()) peer.outgoing.pop_front();
  }
  const uint32_t events = peer.outgoing.empty() ? EPOLLIN : EPOLLIN | EPOLLOUT;
  watch(poll_, EPOLL_CTL_MOD, peer.socket.get(), static_cast<uint64_t>(rank), events);
}

}  // namespace bertft::native
