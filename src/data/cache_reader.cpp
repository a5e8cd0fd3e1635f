#include "data/cache_reader.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <memory>
#include <utility>
#include <vector>

#include "core/error.h"
#include "core/hash.h"
#include "core/work_meter.h"
#include "data/cache_format.h"

namespace bertft {
namespace {

class CachedFile {
 public:
  explicit CachedFile(const std::string& path) : descriptor_(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW)) {
    struct stat status {};
    if (descriptor_ >= 0 && ::fstat(descriptor_, &status) == 0 && S_ISREG(status.st_mode)) {
      bytes_ = static_cast<uint64_t>(status.st_size);
    }
  }
  ~CachedFile() {
    if (descriptor_ >= 0) ::close(descriptor_);
  }
  CachedFile(const CachedFile&) = delete;
  CachedFile& operator=(const CachedFile&) = delete;

  bool is_open() const { return descriptor_ >= 0; }
  uint64_t bytes() const { return bytes_; }

  bool read(void* to, uint64_t bytes, uint64_t offset) const {
    auto* cursor = static_cast<char*>(to);
    while (bytes > 0) {
      const ssize_t got =
          ::pread(descriptor_, cursor, std::min<uint64_t>(bytes, kReadPart), static_cast<off_t>(offset));
      note_work_done();
      if (got < 0 && errno == EINTR) continue;
      if (got <= 0) return false;
      cursor += got;
      offset += static_cast<uint64_t>(got);
      bytes -= static_cast<uint64_t>(got);
    }
    return true;
  }

  // Null when it cannot be mapped.
  std::shared_ptr<const char> map() const {
    void* address = ::mmap(nullptr, bytes_, PROT_READ, MAP_PRIVATE, descriptor_, 0);
    if (address == MAP_FAILED) return nullptr;
    const uint64_t bytes = bytes_;
    return {static_cast<const char*>(address), [bytes](const char* p) { ::munmap(const_cast<char*>(p), bytes); }};
  }

 private:
  int descriptor_;
  uint64_t bytes_ = 0;
};

bool lies_within(const CacheSection& section, uint64_t file_bytes) {
  return section.offset >= kCacheBodyBegin && section.offset <= file_bytes &&
         section.bytes <= file_bytes - section.offset;
}

// "" when the header is that of a file of this size.
std::string header_fault(const CacheHeader& header, uint64_t file_bytes) {
  if (header.magic != kCacheMagic) return "it is no file of the dataset cache";
  if (header.version != kCacheVersion) return fmt::format("it is of version {}", header.version);
  if (header.byte_order != kCacheByteOrder) return "it is from a machine with another byte order";
  if (header.header_hash != header_hash(header)) return "its header is damaged";
  if (header.file_bytes != file_bytes) {
    return fmt::format("it has {} bytes instead of {}", file_bytes, header.file_bytes);
  }
  bool is_within = lies_within(header.notes, file_bytes);
  for (const CacheSection& section : header.arrays) is_within = is_within && lies_within(section, file_bytes);
  return is_within ? "" : "its header is damaged";
}

bool has_body_hash(const CachedFile& file, uint64_t expected) {
  StreamHash hash;
  std::vector<char> piece(1 << 20);
  for (uint64_t at = kCacheBodyBegin; at < file.bytes();) {
    const uint64_t bytes = std::min<uint64_t>(piece.size(), file.bytes() - at);
    if (!file.read(piece.data(), bytes, at)) return false;
    hash.add(piece.data(), bytes);
    at += bytes;
  }
  return hash.value() == expected;
}

// False when a section is not made of whole elements.
bool set_views(const CacheHeader& header, const char* data, DatasetViews& views) {
  size_t index = 0;
  bool is_whole = true;
  for_each_array(
      [&]<typename T>(const char*, std::span<const T>& view) {
        const CacheSection& section = header.arrays[index++];
        is_whole = is_whole && section.bytes % sizeof(T) == 0 && section.offset % alignof(T) == 0;
        view = {reinterpret_cast<const T*>(data + section.offset), section.bytes / sizeof(T)};
      },
      views);
  views.feature_width = static_cast<int64_t>(header.feature_width);
  return is_whole;
}

}  // namespace

std::optional<Dataset> read_cached(const std::string& path, const std::string& key, std::string& why) {
  why.clear();
  const CachedFile file(path);
  if (!file.is_open()) {
    if (errno != ENOENT) why = std::strerror(errno);
    return std::nullopt;
  }
  CacheHeader header;
  if (file.bytes() < kCacheBodyBegin || !file.read(&header, sizeof header, 0)) {
    why = "it is too short";
    return std::nullopt;
  }
  if (why = header_fault(header, file.bytes()); !why.empty()) return std::nullopt;
  if (!has_body_hash(file, header.body_hash)) {
    why = "its checksum is wrong";
    return std::nullopt;
  }
  std::shared_ptr<const char> data = file.map();
  DatasetViews views;
  if (!data || !set_views(header, data.get(), views)) {
    why = data ? "its header is damaged" : "it cannot be mapped";
    return std::nullopt;
  }
  std::string stored_key;
  DataNotes notes = unpacked_notes({data.get() + header.notes.offset, header.notes.bytes}, stored_key);
  if (stored_key != key) {
    why = "it belongs to other files or options";
    return std::nullopt;
  }
  return Dataset(views, std::move(data), std::move(notes));
}

}  // namespace bertft
