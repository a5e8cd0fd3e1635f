// Collectives of the native transport: inside the nodes through shared memory, between them through their leaders.
#include <algorithm>

#include "comm/native/bytes.h"
#include "comm/native/native_impl.h"
#include "core/error.h"

namespace bertft::native {
namespace {

std::string joined(const std::vector<std::string>& texts) {
  ByteWriter writer;
  for (const std::string& text : texts) {
    writer.number(static_cast<uint64_t>(text.size()));
    writer.raw(text);
  }
  return writer.bytes();
}

}  // namespace

std::vector<std::string> NativeTransport::all_gather(const std::string& mine) {
  failures().throw_if_set();
  const std::vector<std::string> locals = node_collectives_->all_gather(mine);
  if (nodes() == 1) return locals;
  // The leaders put together what all nodes have, one node behind the other: canonical order.
  std::string whole;
  if (leaders_ != nullptr) {
    leaders_->next_collective(0);
    for (const std::string& part : leaders_->all_gather(joined(locals))) {
      whole += part;
    }
  }
  uint64_t bytes = whole.size();
  node_collectives_->broadcast(&bytes, sizeof bytes, 0);
  whole.resize(bytes);
  node_collectives_->broadcast(whole.data(), whole.size(), 0);
  std::vector<std::string> all(static_cast<size_t>(size()));
  ByteReader reader(whole, "a gathered text");
  for (const int rank : topology().canonical) {
    const auto length = reader.number<uint64_t>();
    all[static_cast<size_t>(rank)] = reader.raw(length);
  }
  reader.expect_end();
  return all;
}

void NativeTransport::barrier() { all_gather(""); }

void NativeTransport::node_barrier() {
  failures().throw_if_set();
  node_collectives_->all_gather("");
}

// The nodes form a chain that begins at the root's: each leader passes every piece on as soon as it has it.
void NativeTransport::broadcast(void* data, size_t bytes, int root) {
  failures().throw_if_set();
  check(root >= 0 && root < size(), "broadcast from a rank that is not there");
  const int root_node = topology().node_of[static_cast<size_t>(root)];
  const int nodes = topology().nodes();
  const int place = (node() - root_node + nodes) % nodes;
  const int previous = (node() - 1 + nodes) % nodes;
  const int next = (node() + 1) % nodes;
  const bool is_receiver = leaders_ != nullptr && place > 0;
  const bool is_sender = leaders_ != nullptr && place < nodes - 1;
  const std::vector<int>& members = topology().locals();
  const auto local_root = place > 0 ? 0 : std::find(members.begin(), members.end(), root) - members.begin();
  if (leaders_ != nullptr) leaders_->next_collective(1 + static_cast<uint32_t>(root));
  if (is_receiver) leaders_->begin_receive(previous, bytes);
  if (is_sender) leaders_->begin_send(next, bytes);
  for (size_t at = 0; at < bytes; at += kStagingBytes) {
    char* piece = static_cast<char*>(data) + at;
    const size_t count = std::min(kStagingBytes, bytes - at);
    if (is_receiver) leaders_->receive(previous, piece, count);
    // A root that is no leader hands the piece to its leader first.
    if (place == 0) node_collectives_->broadcast(piece, count, static_cast<int>(local_root));
    if (is_sender) leaders_->send(next, piece, count);
    if (place > 0) node_collectives_->broadcast(piece, count, 0);
  }
}

}  // namespace bertft::native
