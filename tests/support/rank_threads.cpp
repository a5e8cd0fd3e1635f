#include "tests/support/rank_threads.h"

#include <condition_variable>
#include <exception>
#include <mutex>
#include <thread>

#include "core/error.h"

namespace bertft::test {
namespace {

// Where the ranks put their texts; each round ends when all have read.
class Exchange {
 public:
  explicit Exchange(int ranks) : texts_(static_cast<size_t>(ranks)) {}

  std::vector<std::string> all_gather(int rank, const std::string& mine) {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return is_broken_ || !is_reading_; });
    texts_[static_cast<size_t>(rank)] = mine;
    if (++arrived_ == texts_.size()) {
      is_reading_ = true;
      changed_.notify_all();
    }
    changed_.wait(lock, [&] { return is_broken_ || is_reading_; });
    if (!is_reading_) throw CommError("bootstrap: a rank has ended");
    const std::vector<std::string> all = texts_;
    if (--arrived_ == 0) {
      is_reading_ = false;
      changed_.notify_all();
    }
    return all;
  }

  void break_up() {
    const std::lock_guard lock(mutex_);
    is_broken_ = true;
    changed_.notify_all();
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  std::vector<std::string> texts_;
  size_t arrived_ = 0;
  bool is_reading_ = false;
  bool is_broken_ = false;
};

class ThreadBootstrap final : public Bootstrap {
 public:
  ThreadBootstrap(Exchange& exchange, int rank, int size) : exchange_(exchange), rank_(rank), size_(size) {}

  int rank() const override { return rank_; }
  int size() const override { return size_; }
  std::vector<std::string> all_gather(const std::string& mine) override { return exchange_.all_gather(rank_, mine); }
  void barrier() override { exchange_.all_gather(rank_, ""); }

 private:
  Exchange& exchange_;
  const int rank_, size_;
};

}  // namespace

std::vector<std::string> run_ranks(int ranks, const std::function<void(Bootstrap&)>& body) {
  Exchange exchange(ranks);
  std::vector<std::string> errors(static_cast<size_t>(ranks));
  std::vector<std::thread> threads;
  for (int rank = 0; rank < ranks; ++rank) {
    threads.emplace_back([&, rank] {
      ThreadBootstrap bootstrap(exchange, rank, ranks);
      try {
        body(bootstrap);
      } catch (const std::exception& error) {
        errors[static_cast<size_t>(rank)] = error.what();
        exchange.break_up();
      }
    });
  }
  for (std::thread& thread : threads) {
    thread.join();
  }
  return errors;
}

}  // namespace bertft::test
