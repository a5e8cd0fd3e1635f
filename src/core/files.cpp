#include "core/files.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <utility>

#include "core/error.h"
#include "core/work_meter.h"

namespace bertft {
namespace {

// An open descriptor that is closed on scope exit.
class Descriptor {
 public:
  explicit Descriptor(int value) : value_(value) {}
  ~Descriptor() {
    if (value_ >= 0) ::close(value_);
  }
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  int get() const { return value_; }

 private:
  int value_;
};

[[noreturn]] void throw_unreadable(const std::string& path, const std::string& cause) {
  throw DataError(fmt::format("cannot read {}: {}. Check the path and its permissions", path, cause));
}

// Opens `path` for reading and returns the size of the regular file behind it.
int open_regular(const std::string& path, size_t& size) {
  const int descriptor = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (descriptor < 0) throw_unreadable(path, std::strerror(errno));
  struct stat status {};
  if (::fstat(descriptor, &status) != 0) {
    const int cause = errno;
    ::close(descriptor);
    throw_unreadable(path, std::strerror(cause));
  }
  if (!S_ISREG(status.st_mode)) {
    ::close(descriptor);
    throw_unreadable(path, S_ISDIR(status.st_mode) ? "it is a folder, a file is needed" : "it is not a regular file");
  }
  size = static_cast<size_t>(status.st_size);
  return descriptor;
}

}  // namespace

std::string read_file(const std::string& path) {
  size_t size = 0;
  const Descriptor descriptor(open_regular(path, size));
  std::string content(size, '\0');
  size_t done = 0;
  while (done < size) {
    const ssize_t got = ::read(descriptor.get(), content.data() + done, std::min(size - done, kReadPart));
    note_work_done();
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) throw_unreadable(path, std::strerror(errno));
    if (got == 0) throw_unreadable(path, "it became shorter while it was read");
    done += static_cast<size_t>(got);
  }
  return content;
}

namespace {

constexpr size_t kWritePart = size_t{64} << 20;

// The disk gets each part of a long file as soon as it is whole, so that a slow mount is seen to get on.
bool sync_part(int descriptor, ssize_t just_written) {
  const off_t end = ::lseek(descriptor, 0, SEEK_CUR);
  const auto part = static_cast<off_t>(kWritePart);
  return end / part == (end - just_written) / part || ::fdatasync(descriptor) == 0;
}

}  // namespace

AtomicFile::AtomicFile(const std::string& path) : path_(path), temporary_path_(path + ".tmp") {
  descriptor_ = ::open(temporary_path_.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
  if (descriptor_ < 0) fail("create");
}

AtomicFile::~AtomicFile() {
  if (descriptor_ < 0) return;
  ::close(descriptor_);
  ::unlink(temporary_path_.c_str());
}

void AtomicFile::fail(const char* what) {
  throw ResourceError(fmt::format("cannot {} {}: {}. Check free space and permissions of its folder", what,
                                  temporary_path_, std::strerror(errno)));
}

void AtomicFile::write(const void* data, size_t bytes) {
  const char* cursor = static_cast<const char*>(data);
  while (bytes > 0) {
    const ssize_t done = ::write(descriptor_, cursor, std::min(bytes, kWritePart));
    if (done < 0 && errno == EINTR) continue;
    if (done < 0) fail("write");
    cursor += done;
    bytes -= static_cast<size_t>(done);
    if (!sync_part(descriptor_, done)) fail("sync");
    note_work_done();
  }
}

void AtomicFile::commit() {
  if (::fsync(descriptor_) != 0) fail("sync");
  const int descriptor = std::exchange(descriptor_, -1);
  if (::close(descriptor) != 0) fail("close");
  if (::rename(temporary_path_.c_str(), path_.c_str()) != 0) {
    const int cause = errno;
    ::unlink(temporary_path_.c_str());
    errno = cause;
    fail("rename");
  }
  sync_folder(std::filesystem::path(path_).parent_path().string());
}

void write_file_atomically(const std::string& path, std::string_view content) {
  AtomicFile file(path);
  file.write(content);
  file.commit();
}

void sync_folder(const std::string& folder) {
  const Descriptor descriptor(::open(folder.empty() ? "." : folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (descriptor.get() < 0 || ::fsync(descriptor.get()) != 0) {
    throw ResourceError(fmt::format("cannot sync folder {}: {}", folder, std::strerror(errno)));
  }
}

void sync_file(const std::string& path) {
  const Descriptor descriptor(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (descriptor.get() < 0 || ::fsync(descriptor.get()) != 0) {
    throw ResourceError(fmt::format("cannot sync {}: {}. Check free space", path, std::strerror(errno)));
  }
}

void cut_file(const std::string& path, int64_t bytes) {
  std::error_code error;
  const auto size = std::filesystem::file_size(path, error);
  if (error || size <= static_cast<uintmax_t>(bytes)) return;
  std::filesystem::resize_file(path, static_cast<uintmax_t>(bytes), error);
  if (error) throw ResourceError(fmt::format("cannot cut {} to {} bytes: {}", path, bytes, error.message()));
}

void make_folders(const std::string& folder) {
  std::error_code error;
  std::filesystem::create_directories(folder, error);
  if (error) {
    throw ResourceError(
        fmt::format("cannot create folder {}: {}. Check free space and permissions", folder, error.message()));
  }
}

void swap_link(const std::string& target, const std::string& link) {
  const std::string temporary = link + ".tmp";
  std::error_code error;
  std::filesystem::remove(temporary, error);
  std::filesystem::create_directory_symlink(target, temporary, error);
  if (!error) std::filesystem::rename(temporary, link, error);
  if (!error) return;
  const std::string cause = error.message();
  std::filesystem::remove(temporary, error);
  throw ResourceError(fmt::format("cannot link {} to {}: {}", link, target, cause));
}

std::string explain_impostor(std::string_view first_bytes, const std::string& path) {
  constexpr std::string_view kPointer = "version https://git-lfs.github.com/spec/";
  if (first_bytes.substr(0, kPointer.size()) == kPointer) {
    std::string size = "unknown";
    const size_t at = first_bytes.find("\nsize ");
    if (at != std::string_view::npos) {
      const std::string_view rest = first_bytes.substr(at + 6);
      size = std::string(rest.substr(0, rest.find_first_not_of("0123456789")));
    }
    return fmt::format(
        "{} is a Git LFS pointer, not the file itself (the real one has {} bytes). Run `git lfs pull` in that "
        "repository, or download the file itself",
        path, size);
  }
  const size_t start = first_bytes.find_first_not_of(" \t\r\n");
  if (start != std::string_view::npos && first_bytes[start] == '<') {
    const std::string_view rest = first_bytes.substr(start, 14);
    if (rest.substr(0, 9) == "<!DOCTYPE" || rest.substr(0, 9) == "<!doctype" || rest.substr(0, 5) == "<html" ||
        rest.substr(0, 5) == "<HTML" || rest.substr(0, 5) == "<?xml") {
      return fmt::format(
          "{} is a web page, not the file itself: a download was answered by an error or login page. "
          "Download the file again",
          path);
    }
  }
  return "";
}

}  // namespace bertft
