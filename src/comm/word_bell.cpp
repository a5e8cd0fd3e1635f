#include "comm/word_bell.h"

#include <linux/futex.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <atomic>

namespace bertft {

uint32_t read_bell(const uint32_t* bell) {
  return std::atomic_ref<uint32_t>(*const_cast<uint32_t*>(bell)).load(std::memory_order_seq_cst);
}

void ring_bell(uint32_t* bell) {
  std::atomic_ref<uint32_t>(*bell).fetch_add(1, std::memory_order_seq_cst);
  ::syscall(SYS_futex, bell, FUTEX_WAKE, INT32_MAX, nullptr, nullptr, 0);
}

void sleep_at_bell(uint32_t* bell, uint32_t seen) { ::syscall(SYS_futex, bell, FUTEX_WAIT, seen, nullptr, nullptr, 0); }

}  // namespace bertft
