#include "comm/native/doorbell.h"

#include <linux/futex.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <ctime>
#include <thread>

namespace bertft::native {
namespace {

constexpr int kSpins = 200;  // a few microseconds: longer than a rank on another core needs for a store
constexpr int kYields = 20;  // for a rank that shares this core

uint32_t* word_of(Doorbell& bell) { return reinterpret_cast<uint32_t*>(&bell.rung); }

}  // namespace

Deadline deadline_in(double seconds) {
  if (seconds <= 0.0) return std::nullopt;
  const auto span = std::chrono::duration<double>(std::min(seconds, 1e9));
  return std::chrono::steady_clock::now() + std::chrono::duration_cast<std::chrono::steady_clock::duration>(span);
}

void ring(Doorbell& bell) {
  bell.rung.fetch_add(1, std::memory_order_seq_cst);
  if (bell.is_awaited.load(std::memory_order_seq_cst) == 0) return;
  ::syscall(SYS_futex, word_of(bell), FUTEX_WAKE, INT32_MAX, nullptr, nullptr, 0);
}

void sleep_at(Doorbell& bell, uint32_t seen, const Deadline& deadline) {
  timespec left = {};
  if (deadline) {
    const auto span = *deadline - std::chrono::steady_clock::now();
    const auto nanoseconds = std::chrono::duration_cast<std::chrono::nanoseconds>(span).count();
    if (nanoseconds <= 0) return;
    left.tv_sec = static_cast<time_t>(nanoseconds / 1000000000);
    left.tv_nsec = static_cast<long>(nanoseconds % 1000000000);
  }
  bell.is_awaited.store(1, std::memory_order_seq_cst);
  // The kernel compares before it sleeps, so a ring between reading `seen` and here is not lost.
  ::syscall(SYS_futex, word_of(bell), FUTEX_WAIT, seen, deadline ? &left : nullptr, nullptr, 0);
  bell.is_awaited.store(0, std::memory_order_seq_cst);
}

bool pause_briefly(int round) {
  if (round >= kSpins + kYields) return false;
  if (round >= kSpins) {
    std::this_thread::yield();
  } else {
#if defined(__x86_64__)
    __builtin_ia32_pause();
#endif
  }
  return true;
}

}  // namespace bertft::native
