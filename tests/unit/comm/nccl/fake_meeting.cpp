#include "tests/unit/comm/nccl/fake_meeting.h"

#include <algorithm>
#include <cstring>

#include "comm/wire/wire_kernels.h"

namespace bertft::test {
namespace {

using nccl::Type;

// Values travel and are added as NCCL does it: each partial sum is rounded to the type.
float value_at(const void* data, int64_t i, Type type) {
  float value = 0.0f;
  const auto* halves = static_cast<const uint16_t*>(data) + i;
  if (type == Type::kFp32) return static_cast<const float*>(data)[i];
  if (type == Type::kFp16) wire::kernels().from_fp16(halves, 1, 1.0f, &value);
  if (type == Type::kBf16) wire::kernels().from_bf16(halves, 1, &value);
  return value;
}

void set_value(void* data, int64_t i, Type type, float value) {
  auto* halves = static_cast<uint16_t*>(data) + i;
  if (type == Type::kFp32) static_cast<float*>(data)[i] = value;
  if (type == Type::kFp16) wire::kernels().to_fp16(&value, 1, 1.0f, halves);
  if (type == Type::kBf16) wire::kernels().to_bf16(&value, 1, halves);
}

// Combines elements [begin, begin + n) of all into those of `out`.
void combine(const std::vector<void*>& data, int64_t begin, int64_t n, const FakeOperation& operation, void* out) {
  for (int64_t i = begin; i < begin + n; ++i) {
    if (operation.type == Type::kUint8) {
      uint8_t most = 0;
      for (const void* of_rank : data) most = std::max(most, static_cast<const uint8_t*>(of_rank)[i]);
      static_cast<uint8_t*>(out)[i] = most;
      continue;
    }
    set_value(out, i, operation.type, value_at(data[0], i, operation.type));
    float sum = value_at(data[0], i, operation.type);
    for (size_t rank = 1; rank < data.size(); ++rank) {
      float value = sum + value_at(data[rank], i, operation.type);
      set_value(out, i, operation.type, value);
      sum = value_at(out, i, operation.type);
    }
  }
}

void run(const FakeOperation& operation, const std::vector<void*>& data) {
  const wire::IeeeArithmetic ieee;
  const auto width = nccl::bytes_of(operation.type);
  const auto n = static_cast<size_t>(operation.n);
  const size_t whole = operation.bytes(static_cast<int>(data.size()));
  switch (operation.kind) {
    case FakeOperation::Kind::kAllReduce:
    case FakeOperation::Kind::kReduceScatter: {
      std::vector<std::byte> result(whole);
      combine(data, 0, static_cast<int64_t>(whole / width), operation, result.data());
      for (size_t rank = 0; rank < data.size(); ++rank) {
        const bool is_all = operation.kind == FakeOperation::Kind::kAllReduce;
        const size_t at = is_all ? 0 : rank * n * width;
        std::memcpy(static_cast<std::byte*>(data[rank]) + at, result.data() + at, n * width);
      }
      return;
    }
    case FakeOperation::Kind::kAllGather:
      for (size_t to = 0; to < data.size(); ++to) {
        for (size_t from = 0; from < data.size(); ++from) {
          const size_t at = from * n * width;
          if (from == to) continue;
          std::memcpy(static_cast<std::byte*>(data[to]) + at, static_cast<std::byte*>(data[from]) + at, n * width);
        }
      }
      return;
    case FakeOperation::Kind::kBroadcast:
      for (size_t to = 0; to < data.size(); ++to) {
        if (static_cast<int>(to) == operation.root) continue;
        std::memcpy(data[to], data[static_cast<size_t>(operation.root)], whole);
      }
      return;
  }
}

}  // namespace

std::string FakeOperation::text() const {
  const char* const names[] = {"all-reduce", "reduce-scatter", "all-gather", "broadcast"};
  return std::string(names[static_cast<int>(kind)]) + " of " + std::to_string(n);
}

size_t FakeOperation::bytes(int size) const {
  const bool is_cut = kind == Kind::kReduceScatter || kind == Kind::kAllGather;
  return static_cast<size_t>(n) * nccl::bytes_of(type) * static_cast<size_t>(is_cut ? size : 1);
}

FakeMeeting::FakeMeeting(int number, int size)
    : number_(number), members_(static_cast<size_t>(size), -1), has_left_(static_cast<size_t>(size), 0) {}

void FakeMeeting::join(int rank, int global) {
  const std::lock_guard lock(mutex_);
  members_.at(static_cast<size_t>(rank)) = global;
}

bool FakeMeeting::is_complete() const {
  const std::lock_guard lock(mutex_);
  return std::find(members_.begin(), members_.end(), -1) == members_.end();
}

std::vector<int> FakeMeeting::members() const {
  const std::lock_guard lock(mutex_);
  return members_;
}

bool FakeMeeting::take_part(int rank, int64_t index, const FakeOperation& operation, void* data) {
  std::unique_lock lock(mutex_);
  const auto place = static_cast<size_t>(rank);
  Gathering& here = gatherings_[index];
  if (here.data.empty()) {
    here.data.assign(members_.size(), nullptr);
    here.operation = operation;
  }
  if (!(here.operation == operation)) here.is_broken = true;
  here.data[place] = data;
  ++here.arrived;
  if (here.arrived == size() && !here.is_broken && !has_left_[place]) {
    run(here.operation, here.data);
    here.is_done = true;
    changed_.notify_all();
  }
  // Different operations never end, as on a device, until somebody aborts.
  changed_.wait(lock, [&] { return here.is_done || has_left_[place] != 0; });
  if (here.is_done) return true;
  here.data[place] = nullptr;
  --here.arrived;
  return false;
}

void FakeMeeting::leave(int rank) {
  const std::lock_guard lock(mutex_);
  has_left_[static_cast<size_t>(rank)] = 1;
  changed_.notify_all();
}

}  // namespace bertft::test
