// A file that is read piece by piece at given offsets, with every piece checked against the file's size.
// Weights are read, not mapped: a mapped file that another program cuts or replaces kills the process with a bus error
// or changes weights that were already checked; reading costs one copy (0.5 s for the 438 MB of a BERT base, measured).
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

namespace bertft {

// Memory that a part of a file was read into.
struct FileBytes {
  std::unique_ptr<std::byte[]> data;
  size_t size = 0;

  std::string_view text() const { return {reinterpret_cast<const char*>(data.get()), size}; }
};

class InputFile {
 public:
  // DataError when `path` cannot be read or is no regular file.
  static InputFile open(const std::string& path);
  // The same over `bytes`, which must outlive it; `path` is for messages.
  static InputFile in_memory(std::string_view bytes, std::string path);

  ~InputFile();
  InputFile(InputFile&& other) noexcept;
  InputFile& operator=(InputFile&&) = delete;
  InputFile(const InputFile&) = delete;
  InputFile& operator=(const InputFile&) = delete;

  const std::string& path() const { return path_; }
  // As it was when the file was opened.
  uint64_t size() const { return size_; }

  // REQUIRES offset + bytes <= size(). DataError when the file cannot be read or has become shorter meanwhile.
  void read(uint64_t offset, void* out, size_t bytes) const;
  FileBytes read(uint64_t offset, size_t bytes) const;
  // The first `bytes` bytes, or all when there are fewer.
  FileBytes beginning(size_t bytes) const;

 private:
  InputFile(std::string path, int descriptor, std::string_view memory, uint64_t size);

  std::string path_;
  int descriptor_ = -1;  // -1: in memory
  std::string_view memory_;
  uint64_t size_ = 0;
};

}  // namespace bertft
