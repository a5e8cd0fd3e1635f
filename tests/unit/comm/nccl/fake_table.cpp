// The CUDA half of the fake; fake_table_nccl.cpp has the other.
#include "tests/unit/comm/nccl/fake_table.h"

#include <cmath>
#include <cstdlib>
#include <cstring>

#include "comm/nccl/wire_grid.h"
#include "comm/wire/non_finite.h"
#include "comm/wire/wire_kernels.h"
#include "core/error.h"
#include "tests/unit/comm/nccl/fake_call.h"

namespace bertft::test {
namespace {

// What the kernels of a device leave in the marks, from the CPU's own scan.
void mark_contribution(const float* x, int64_t n, int64_t first, const nccl::UnitMarks& marks) {
  const std::optional<NonFiniteScan> found = scan_non_finite(x, n);
  for (int64_t i = 0; i < n; ++i) {
    if (!std::isfinite(x[i])) continue;
    nccl::raise_to(&marks.cell->greatest, nccl::ordered_key(x[i]));
    nccl::raise_to(&marks.cell->inverted_least, ~nccl::ordered_key(x[i]));
  }
  if (!found) return;
  nccl::raise_to(&marks.cell->inverted_first, ~static_cast<uint64_t>(first + found->first));
  marks.cell->nan_count += static_cast<uint64_t>(found->nan_count);
  marks.cell->inf_count += static_cast<uint64_t>(found->inf_count);
  *marks.is_sent = 1;
}

}  // namespace

FakeTable::FakeTable(FakeCluster& cluster, int rank)
    : cluster_(cluster), rank_(rank), trouble_(cluster.trouble(rank)), random_(static_cast<uint32_t>(rank) + 1) {
  streams_[nullptr] = std::make_shared<FakeStream>(random_(), trouble_.most_delay_us);
}

FakeTable::~FakeTable() {
  for (auto& [comm, one] : communicators_) one.meeting->leave(one.rank);
  streams_.clear();
  for (const auto& [memory, bytes] : device_memory_) std::free(memory);
  for (const auto& [memory, bytes] : pinned_memory_) std::free(memory);
}

FakeCounts FakeTable::counts() const {
  const std::lock_guard lock(mutex_);
  FakeCounts counts = counts_;
  counts.live_memory = static_cast<int64_t>(device_memory_.size() + pinned_memory_.size());
  counts.live_communicators = static_cast<int64_t>(communicators_.size());
  for (const auto& [comm, one] : communicators_) {
    counts.live_registrations += static_cast<int64_t>(one.registrations.size());
  }
  counts.live_streams = static_cast<int64_t>(streams_.size()) - 1;
  counts.live_events = static_cast<int64_t>(events_.size());
  counts.nccl_threads = nccl_threads_.size();
  return counts;
}

void FakeTable::compute(std::function<void()> work) { stream_at(nullptr).put(std::move(work)); }

void FakeTable::violate(const std::string& text) { cluster_.violate("rank " + std::to_string(rank_) + ": " + text); }

int FakeTable::device_count() { return trouble_.devices; }

std::string FakeTable::device_identity(int device) {
  if (!trouble_.device.empty()) return trouble_.device;
  return "GPU-" + std::to_string(rank_) + "-" + std::to_string(device);
}

void FakeTable::set_device(int device) {
  if (device < 0 || device >= trouble_.devices) throw CommError("CUDA: invalid device ordinal");
}

FakeStream& FakeTable::stream_at(nccl::Stream stream) { return *shared_stream(stream); }

std::shared_ptr<FakeStream> FakeTable::shared_stream(nccl::Stream stream) {
  const std::lock_guard lock(mutex_);
  const auto found = streams_.find(stream);
  if (found == streams_.end()) throw CommError("CUDA: invalid stream");
  return found->second;
}

std::shared_ptr<FakeEvent> FakeTable::event_at(nccl::Event event) {
  const std::lock_guard lock(mutex_);
  const auto found = events_.find(event);
  if (found == events_.end()) throw CommError("CUDA: invalid event");
  return found->second;
}

nccl::Stream FakeTable::create_stream() {
  const FakeCall call(is_in_call_, [this](const std::string& text) { violate(text); });
  const std::lock_guard lock(mutex_);
  ++counts_.synchronising;
  const auto handle = reinterpret_cast<nccl::Stream>(++handles_);
  streams_[handle] = std::make_shared<FakeStream>(random_(), trouble_.most_delay_us);
  return handle;
}

// A stream that is destroyed still does what is on it.
void FakeTable::destroy_stream(nccl::Stream stream) {
  const FakeCall call(is_in_call_, [this](const std::string& text) { violate(text); });
  std::shared_ptr<FakeStream> ending = shared_stream(stream);
  const std::lock_guard lock(mutex_);
  ++counts_.synchronising;
  streams_.erase(stream);
}

nccl::Event FakeTable::create_event() {
  const FakeCall call(is_in_call_, [this](const std::string& text) { violate(text); });
  const std::lock_guard lock(mutex_);
  const auto handle = reinterpret_cast<nccl::Event>(++handles_);
  events_[handle] = std::make_shared<FakeEvent>();
  return handle;
}

void FakeTable::destroy_event(nccl::Event event) {
  const FakeCall call(is_in_call_, [this](const std::string& text) { violate(text); });
  const std::lock_guard lock(mutex_);
  events_.erase(event);
}

void FakeTable::record(nccl::Event event, nccl::Stream stream) {
  const FakeCall call(is_in_call_, [this](const std::string& text) { violate(text); });
  std::shared_ptr<FakeEvent> fake = event_at(event);
  const int64_t number = fake->record();
  stream_at(stream).put([fake, number] { fake->complete(number); });
}

void FakeTable::wait(nccl::Stream stream, nccl::Event event) {
  const FakeCall call(is_in_call_, [this](const std::string& text) { violate(text); });
  std::shared_ptr<FakeEvent> fake = event_at(event);
  const int64_t number = fake->recorded();
  stream_at(stream).put([fake, number] { fake->wait_for(number); });
}

bool FakeTable::is_complete(nccl::Event event) {
  const FakeCall call(is_in_call_, [this](const std::string& text) { violate(text); });
  return event_at(event)->is_complete();
}

void* FakeTable::allocate_device(size_t bytes) {
  const std::lock_guard lock(mutex_);
  ++counts_.synchronising;
  auto* memory = static_cast<std::byte*>(std::aligned_alloc(64, (bytes + 63) / 64 * 64));
  std::memset(memory, 0x7f, bytes);  // device memory is not zero
  device_memory_[memory] = bytes;
  return memory;
}

// As cudaFree does, it waits for what the device is busy with.
void FakeTable::free_device(void* memory) {
  std::vector<std::shared_ptr<FakeStream>> busy;
  {
    const std::lock_guard lock(mutex_);
    for (const auto& [handle, stream] : streams_) busy.push_back(stream);
  }
  for (const auto& stream : busy) stream->wait_until_idle();
  const std::lock_guard lock(mutex_);
  ++counts_.synchronising;
  for (const auto& [comm, one] : communicators_) {
    for (const auto& [registration, registered] : one.registrations) {
      if (registered == memory) violate("frees memory that is registered");
    }
  }
  if (device_memory_.erase(static_cast<std::byte*>(memory)) == 0) violate("frees device memory that is none");
  std::free(memory);
}

void* FakeTable::allocate_pinned(size_t bytes) {
  const std::lock_guard lock(mutex_);
  ++counts_.synchronising;
  auto* memory = static_cast<std::byte*>(std::calloc(bytes, 1));
  pinned_memory_[memory] = bytes;
  return memory;
}

void FakeTable::free_pinned(void* memory) {
  const std::lock_guard lock(mutex_);
  ++counts_.synchronising;
  if (pinned_memory_.erase(static_cast<std::byte*>(memory)) == 0) violate("frees pinned memory that is none");
  std::free(memory);
}

void FakeTable::check_memory(const std::map<std::byte*, size_t>& memory, const void* data, size_t bytes,
                             const char* what) {
  const std::lock_guard lock(mutex_);
  for (const auto& [begin, size] : memory) {
    if (data >= begin && static_cast<const std::byte*>(data) + bytes <= begin + size) return;
  }
  violate(std::string(what) + " outside its memory");
}

// Copies from or to host memory that is not pinned make the host wait.
void FakeTable::copy_to_device(void* to, const void* from_pinned, size_t bytes, nccl::Stream stream) {
  const FakeCall call(is_in_call_, [this](const std::string& text) { violate(text); });
  check_memory(device_memory_, to, bytes, "a copy to the device");
  check_memory(pinned_memory_, from_pinned, bytes, "a copy from pinned memory");
  stream_at(stream).put([=] { std::memcpy(to, from_pinned, bytes); });
}

void FakeTable::copy_to_host(void* to_pinned, const void* from, size_t bytes, nccl::Stream stream) {
  const FakeCall call(is_in_call_, [this](const std::string& text) { violate(text); });
  check_memory(device_memory_, from, bytes, "a copy from the device");
  check_memory(pinned_memory_, to_pinned, bytes, "a copy to pinned memory");
  stream_at(stream).put([=] { std::memcpy(to_pinned, from, bytes); });
}

void FakeTable::clear(void* device_memory, size_t bytes, nccl::Stream stream) {
  const FakeCall call(is_in_call_, [this](const std::string& text) { violate(text); });
  check_memory(device_memory_, device_memory, bytes, "a clear");
  stream_at(stream).put([=] { std::memset(device_memory, 0, bytes); });
}

void FakeTable::encode(const float* x, int64_t n, int64_t first, nccl::Type wire, int scale_exponent, uint16_t* out,
                       const nccl::UnitMarks& marks, nccl::Stream stream) {
  const FakeCall call(is_in_call_, [this](const std::string& text) { violate(text); });
  const auto count = static_cast<size_t>(n);
  check_memory(device_memory_, x, count * sizeof *x, "a kernel reads");
  check_memory(device_memory_, out, count * sizeof *out, "a kernel writes");
  stream_at(stream).put([=] {
    const wire::IeeeArithmetic ieee;
    mark_contribution(x, n, first, marks);
    if (wire == nccl::Type::kFp16) {
      wire::kernels().to_fp16(x, n, std::ldexp(1.0f, scale_exponent), out);
    } else {
      wire::kernels().to_bf16(x, n, out);
    }
  });
}

void FakeTable::decode(const uint16_t* x, int64_t n, nccl::Type wire, int scale_exponent, float* out,
                       const nccl::UnitMarks& marks, nccl::Stream stream) {
  const FakeCall call(is_in_call_, [this](const std::string& text) { violate(text); });
  const auto count = static_cast<size_t>(n);
  check_memory(device_memory_, x, count * sizeof *x, "a kernel reads");
  check_memory(device_memory_, out, count * sizeof *out, "a kernel writes");
  stream_at(stream).put([=] {
    const wire::IeeeArithmetic ieee;
    if (wire == nccl::Type::kFp16) {
      wire::kernels().from_fp16(x, n, std::ldexp(1.0f, -scale_exponent), out);
    } else {
      wire::kernels().from_bf16(x, n, out);
    }
    if (scan_non_finite(out, n)) *marks.is_summed = 1;
  });
}

void FakeTable::scan_contribution(const float* x, int64_t n, int64_t first, const nccl::UnitMarks& marks,
                                  nccl::Stream stream) {
  const FakeCall call(is_in_call_, [this](const std::string& text) { violate(text); });
  check_memory(device_memory_, x, static_cast<size_t>(n) * sizeof *x, "a kernel reads");
  stream_at(stream).put([=] { mark_contribution(x, n, first, marks); });
}

void FakeTable::scan_sum(const float* x, int64_t n, const nccl::UnitMarks& marks, nccl::Stream stream) {
  const FakeCall call(is_in_call_, [this](const std::string& text) { violate(text); });
  check_memory(device_memory_, x, static_cast<size_t>(n) * sizeof *x, "a kernel reads");
  stream_at(stream).put([=] {
    if (scan_non_finite(x, n)) *marks.is_summed = 1;
  });
}

}  // namespace bertft::test
