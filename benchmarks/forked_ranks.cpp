#include "forked_ranks.h"

#include <fmt/format.h>
#include <pthread.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <cstring>
#include <exception>
#include <string>
#include <vector>

#include "core/error.h"

namespace bertft::bench {
namespace {

// What the ranks share before a transport stands.
struct Shared {
  static constexpr size_t kText = 4096;
  pthread_barrier_t barrier;
  size_t sizes[kMostForkedRanks];
  char texts[kMostForkedRanks][kText];
};

class ForkedBootstrap final : public Bootstrap {
 public:
  ForkedBootstrap(Shared& shared, int rank, int size) : shared_(shared), rank_(rank), size_(size) {}
  int rank() const override { return rank_; }
  int size() const override { return size_; }
  std::vector<std::string> all_gather(const std::string& mine) override {
    check(mine.size() <= Shared::kText, "a text of the bootstrap is too long");
    std::memcpy(shared_.texts[rank_], mine.data(), mine.size());
    shared_.sizes[rank_] = mine.size();
    barrier();
    std::vector<std::string> all;
    for (int rank = 0; rank < size_; ++rank) {
      all.emplace_back(shared_.texts[rank], shared_.sizes[rank]);
    }
    barrier();
    return all;
  }
  void barrier() override { pthread_barrier_wait(&shared_.barrier); }

 private:
  Shared& shared_;
  const int rank_, size_;
};

int run_rank(Shared& shared, int rank, int ranks, const std::function<void(Bootstrap&)>& body) {
  try {
    ForkedBootstrap bootstrap(shared, rank, ranks);
    body(bootstrap);
    std::fflush(stdout);
    return 0;
  } catch (const std::exception& error) {
    fmt::print(stderr, "rank {}: {}\n", rank, error.what());
    return 1;
  }
}

}  // namespace

int run_forked(int ranks, const std::function<void(Bootstrap&)>& body) {
  check(ranks > 0 && ranks <= kMostForkedRanks, "so many ranks");
  auto* shared =
      static_cast<Shared*>(::mmap(nullptr, sizeof(Shared), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0));
  check(shared != MAP_FAILED, "memory for the ranks' texts");
  pthread_barrierattr_t attributes;
  pthread_barrierattr_init(&attributes);
  pthread_barrierattr_setpshared(&attributes, PTHREAD_PROCESS_SHARED);
  pthread_barrier_init(&shared->barrier, &attributes, static_cast<unsigned>(ranks));
  for (int rank = 0; rank < ranks; ++rank) {
    if (::fork() == 0) ::_exit(run_rank(*shared, rank, ranks, body));
  }
  int failures = 0;
  for (int rank = 0; rank < ranks; ++rank) {
    int status = 0;
    ::wait(&status);
    failures += status == 0 ? 0 : 1;
  }
  return failures;
}

}  // namespace bertft::bench
