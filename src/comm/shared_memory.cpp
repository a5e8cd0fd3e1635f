#include "comm/shared_memory.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <map>
#include <mutex>

#include "core/error.h"

namespace bertft {

struct SharedMemory::Mapping {
  void* data = nullptr;
  size_t bytes = 0;
  int descriptor = -1;

  Mapping() = default;
  Mapping(const Mapping&) = delete;
  Mapping& operator=(const Mapping&) = delete;
  ~Mapping() {
    if (data != nullptr) ::munmap(data, bytes);
    if (descriptor >= 0) ::close(descriptor);
  }
};

namespace {

constexpr int kSizeSeals = F_SEAL_SHRINK | F_SEAL_GROW;

struct Inode {
  dev_t device;
  ino_t number;
  auto operator<=>(const Inode&) const = default;
};

std::mutex& registry_mutex() {
  static std::mutex mutex;
  return mutex;
}

}  // namespace

SharedMemory SharedMemory::map(int own_descriptor, size_t bytes) {
  auto mapping = std::make_shared<Mapping>();
  mapping->descriptor = own_descriptor;
  struct stat status = {};
  if (::fstat(own_descriptor, &status) != 0) throw CommError("a shared segment cannot be examined");
  static std::map<Inode, std::weak_ptr<Mapping>> registry;
  const std::lock_guard lock(registry_mutex());
  std::erase_if(registry, [](const auto& entry) { return entry.second.expired(); });
  std::weak_ptr<Mapping>& known = registry[{status.st_dev, status.st_ino}];
  if (auto here = known.lock()) return SharedMemory(here);
  void* data = ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, own_descriptor, 0);
  if (data == MAP_FAILED) {
    throw ResourceError(
        fmt::format("no memory to map {} bytes that the ranks of a node share: {}. Use a smaller model "
                    "or fewer ranks a node",
                    bytes, std::strerror(errno)));
  }
  mapping->data = data;
  mapping->bytes = bytes;
  known = mapping;
  return SharedMemory(mapping);
}

SharedMemory SharedMemory::create(size_t bytes, const std::string& name) {
  check(bytes > 0, "a shared segment without bytes");
  const int descriptor = ::memfd_create(name.c_str(), MFD_CLOEXEC | MFD_ALLOW_SEALING);
  if (descriptor < 0 || ::ftruncate(descriptor, static_cast<off_t>(bytes)) != 0 ||
      ::fcntl(descriptor, F_ADD_SEALS, kSizeSeals | F_SEAL_SEAL) != 0) {
    const std::string reason = std::strerror(errno);
    if (descriptor >= 0) ::close(descriptor);
    throw ResourceError(fmt::format("no shared segment of {} bytes ({}): {}. Use a smaller model or a larger machine",
                                    bytes, name, reason));
  }
  return map(descriptor, bytes);
}

SharedMemory SharedMemory::open(int descriptor, size_t bytes) {
  struct stat status = {};
  const int seals = ::fcntl(descriptor, F_GET_SEALS);
  if (seals < 0 || (seals & kSizeSeals) != kSizeSeals || ::fstat(descriptor, &status) != 0 ||
      static_cast<size_t>(status.st_size) != bytes) {
    throw CommError(
        fmt::format("a peer on this node shares a segment of {} bytes instead of {}, or one whose size could "
                    "change: the ranks run different models or programs",
                    status.st_size, bytes));
  }
  const int own = ::fcntl(descriptor, F_DUPFD_CLOEXEC, 0);
  if (own < 0) throw ResourceError(fmt::format("no file descriptor left: {}. Raise ulimit -n", std::strerror(errno)));
  return map(own, bytes);
}

void* SharedMemory::data() const { return mapping_->data; }
size_t SharedMemory::bytes() const { return mapping_->bytes; }
int SharedMemory::descriptor() const { return mapping_->descriptor; }

}  // namespace bertft
