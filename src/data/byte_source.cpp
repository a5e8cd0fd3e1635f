#include "data/byte_source.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <optional>
#include <thread>
#include <utility>

#include "core/error.h"
#include "core/work_meter.h"

namespace bertft {
namespace {

constexpr int kRetries = 4;
constexpr int kFirstPauseMs = 100;  // doubled each time

bool is_passing(int error) { return error == ESTALE || error == EIO; }

class FileSource final : public ByteSource {
 public:
  FileSource(std::string path, FileCalls& calls) : path_(std::move(path)), calls_(calls) {
    with_retries([&] { return reopen(); });
  }
  ~FileSource() override { close(); }
  FileSource(const FileSource&) = delete;
  FileSource& operator=(const FileSource&) = delete;

  size_t read(char* to, size_t bytes) override {
    const auto left = static_cast<size_t>(first_->st_size - offset_);
    if (left == 0) return 0;
    ssize_t got = 0;
    with_retries([&] {
      if (descriptor_ < 0 && !reopen()) return false;
      do {
        got = calls_.read_at(descriptor_, to, std::min(bytes, left), offset_);
      } while (got < 0 && errno == EINTR);
      return got >= 0;
    });
    if (got == 0) fail("it became shorter while it was read. Start again when nobody writes to it");
    offset_ += got;
    return static_cast<size_t>(got);
  }

 private:
  // False with errno: worth another try or not, as with_retries decides.
  bool reopen() {
    close();
    descriptor_ = calls_.open(path_.c_str());
    if (descriptor_ < 0) return false;
    struct stat now {};
    if (calls_.status(descriptor_, &now) != 0) return false;
    if (!S_ISREG(now.st_mode)) {
      fail(S_ISDIR(now.st_mode) ? "it is a folder, a file is needed" : "it is not a regular file");
    }
    const auto is_same = [&] {
      return now.st_ino == first_->st_ino && now.st_dev == first_->st_dev && now.st_size == first_->st_size &&
             now.st_mtim.tv_sec == first_->st_mtim.tv_sec && now.st_mtim.tv_nsec == first_->st_mtim.tv_nsec;
    };
    if (first_ && !is_same()) fail("it was replaced while it was read. Start again when nobody writes to it");
    first_ = now;
    return true;
  }

  template <typename Attempt>
  void with_retries(Attempt attempt) {
    for (int tried = 0; !attempt(); ++tried) {
      const int cause = errno;
      if (!is_passing(cause) || tried == kRetries) {
        const std::string how_often = is_passing(cause) ? fmt::format(" ({} tries)", tried + 1) : "";
        fail(fmt::format("{}{}. Check the path, its permissions and the mount", std::strerror(cause), how_often));
      }
      close();
      calls_.pause(kFirstPauseMs << tried);
    }
  }

  [[noreturn]] void fail(const std::string& cause) {
    close();
    throw DataError(fmt::format("cannot read {}: {}", path_, cause));
  }

  void close() {
    if (descriptor_ >= 0) ::close(descriptor_);
    descriptor_ = -1;
  }

  const std::string path_;
  FileCalls& calls_;
  int descriptor_ = -1;
  off_t offset_ = 0;
  std::optional<struct stat> first_;  // as the file was when it was first opened
};

// Standard input, or a pipe that is opened and closed here.
class StreamSource final : public ByteSource {
 public:
  StreamSource() = default;
  explicit StreamSource(const std::string& path)
      : name_(path), descriptor_(::open(path.c_str(), O_RDONLY | O_CLOEXEC)) {
    if (descriptor_ < 0) throw DataError(fmt::format("cannot read {}: {}", name_, std::strerror(errno)));
  }
  ~StreamSource() override {
    if (descriptor_ != STDIN_FILENO) ::close(descriptor_);
  }
  StreamSource(const StreamSource&) = delete;
  StreamSource& operator=(const StreamSource&) = delete;

  size_t read(char* to, size_t bytes) override {
    while (true) {
      const ssize_t got = ::read(descriptor_, to, bytes);
      note_work_done();
      if (got >= 0) return static_cast<size_t>(got);
      if (errno == EAGAIN || errno == EWOULDBLOCK) {
        struct pollfd ready = {descriptor_, POLLIN, 0};
        ::poll(&ready, 1, -1);
      } else if (errno != EINTR) {
        throw DataError(fmt::format("cannot read {}: {}", name_, std::strerror(errno)));
      }
    }
  }

 private:
  const std::string name_ = "standard input";
  const int descriptor_ = STDIN_FILENO;
};

class MemorySource final : public ByteSource {
 public:
  explicit MemorySource(std::string content) : content_(std::move(content)) {}
  size_t read(char* to, size_t bytes) override {
    const size_t got = content_.copy(to, bytes, offset_);
    offset_ += got;
    return got;
  }

 private:
  const std::string content_;
  size_t offset_ = 0;
};

}  // namespace

int FileCalls::open(const char* path) { return ::open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK); }
int FileCalls::status(int descriptor, struct stat* status) { return ::fstat(descriptor, status); }
ssize_t FileCalls::read_at(int descriptor, char* to, size_t bytes, off_t offset) {
  note_work_done();
  return ::pread(descriptor, to, bytes, offset);
}
void FileCalls::pause(int milliseconds) { std::this_thread::sleep_for(std::chrono::milliseconds(milliseconds)); }

std::unique_ptr<ByteSource> file_source(const std::string& path) {
  static FileCalls calls;
  return file_source(path, calls);
}
std::unique_ptr<ByteSource> file_source(const std::string& path, FileCalls& calls) {
  return std::make_unique<FileSource>(path, calls);
}
std::unique_ptr<ByteSource> stdin_source() { return std::make_unique<StreamSource>(); }
std::unique_ptr<ByteSource> pipe_source(const std::string& path) { return std::make_unique<StreamSource>(path); }
std::unique_ptr<ByteSource> memory_source(std::string content) {
  return std::make_unique<MemorySource>(std::move(content));
}

std::unique_ptr<ByteSource> hashed_source(std::unique_ptr<ByteSource> source, StreamHash& hash) {
  class HashedSource final : public ByteSource {
   public:
    HashedSource(std::unique_ptr<ByteSource> source, StreamHash& hash) : source_(std::move(source)), hash_(hash) {}
    size_t read(char* to, size_t bytes) override {
      const size_t got = source_->read(to, bytes);
      hash_.add(to, got);
      return got;
    }

   private:
    std::unique_ptr<ByteSource> source_;
    StreamHash& hash_;
  };
  return std::make_unique<HashedSource>(std::move(source), hash);
}

std::string read_all(ByteSource& source) {
  constexpr size_t kPart = 1 << 16;
  std::string content;
  while (true) {
    const size_t size = content.size();
    content.resize(size + kPart);
    const size_t got = source.read(content.data() + size, kPart);
    content.resize(size + got);
    if (got == 0) return content;
  }
}

}  // namespace bertft
