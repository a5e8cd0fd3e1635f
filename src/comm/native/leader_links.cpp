#include "comm/native/leader_links.h"

#include <fmt/format.h>
#include <sys/socket.h>

#include <algorithm>
#include <cerrno>

#include "comm/native/frames.h"
#include "comm/native/sockets.h"
#include "core/error.h"

namespace bertft::native {
namespace {

std::string kind_name(uint32_t kind) { return kind == 0 ? "a gather" : fmt::format("a broadcast from {}", kind - 1); }

}  // namespace

// Bytes that leave to and come from one leader, at the same time.
struct LeaderLinks::Transfer {
  int node = 0;
  const char* out = nullptr;
  size_t out_left = 0;
  char* in = nullptr;
  size_t in_left = 0;
};

LeaderLinks::LeaderLinks(const Context& context, std::map<int, int> sockets)
    : context_(context),
      waiting_(context.topology, context.failure, context.wait_limit_s, context.record),
      sockets_(std::move(sockets)) {}

// True when something moved.
bool LeaderLinks::move(Transfer& transfer) {
  const int socket = sockets_.at(transfer.node);
  bool has_moved = false;
  if (transfer.out_left > 0) {
    const ssize_t sent = ::send(socket, transfer.out, transfer.out_left, MSG_NOSIGNAL | MSG_DONTWAIT);
    if (sent < 0 && errno != EAGAIN && errno != EWOULDBLOCK && errno != EINTR) {
      waiting_.connection_lost(leader_of(transfer.node), errno, "collectives");
    }
    if (sent > 0) {
      transfer.out += sent;
      transfer.out_left -= static_cast<size_t>(sent);
      has_moved = true;
    }
  }
  if (transfer.in_left > 0) {
    const IoResult io = read_some(socket, transfer.in, transfer.in_left);
    if (io.is_ended) waiting_.connection_lost(leader_of(transfer.node), io.error, "collectives");
    transfer.in += io.count;
    transfer.in_left -= io.count;
    has_moved |= io.count > 0;
  }
  return has_moved;
}

void LeaderLinks::run(std::vector<Transfer>& transfers) {
  for (;;) {
    bool has_moved = false, is_done = true;
    std::vector<pollfd> polls;
    for (Transfer& transfer : transfers) {
      has_moved |= move(transfer);
      is_done &= transfer.out_left == 0 && transfer.in_left == 0;
      const int events = (transfer.out_left > 0 ? POLLOUT : 0) | (transfer.in_left > 0 ? POLLIN : 0);
      polls.push_back({events == 0 ? -1 : sockets_.at(transfer.node), static_cast<short>(events), 0});
    }
    if (is_done) return;
    if (has_moved) continue;
    waiting_.wait(polls, [&] {
      TransportWait wait{-1, "data", 0, -1, {}};
      for (const Transfer& transfer : transfers) {
        if (transfer.out_left > 0 || transfer.in_left > 0) wait.ranks.push_back(leader_of(transfer.node));
      }
      return wait;
    });
  }
}

// `bytes`: what is due, or null where any length is right; then it is not compared.
void LeaderLinks::check_header(int node, const std::string& header, const size_t* bytes) const {
  const CollectiveHeader got = decode_collective(header, context_.job);
  if (got.sequence == sequence_ && got.kind == kind_ && (bytes == nullptr || *bytes == got.bytes)) return;
  const std::string due = bytes == nullptr ? "" : fmt::format(", {} bytes", *bytes);
  throw CommError(
      fmt::format("{} is in collective {} ({}, {} bytes), this rank in {} ({}{}). The ranks do different things: do "
                  "all run the same "
                  "program with the same configuration?",
                  context_.topology.name_of(leader_of(node)), got.sequence, kind_name(got.kind), got.bytes, sequence_,
                  kind_name(kind_), due));
}

std::vector<std::string> LeaderLinks::all_gather(const std::string& mine) {
  std::vector<std::string> all(static_cast<size_t>(context_.topology.nodes()));
  all[static_cast<size_t>(context_.topology.node)] = mine;
  const std::string out = encode(CollectiveHeader{sequence_, mine.size(), kind_}, context_.job) + mine;
  std::vector<std::string> headers(all.size(), std::string(kCollectiveHeaderBytes, '\0'));
  std::vector<Transfer> transfers;
  for (const auto& [node, socket] : sockets_) {
    transfers.push_back(
        {node, out.data(), kCollectiveHeaderBytes, headers[static_cast<size_t>(node)].data(), kCollectiveHeaderBytes});
    context_.meter.message_sent();
    context_.meter.sent(kCollectiveHeaderBytes, mine.size());
  }
  run(transfers);
  for (Transfer& transfer : transfers) {
    const std::string& header = headers[static_cast<size_t>(transfer.node)];
    check_header(transfer.node, header, nullptr);
    const size_t bytes = decode_collective(header, context_.job).bytes;
    std::string& text = all[static_cast<size_t>(transfer.node)];
    text.resize(bytes);
    transfer.in = text.data();
    transfer.in_left = bytes;
    transfer.out_left = mine.size();  // behind the header
    context_.meter.message_received();
    context_.meter.received(kCollectiveHeaderBytes, bytes);
  }
  run(transfers);
  return all;
}

void LeaderLinks::begin_send(int node, size_t bytes) {
  const std::string header = encode(CollectiveHeader{sequence_, bytes, kind_}, context_.job);
  std::vector<Transfer> transfers = {{node, header.data(), header.size(), nullptr, 0}};
  run(transfers);
  context_.meter.message_sent();
  context_.meter.sent(kCollectiveHeaderBytes, bytes);
}

void LeaderLinks::send(int node, const void* data, size_t bytes) {
  std::vector<Transfer> transfers = {{node, static_cast<const char*>(data), bytes, nullptr, 0}};
  run(transfers);
}

void LeaderLinks::begin_receive(int node, size_t bytes) {
  std::string header(kCollectiveHeaderBytes, '\0');
  std::vector<Transfer> transfers = {{node, nullptr, 0, header.data(), header.size()}};
  run(transfers);
  check_header(node, header, &bytes);
  context_.meter.message_received();
  context_.meter.received(kCollectiveHeaderBytes, bytes);
}

void LeaderLinks::receive(int node, void* data, size_t bytes) {
  std::vector<Transfer> transfers = {{node, nullptr, 0, static_cast<char*>(data), bytes}};
  run(transfers);
}

}  // namespace bertft::native
