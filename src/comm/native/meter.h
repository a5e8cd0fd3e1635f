// The counters of one channel: written by the thread that uses it, read by any.
#pragma once

#include <atomic>
#include <cstdint>

#include "comm/transport.h"

namespace bertft::native {

class Meter {
 public:
  void sent(size_t header, size_t payload) {
    add(header_sent_, header);
    add(payload_sent_, payload);
  }
  void received(size_t header, size_t payload) {
    add(header_received_, header);
    add(payload_received_, payload);
  }
  void message_sent() { add(messages_sent_, 1); }
  void message_received() { add(messages_received_, 1); }
  void fp32_block_sent() { add(fp32_blocks_, 1); }
  void summed(size_t bytes) { add(summed_, bytes); }

  ChannelCounters counters() const {
    return {messages_sent_.load(),    messages_received_.load(), payload_sent_.load(),
            payload_received_.load(), header_sent_.load(),       header_received_.load()};
  }
  int64_t fp32_blocks() const { return fp32_blocks_.load(); }
  int64_t summed_bytes() const { return summed_.load(); }

 private:
  using Count = std::atomic<int64_t>;
  static void add(Count& count, size_t value) {
    count.fetch_add(static_cast<int64_t>(value), std::memory_order_relaxed);
  }

  Count messages_sent_{0}, messages_received_{0}, payload_sent_{0}, payload_received_{0}, header_sent_{0},
      header_received_{0}, fp32_blocks_{0}, summed_{0};
};

}  // namespace bertft::native
