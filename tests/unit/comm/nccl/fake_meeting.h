// What the ranks of one fake communicator share: an operation begins when all of them have come to it, as on a device.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <map>
#include <mutex>
#include <string>
#include <vector>

#include "comm/nccl/nccl_functions.h"

namespace bertft::test {

struct FakeOperation {
  enum class Kind { kAllReduce, kReduceScatter, kAllGather, kBroadcast };
  Kind kind = Kind::kAllReduce;
  int64_t n = 0;  // as NCCL counts
  nccl::Type type = nccl::Type::kFp32;
  nccl::Op op = nccl::Op::kSum;
  int root = 0;

  std::string text() const;
  // Of the memory that a rank of `size` hands in.
  size_t bytes(int size) const;
  bool operator==(const FakeOperation&) const = default;
};

class FakeMeeting {
 public:
  FakeMeeting(int number, int size);

  int number() const { return number_; }
  int size() const { return static_cast<int>(members_.size()); }
  // `global`: the rank in the whole job.
  void join(int rank, int global);
  bool is_complete() const;
  std::vector<int> members() const;  // global ranks; complete meetings only

  // Blocks until all ranks have come to operation `index` and it is done, or `rank` leaves. False: the ranks came with
  // different operations, or it left.
  bool take_part(int rank, int64_t index, const FakeOperation& operation, void* data);
  // Ends what `rank` takes part in, now and later.
  void leave(int rank);

 private:
  struct Gathering {
    FakeOperation operation;
    std::vector<void*> data;
    int arrived = 0;
    bool is_done = false;
    bool is_broken = false;
  };

  const int number_;
  mutable std::mutex mutex_;
  std::condition_variable changed_;
  std::vector<int> members_;  // -1: has not joined
  std::vector<char> has_left_;
  std::map<int64_t, Gathering> gatherings_;
};

}  // namespace bertft::test
