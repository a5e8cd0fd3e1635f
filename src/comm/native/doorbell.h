// How ranks of a node wait for each other in shared memory: a short spin, a few yields, then a futex. Whoever changes
// something that a rank may wait for rings that rank's bell.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <optional>

namespace bertft::native {

// Lies in shared memory, zero at first. One waiter at a time; any number of ringers.
struct Doorbell {
  std::atomic<uint32_t> rung;
  std::atomic<uint32_t> is_awaited;
};
static_assert(std::atomic<uint32_t>::is_always_lock_free, "a futex word must be a plain word");

using Deadline = std::optional<std::chrono::steady_clock::time_point>;  // none: wait as long as it takes
Deadline deadline_in(double seconds);                                   // none for seconds <= 0

void ring(Doorbell& bell);

// Sleeps until the bell has been rung since `seen` was read from it, or the deadline.
void sleep_at(Doorbell& bell, uint32_t seen, const Deadline& deadline);

// Lets other threads run for a moment; `round` counts from 0. False when it is time to sleep.
bool pause_briefly(int round);

// Waits until `is_done()` or the deadline; false in the latter case. is_done() may throw. It is called again after
// every ring, so it must depend on nothing that changes without one. `about_to_sleep()` is called once, before the
// first sleep.
template <typename Condition, typename Announcement>
bool wait_at(Doorbell& bell, const Deadline& deadline, const Condition& is_done, const Announcement& about_to_sleep) {
  for (int round = 0; pause_briefly(round); ++round) {
    if (is_done()) return true;
  }
  for (bool is_first = true;; is_first = false) {
    const uint32_t seen = bell.rung.load(std::memory_order_seq_cst);
    if (is_done()) return true;
    if (deadline && std::chrono::steady_clock::now() >= *deadline) return false;
    if (is_first) about_to_sleep();
    sleep_at(bell, seen, deadline);
  }
}

}  // namespace bertft::native
