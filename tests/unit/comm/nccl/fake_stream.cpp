#include "tests/unit/comm/nccl/fake_stream.h"

#include <algorithm>
#include <chrono>
#include <utility>

namespace bertft::test {

int64_t FakeEvent::record() {
  const std::lock_guard lock(mutex_);
  return ++recorded_;
}

void FakeEvent::complete(int64_t number) {
  const std::lock_guard lock(mutex_);
  completed_ = std::max(completed_, number);
  changed_.notify_all();
}

int64_t FakeEvent::recorded() const {
  const std::lock_guard lock(mutex_);
  return recorded_;
}

bool FakeEvent::is_complete() const {
  const std::lock_guard lock(mutex_);
  return completed_ >= recorded_;
}

void FakeEvent::wait_for(int64_t number) const {
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [&] { return completed_ >= number; });
}

FakeStream::FakeStream(uint32_t seed, int most_delay_us)
    : random_(seed), most_delay_us_(most_delay_us), thread_([this] { run(); }) {}

FakeStream::~FakeStream() {
  {
    const std::lock_guard lock(mutex_);
    is_ending_ = true;
  }
  changed_.notify_all();
  thread_.join();
}

void FakeStream::put(std::function<void()> work) {
  const std::lock_guard lock(mutex_);
  queue_.push_back(std::move(work));
  changed_.notify_all();
}

void FakeStream::wait_until_idle() {
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [this] { return queue_.empty() && !is_working_; });
}

void FakeStream::run() {
  while (true) {
    std::function<void()> work;
    {
      std::unique_lock lock(mutex_);
      changed_.wait(lock, [this] { return is_ending_ || !queue_.empty(); });
      if (queue_.empty()) return;
      work = std::move(queue_.front());
      queue_.pop_front();
      is_working_ = true;
    }
    if (most_delay_us_ > 0) {
      std::this_thread::sleep_for(std::chrono::microseconds(random_() % static_cast<unsigned>(most_delay_us_)));
    }
    work();
    const std::lock_guard lock(mutex_);
    is_working_ = false;
    changed_.notify_all();
  }
}

}  // namespace bertft::test
