// The real libraries behind the table. The casts between our handles and theirs are all here.
#include "comm/nccl/real_functions.h"

#include <cuda_runtime_api.h>
#include <fmt/format.h>
#include <nccl.h>

#include <cmath>
#include <cstring>

#include "comm/nccl/wire_kernels.h"
#include "core/error.h"

namespace bertft::nccl {
namespace {

static_assert(sizeof(UniqueId) == sizeof(ncclUniqueId));

cudaStream_t real(Stream stream) { return reinterpret_cast<cudaStream_t>(stream); }
cudaEvent_t real(Event event) { return reinterpret_cast<cudaEvent_t>(event); }
ncclComm_t real(Comm comm) { return reinterpret_cast<ncclComm_t>(comm); }

ncclDataType_t real(Type type) {
  switch (type) {
    case Type::kFp32:
      return ncclFloat32;
    case Type::kFp16:
      return ncclFloat16;
    case Type::kBf16:
      return ncclBfloat16;
    case Type::kUint8:
      break;
  }
  return ncclUint8;
}

void require(cudaError_t code, const char* what) {
  if (code == cudaSuccess) return;
  const std::string text = fmt::format("CUDA: {} failed: {}", what, cudaGetErrorString(code));
  if (code == cudaErrorMemoryAllocation) throw ResourceError(text + ". Use a smaller train.micro_batch_tokens");
  throw CommError(text);
}

void require_launch() { require(cudaGetLastError(), "launching a kernel"); }

Result result_of(ncclResult_t code) {
  if (code == ncclSuccess) return {};
  if (code == ncclInProgress) return {State::kInProgress, {}};
  std::string text = ncclGetErrorString(code);
  const char* more = ncclGetLastError(nullptr);
  if (more != nullptr && *more != '\0') text += fmt::format(" ({})", more);
  return {State::kFailed, text};
}

class RealFunctions final : public Functions {
 public:
  int device_count() override {
    int count = 0;
    require(cudaGetDeviceCount(&count), "counting devices");
    return count;
  }
  std::string device_identity(int device) override {
    cudaDeviceProp properties = {};
    require(cudaGetDeviceProperties(&properties, device), "asking for a device's UUID");
    std::string text = "GPU-";
    for (const char byte : properties.uuid.bytes) text += fmt::format("{:02x}", static_cast<unsigned char>(byte));
    return text;
  }
  void set_device(int device) override { require(cudaSetDevice(device), "choosing the device"); }

  Stream create_stream() override {
    cudaStream_t stream = nullptr;
    require(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking), "making a stream");
    return reinterpret_cast<Stream>(stream);
  }
  void destroy_stream(Stream stream) override { require(cudaStreamDestroy(real(stream)), "ending a stream"); }
  Event create_event() override {
    cudaEvent_t event = nullptr;
    require(cudaEventCreateWithFlags(&event, cudaEventDisableTiming), "making an event");
    return reinterpret_cast<Event>(event);
  }
  void destroy_event(Event event) override { require(cudaEventDestroy(real(event)), "ending an event"); }
  void record(Event event, Stream stream) override {
    require(cudaEventRecord(real(event), real(stream)), "recording an event");
  }
  void wait(Stream stream, Event event) override {
    require(cudaStreamWaitEvent(real(stream), real(event), 0), "waiting for an event");
  }
  bool is_complete(Event event) override {
    const cudaError_t code = cudaEventQuery(real(event));
    if (code == cudaErrorNotReady) return false;
    require(code, "the device's work");
    return true;
  }

  void* allocate_device(size_t bytes) override {
    void* memory = nullptr;
    const ncclResult_t code = ncclMemAlloc(&memory, bytes);
    if (code != ncclSuccess) {
      throw ResourceError(
          fmt::format("no device memory for {} bytes of gradients: {}. Use a smaller model or device "
                      "batch",
                      bytes, ncclGetErrorString(code)));
    }
    return memory;
  }
  void free_device(void* memory) override {
    const Result result = result_of(ncclMemFree(memory));
    if (result.state == State::kFailed) throw CommError("NCCL: freeing device memory failed: " + result.error);
  }
  void* allocate_pinned(size_t bytes) override {
    void* memory = nullptr;
    require(cudaMallocHost(&memory, bytes), "allocating pinned memory");
    return memory;
  }
  void free_pinned(void* memory) override { require(cudaFreeHost(memory), "freeing pinned memory"); }
  void copy_to_device(void* to, const void* from_pinned, size_t bytes, Stream stream) override {
    require(cudaMemcpyAsync(to, from_pinned, bytes, cudaMemcpyHostToDevice, real(stream)), "copying to the device");
  }
  void copy_to_host(void* to_pinned, const void* from, size_t bytes, Stream stream) override {
    require(cudaMemcpyAsync(to_pinned, from, bytes, cudaMemcpyDeviceToHost, real(stream)), "copying to the host");
  }
  void clear(void* device_memory, size_t bytes, Stream stream) override {
    require(cudaMemsetAsync(device_memory, 0, bytes, real(stream)), "clearing device memory");
  }

  void encode(const float* x, int64_t n, int64_t first, Type wire, int scale_exponent, uint16_t* out,
              const UnitMarks& marks, Stream stream) override {
    launch_encode(x, n, first, wire, std::ldexp(1.0f, scale_exponent), out, marks, real(stream));
    require_launch();
  }
  void decode(const uint16_t* x, int64_t n, Type wire, int scale_exponent, float* out, const UnitMarks& marks,
              Stream stream) override {
    launch_decode(x, n, wire, std::ldexp(1.0f, -scale_exponent), out, marks, real(stream));
    require_launch();
  }
  void scan_contribution(const float* x, int64_t n, int64_t first, const UnitMarks& marks, Stream stream) override {
    launch_scan_contribution(x, n, first, marks, real(stream));
    require_launch();
  }
  void scan_sum(const float* x, int64_t n, const UnitMarks& marks, Stream stream) override {
    launch_scan_sum(x, n, marks, real(stream));
    require_launch();
  }

  std::string version() override {
    int version = 0;
    if (ncclGetVersion(&version) != ncclSuccess) return "?";
    return fmt::format("{}.{}.{}", version / 10000, version % 10000 / 100, version % 100);
  }
  Result unique_id(UniqueId& id) override {
    ncclUniqueId theirs = {};
    const Result result = result_of(ncclGetUniqueId(&theirs));
    std::memcpy(id.bytes.data(), &theirs, sizeof theirs);
    return result;
  }
  Result init_rank(Comm& comm, int size, const UniqueId& id, int rank) override {
    ncclUniqueId theirs = {};
    std::memcpy(&theirs, id.bytes.data(), sizeof theirs);
    ncclConfig_t config = NCCL_CONFIG_INITIALIZER;
    config.blocking = 0;
    ncclComm_t made = nullptr;
    const Result result = result_of(ncclCommInitRankConfig(&made, size, theirs, rank, &config));
    comm = reinterpret_cast<Comm>(made);
    return result;
  }
  Result user_rank(Comm comm, int& rank) override { return result_of(ncclCommUserRank(real(comm), &rank)); }
  Result count(Comm comm, int& size) override { return result_of(ncclCommCount(real(comm), &size)); }
  Result async_error(Comm comm) override {
    ncclResult_t state = ncclSuccess;
    const Result asked = result_of(ncclCommGetAsyncError(real(comm), &state));
    return asked.state == State::kFailed ? asked : result_of(state);
  }
  Result register_buffer(Comm comm, void* memory, size_t bytes, Registration& registration) override {
    void* handle = nullptr;
    const Result result = result_of(ncclCommRegister(real(comm), memory, bytes, &handle));
    registration = static_cast<Registration>(handle);
    return result;
  }
  Result deregister_buffer(Comm comm, Registration registration) override {
    return result_of(ncclCommDeregister(real(comm), registration));
  }
  Result group_start() override { return result_of(ncclGroupStart()); }
  Result group_end() override { return result_of(ncclGroupEnd()); }
  Result all_reduce(void* in_place, int64_t n, Type type, Op op, Comm comm, Stream stream) override {
    return result_of(ncclAllReduce(in_place, in_place, static_cast<size_t>(n), real(type),
                                   op == Op::kSum ? ncclSum : ncclMax, real(comm), real(stream)));
  }
  Result reduce_scatter(void* data, int64_t out_n, Type type, Comm comm, Stream stream) override {
    return result_of(ncclReduceScatter(data, own_part(data, out_n, type, comm), static_cast<size_t>(out_n), real(type),
                                       ncclSum, real(comm), real(stream)));
  }
  Result all_gather(void* data, int64_t in_n, Type type, Comm comm, Stream stream) override {
    return result_of(ncclAllGather(own_part(data, in_n, type, comm), data, static_cast<size_t>(in_n), real(type),
                                   real(comm), real(stream)));
  }
  Result broadcast(void* data, int64_t n, Type type, int root, Comm comm, Stream stream) override {
    return result_of(ncclBroadcast(data, data, static_cast<size_t>(n), real(type), root, real(comm), real(stream)));
  }
  Result finalize(Comm comm) override { return result_of(ncclCommFinalize(real(comm))); }
  Result destroy(Comm comm) override { return result_of(ncclCommDestroy(real(comm))); }
  Result abort(Comm comm) override { return result_of(ncclCommAbort(real(comm))); }

 private:
  static void* own_part(void* data, int64_t n, Type type, Comm comm) {
    int rank = 0;
    const Result result = result_of(ncclCommUserRank(real(comm), &rank));
    if (result.state == State::kFailed) throw CommError("NCCL: asking for the rank failed: " + result.error);
    return static_cast<std::byte*>(data) + static_cast<size_t>(rank) * static_cast<size_t>(n) * bytes_of(type);
  }
};

}  // namespace

bool has_real_functions() { return true; }

std::shared_ptr<Functions> real_functions() { return std::make_shared<RealFunctions>(); }

}  // namespace bertft::nccl
