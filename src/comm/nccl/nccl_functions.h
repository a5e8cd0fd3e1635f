// What the nccl transport uses of NCCL and of the CUDA runtime, as a table of functions: nccl_real fills it from the
// libraries, the tests with a fake that runs on the CPU. No header of CUDA or NCCL is seen here.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>

namespace bertft::nccl {

// Opaque: only who fills the table looks inside.
using Stream = struct StreamTag*;
using Event = struct EventTag*;
using Comm = struct CommTag*;
using Registration = struct RegistrationTag*;  // null: the library did without

struct UniqueId {
  std::array<char, 128> bytes = {};
};

enum class Type { kUint8, kFp32, kFp16, kBf16 };
enum class Op { kSum, kMax };

constexpr size_t bytes_of(Type type) { return type == Type::kUint8 ? 1 : type == Type::kFp32 ? 4 : 2; }

// Of a call of NCCL. Communicators are nonblocking: a call may return before it has taken effect; until
// async_error() says that it has, no other call may be made on that communicator.
enum class State { kDone, kInProgress, kFailed };
struct Result {
  State state = State::kDone;
  std::string error = {};  // NCCL's text; of kFailed
};

// What scans of one unit found, in device memory; all zero: nothing. Every field only grows, so that threads of a
// kernel can merge what they saw in any order.
struct ScanCell {
  uint64_t inverted_first = 0;  // ~index in the flat buffer of the first value that is not finite
  uint64_t nan_count = 0;
  uint64_t inf_count = 0;
  uint32_t inverted_least = 0;  // ~ordered_key() of the least finite value
  uint32_t greatest = 0;        // ordered_key() of the greatest
};

// Where a kernel leaves what it saw of a unit.
struct UnitMarks {
  ScanCell* cell = nullptr;      // of the contribution
  uint8_t* is_sent = nullptr;    // set to 1 when the contribution holds a value that is not finite
  uint8_t* is_summed = nullptr;  // set to 1 when the sum does
};

// One table per rank. All calls come from one thread, but for those that say otherwise, and none of them waits for the
// device: what synchronises host and device (allocations and their ends, registration, life of communicators) is used
// before the first and after the last step only.
class Functions {
 public:
  virtual ~Functions() = default;

  // The CUDA runtime. Throws CommError with its text when a call fails, ResourceError when memory is short.
  virtual int device_count() = 0;  // any thread
  // The same for two numbers exactly when they are one device: its UUID. Any thread.
  virtual std::string device_identity(int device) = 0;
  // For the calling thread; its first call.
  virtual void set_device(int device) = 0;
  virtual Stream create_stream() = 0;  // does not wait for the default stream, nor that for it
  virtual void destroy_stream(Stream stream) = 0;
  virtual Event create_event() = 0;  // without timing
  virtual void destroy_event(Event event) = 0;
  virtual void record(Event event, Stream stream) = 0;
  virtual void wait(Stream stream, Event event) = 0;  // an event that was never recorded has happened
  virtual bool is_complete(Event event) = 0;
  virtual void* allocate_device(size_t bytes) = 0;  // of a kind that NCCL can register
  virtual void free_device(void* memory) = 0;
  virtual void* allocate_pinned(size_t bytes) = 0;  // host memory that copies need not wait for
  virtual void free_pinned(void* memory) = 0;
  virtual void copy_to_device(void* to, const void* from_pinned, size_t bytes, Stream stream) = 0;
  virtual void copy_to_host(void* to_pinned, const void* from, size_t bytes, Stream stream) = 0;
  virtual void clear(void* device_memory, size_t bytes, Stream stream) = 0;  // to zero

  // Kernels. `first` is the index of x[0] in the flat buffer.
  // out[i] = wire(x[i] * 2^scale_exponent) rounded to nearest even, and a scan of x. wire: kFp16 or kBf16 (no scale).
  virtual void encode(const float* x, int64_t n, int64_t first, Type wire, int scale_exponent, uint16_t* out,
                      const UnitMarks& marks, Stream stream) = 0;
  // out[i] = x[i] * 2^-scale_exponent, and whether all are finite.
  virtual void decode(const uint16_t* x, int64_t n, Type wire, int scale_exponent, float* out, const UnitMarks& marks,
                      Stream stream) = 0;
  // The same without a cast, for what travels as fp32.
  virtual void scan_contribution(const float* x, int64_t n, int64_t first, const UnitMarks& marks, Stream stream) = 0;
  virtual void scan_sum(const float* x, int64_t n, const UnitMarks& marks, Stream stream) = 0;

  // NCCL.
  virtual std::string version() = 0;  // "2.28.9"; any thread
  virtual Result unique_id(UniqueId& id) = 0;
  // Nonblocking. `comm` is valid at once, for async_error() and abort().
  virtual Result init_rank(Comm& comm, int size, const UniqueId& id, int rank) = 0;
  virtual Result user_rank(Comm comm, int& rank) = 0;
  virtual Result count(Comm comm, int& size) = 0;
  // State of the communicator: kInProgress while the last call has not taken effect.
  virtual Result async_error(Comm comm) = 0;
  virtual Result register_buffer(Comm comm, void* memory, size_t bytes, Registration& registration) = 0;
  virtual Result deregister_buffer(Comm comm, Registration registration) = 0;
  virtual Result group_start() = 0;
  virtual Result group_end() = 0;
  // Between group_start() and group_end(); `n` elements.
  virtual Result all_reduce(void* in_place, int64_t n, Type type, Op op, Comm comm, Stream stream) = 0;
  // Sums `out_n` elements for each rank; out = data + rank * out_n.
  virtual Result reduce_scatter(void* data, int64_t out_n, Type type, Comm comm, Stream stream) = 0;
  // `in_n` elements of each rank, its own at data + rank * in_n.
  virtual Result all_gather(void* data, int64_t in_n, Type type, Comm comm, Stream stream) = 0;
  virtual Result broadcast(void* data, int64_t n, Type type, int root, Comm comm, Stream stream) = 0;
  // Flushes what is on its way (nonblocking: until async_error() says done), then destroy() frees it.
  virtual Result finalize(Comm comm) = 0;
  virtual Result destroy(Comm comm) = 0;
  // Ends whatever the communicator does and frees it.
  virtual Result abort(Comm comm) = 0;
};

}  // namespace bertft::nccl
