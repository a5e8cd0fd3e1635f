// One rank's table of the fake: a device of its own, and communicators that meet those of other ranks.
#pragma once

#include <atomic>
#include <chrono>
#include <map>
#include <memory>
#include <mutex>
#include <random>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "tests/unit/comm/nccl/fake_nccl.h"

namespace bertft::test {

class FakeTable final : public nccl::Functions {
 public:
  FakeTable(FakeCluster& cluster, int rank);
  ~FakeTable() override;

  FakeCounts counts() const;
  void compute(std::function<void()> work);

  int device_count() override;
  std::string device_identity(int device) override;
  void set_device(int device) override;
  nccl::Stream create_stream() override;
  void destroy_stream(nccl::Stream stream) override;
  nccl::Event create_event() override;
  void destroy_event(nccl::Event event) override;
  void record(nccl::Event event, nccl::Stream stream) override;
  void wait(nccl::Stream stream, nccl::Event event) override;
  bool is_complete(nccl::Event event) override;
  void* allocate_device(size_t bytes) override;
  void free_device(void* memory) override;
  void* allocate_pinned(size_t bytes) override;
  void free_pinned(void* memory) override;
  void copy_to_device(void* to, const void* from_pinned, size_t bytes, nccl::Stream stream) override;
  void copy_to_host(void* to_pinned, const void* from, size_t bytes, nccl::Stream stream) override;
  void clear(void* device_memory, size_t bytes, nccl::Stream stream) override;

  void encode(const float* x, int64_t n, int64_t first, nccl::Type wire, int scale_exponent, uint16_t* out,
              const nccl::UnitMarks& marks, nccl::Stream stream) override;
  void decode(const uint16_t* x, int64_t n, nccl::Type wire, int scale_exponent, float* out,
              const nccl::UnitMarks& marks, nccl::Stream stream) override;
  void scan_contribution(const float* x, int64_t n, int64_t first, const nccl::UnitMarks& marks,
                         nccl::Stream stream) override;
  void scan_sum(const float* x, int64_t n, const nccl::UnitMarks& marks, nccl::Stream stream) override;

  std::string version() override { return "0.0.0"; }
  nccl::Result unique_id(nccl::UniqueId& id) override;
  nccl::Result init_rank(nccl::Comm& comm, int size, const nccl::UniqueId& id, int rank) override;
  nccl::Result user_rank(nccl::Comm comm, int& rank) override;
  nccl::Result count(nccl::Comm comm, int& size) override;
  nccl::Result async_error(nccl::Comm comm) override;
  nccl::Result register_buffer(nccl::Comm comm, void* memory, size_t bytes, nccl::Registration& registration) override;
  nccl::Result deregister_buffer(nccl::Comm comm, nccl::Registration registration) override;
  nccl::Result group_start() override;
  nccl::Result group_end() override;
  nccl::Result all_reduce(void* in_place, int64_t n, nccl::Type type, nccl::Op op, nccl::Comm comm,
                          nccl::Stream stream) override;
  nccl::Result reduce_scatter(void* data, int64_t out_n, nccl::Type type, nccl::Comm comm,
                              nccl::Stream stream) override;
  nccl::Result all_gather(void* data, int64_t in_n, nccl::Type type, nccl::Comm comm, nccl::Stream stream) override;
  nccl::Result broadcast(void* data, int64_t n, nccl::Type type, int root, nccl::Comm comm,
                         nccl::Stream stream) override;
  nccl::Result finalize(nccl::Comm comm) override;
  nccl::Result destroy(nccl::Comm comm) override;
  nccl::Result abort(nccl::Comm comm) override;

 private:
  struct Launch {
    FakeOperation operation;
    void* data = nullptr;
    std::shared_ptr<FakeStream> stream;
    bool never_ends = false;
  };
  struct Communicator {
    std::shared_ptr<FakeMeeting> meeting;
    int rank = 0;
    int64_t launched = 0;
    std::string error;
    bool is_connected = false;
    bool is_finalized = false;
    std::chrono::steady_clock::time_point busy_until;
    std::vector<Launch> pending;  // behind a group whose launch has not taken effect
    std::map<nccl::Registration, void*> registrations;
    std::shared_ptr<std::atomic<int>> on_streams = std::make_shared<std::atomic<int>>(0);
  };

  FakeStream& stream_at(nccl::Stream stream);
  std::shared_ptr<FakeStream> shared_stream(nccl::Stream stream);
  std::shared_ptr<FakeEvent> event_at(nccl::Event event);
  Communicator& communicator_at(nccl::Comm comm, const char* what, bool may_be_busy = false);
  nccl::Result put(const FakeOperation& operation, void* data, nccl::Comm comm, nccl::Stream stream);
  bool is_busy(const Communicator& one) const;
  void make_busy(Communicator& one);
  void put_on_streams(Communicator& one);
  void check_memory(const std::map<std::byte*, size_t>& memory, const void* data, size_t bytes, const char* what);
  void violate(const std::string& text);

  FakeCluster& cluster_;
  const int rank_;
  const FakeTrouble trouble_;
  std::mt19937 random_;
  std::atomic<bool> is_in_call_{false};
  mutable std::mutex mutex_;  // of everything below
  FakeCounts counts_;
  std::set<std::thread::id> nccl_threads_;
  std::map<std::byte*, size_t> device_memory_, pinned_memory_;
  std::map<nccl::Stream, std::shared_ptr<FakeStream>> streams_;
  std::map<nccl::Event, std::shared_ptr<FakeEvent>> events_;
  std::map<nccl::Comm, Communicator> communicators_;
  std::vector<std::pair<nccl::Comm, Launch>> group_;
  bool is_in_group_ = false;
  uintptr_t handles_ = 0;
};

}  // namespace bertft::test
