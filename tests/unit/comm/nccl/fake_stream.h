// Streams and events of the fake device: a stream is a thread that does what was put on it, in order and late.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <random>
#include <thread>

namespace bertft::test {

class FakeEvent {
 public:
  int64_t record();  // returns its number
  void complete(int64_t number);
  int64_t recorded() const;
  bool is_complete() const;
  void wait_for(int64_t number) const;

 private:
  mutable std::mutex mutex_;
  mutable std::condition_variable changed_;
  int64_t recorded_ = 0;
  int64_t completed_ = 0;
};

class FakeStream {
 public:
  // Each piece of work begins up to `most_delay_us` later than it could.
  FakeStream(uint32_t seed, int most_delay_us);
  ~FakeStream();  // does what is left first
  FakeStream(const FakeStream&) = delete;
  FakeStream& operator=(const FakeStream&) = delete;

  void put(std::function<void()> work);
  void wait_until_idle();

 private:
  void run();

  std::mt19937 random_;
  const int most_delay_us_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<std::function<void()>> queue_;
  bool is_ending_ = false;
  bool is_working_ = false;
  std::thread thread_;
};

}  // namespace bertft::test
