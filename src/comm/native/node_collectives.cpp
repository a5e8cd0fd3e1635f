#include "comm/native/node_collectives.h"

#include <algorithm>
#include <cstring>

namespace bertft::native {
namespace {

constexpr size_t kLengthBytes = sizeof(uint64_t);  // before each chunk of a gathered text: the length of the whole
constexpr size_t kChunk = kStagingBytes - kLengthBytes;

// Told apart in the records, so that a rank in another collective is found out.
constexpr int64_t kGatherKind = -1;
constexpr int64_t kBroadcastKind = -2;

}  // namespace

NodeCollectives::NodeCollectives(const NodeChannel::Context& context, int channel, WaitRecord& record)
    : memory_(context.memory),
      local_rank_(context.topology.local_rank),
      local_size_(context.topology.local_size()),
      channel_(context, channel, -1, record) {}

// What this rank staged before may be overwritten then.
void NodeCollectives::wait_until_read() {
  if (channel_.posted() > 0) channel_.wait_reduced(channel_.posted());
}

std::vector<std::string> NodeCollectives::all_gather(const std::string& mine) {
  std::vector<std::string> all(static_cast<size_t>(local_size_));
  if (local_size_ == 1) return {mine};
  size_t longest = 0;
  size_t at = 0;
  do {
    wait_until_read();
    const uint64_t length = mine.size();
    std::byte* staging = memory_.staging(local_rank_);
    std::memcpy(staging, &length, kLengthBytes);
    if (at < mine.size()) std::memcpy(staging + kLengthBytes, mine.data() + at, std::min(kChunk, mine.size() - at));
    const uint64_t number = channel_.post({.begin = static_cast<int64_t>(at), .step = kGatherKind});
    channel_.wait_posted(number);
    for (int local = 0; local < local_size_; ++local) {
      const std::byte* theirs = memory_.staging(local);
      uint64_t size = 0;
      std::memcpy(&size, theirs, kLengthBytes);
      longest = std::max<size_t>(longest, size);
      if (at >= size) continue;
      const auto* text = reinterpret_cast<const char*>(theirs + kLengthBytes);
      all[static_cast<size_t>(local)].append(text, std::min<size_t>(kChunk, size - at));
    }
    channel_.set_reduced(number, 0);
    at += kChunk;
  } while (at < longest);
  return all;
}

void NodeCollectives::broadcast(void* data, size_t bytes, int local_root) {
  if (local_size_ == 1) return;
  for (size_t at = 0; at < bytes; at += kStagingBytes) {
    const size_t count = std::min(kStagingBytes, bytes - at);
    char* here = static_cast<char*>(data) + at;
    if (local_rank_ == local_root) {
      wait_until_read();
      std::memcpy(memory_.staging(local_root), here, count);
    }
    const uint64_t number = channel_.post(
        {.begin = static_cast<int64_t>(at), .end = static_cast<int64_t>(bytes), .step = kBroadcastKind - local_root});
    channel_.wait_posted(number);
    if (local_rank_ != local_root) std::memcpy(here, memory_.staging(local_root), count);
    channel_.set_reduced(number, 0);
  }
}

}  // namespace bertft::native
