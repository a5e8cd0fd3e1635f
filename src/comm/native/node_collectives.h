// Texts and buffers between the ranks of one node, through a staging area per rank in shared memory.
#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <vector>

#include "comm/native/node_channel.h"

namespace bertft::native {

class NodeCollectives {
 public:
  NodeCollectives(const NodeChannel::Context& context, int channel, WaitRecord& record);

  // The texts of the ranks of this node, in local order.
  std::vector<std::string> all_gather(const std::string& mine);
  // From `local_root` into `data` of the others; all with the same number of bytes.
  void broadcast(void* data, size_t bytes, int local_root);

 private:
  void wait_until_read();

  const NodeMemory& memory_;
  const int local_rank_;
  const int local_size_;
  NodeChannel channel_;
};

}  // namespace bertft::native
