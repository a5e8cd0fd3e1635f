#include "checkpoint/input_file.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <utility>

#include "core/error.h"
#include "core/work_meter.h"

namespace bertft {
namespace {

[[noreturn]] void throw_unreadable(const std::string& path, const std::string& cause) {
  throw DataError(fmt::format("cannot read {}: {}. Check the path and its permissions", path, cause));
}

}  // namespace

InputFile::InputFile(std::string path, int descriptor, std::string_view memory, uint64_t size)
    : path_(std::move(path)), descriptor_(descriptor), memory_(memory), size_(size) {}

InputFile InputFile::open(const std::string& path) {
  const int descriptor = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (descriptor < 0) throw_unreadable(path, std::strerror(errno));
  InputFile file(path, descriptor, {}, 0);
  struct stat status {};
  if (::fstat(descriptor, &status) != 0) throw_unreadable(path, std::strerror(errno));
  if (S_ISDIR(status.st_mode)) throw_unreadable(path, "it is a folder, a file is needed");
  if (!S_ISREG(status.st_mode)) throw_unreadable(path, "it is not a regular file");
  file.size_ = static_cast<uint64_t>(status.st_size);
  return file;
}

InputFile InputFile::in_memory(std::string_view bytes, std::string path) {
  return {std::move(path), -1, bytes, bytes.size()};
}

InputFile::~InputFile() {
  if (descriptor_ >= 0) ::close(descriptor_);
}

InputFile::InputFile(InputFile&& other) noexcept
    : path_(std::move(other.path_)),
      descriptor_(std::exchange(other.descriptor_, -1)),
      memory_(other.memory_),
      size_(other.size_) {}

void InputFile::read(uint64_t offset, void* out, size_t bytes) const {
  check(offset <= size_ && bytes <= size_ - offset, "a read beyond the end of a file");
  if (bytes == 0) return;
  if (descriptor_ < 0) {
    std::memcpy(out, memory_.data() + offset, bytes);
    return;
  }
  auto* cursor = static_cast<char*>(out);
  while (bytes > 0) {
    const ssize_t got = ::pread(descriptor_, cursor, std::min(bytes, kReadPart), static_cast<off_t>(offset));
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) throw_unreadable(path_, std::strerror(errno));
    if (got == 0) throw_unreadable(path_, "it became shorter while it was read");
    cursor += got;
    offset += static_cast<uint64_t>(got);
    bytes -= static_cast<size_t>(got);
    note_work_done();
  }
}

FileBytes InputFile::read(uint64_t offset, size_t bytes) const {
  check(offset <= size_ && bytes <= size_ - offset, "a read beyond the end of a file");
  FileBytes result{std::make_unique_for_overwrite<std::byte[]>(bytes), bytes};
  read(offset, result.data.get(), bytes);
  return result;
}

FileBytes InputFile::beginning(size_t bytes) const {
  return read(0, static_cast<size_t>(std::min<uint64_t>(bytes, size_)));
}

}  // namespace bertft
