// Reading and publishing files. What is published appears whole under its name or not at all.
// Errors: DataError when something cannot be read, ResourceError when it cannot be written; both name path and cause.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace bertft {

// The whole content of a regular file.
std::string read_file(const std::string& path);

// A file being written under `path`.tmp; commit() syncs it, renames it to `path` and syncs the folder.
// Destroyed without commit(), it removes the temporary file.
class AtomicFile {
 public:
  explicit AtomicFile(const std::string& path);
  ~AtomicFile();
  AtomicFile(const AtomicFile&) = delete;
  AtomicFile& operator=(const AtomicFile&) = delete;

  void write(const void* data, size_t bytes);
  void write(std::string_view text) { write(text.data(), text.size()); }
  void commit();

 private:
  void fail(const char* what);
  std::string path_;
  std::string temporary_path_;
  int descriptor_ = -1;
};

void write_file_atomically(const std::string& path, std::string_view content);
void sync_folder(const std::string& folder);
// Waits until what was written to a file has reached the disk.
void sync_file(const std::string& path);
// Cuts a file to its first `bytes` bytes; one that is shorter or not there stays as it is.
void cut_file(const std::string& path, int64_t bytes);
void make_folders(const std::string& folder);

// Makes `link` a relative symbolic link to `target` (a path relative to the link's folder); replaced by one rename.
void swap_link(const std::string& target, const std::string& link);

// Says what a file is when its first bytes betray that it is no data at all: a Git LFS pointer (with the size of the
// real file) or an HTML page; "" when nothing is wrong. For the message of whoever reads `path`.
std::string explain_impostor(std::string_view first_bytes, const std::string& path);

}  // namespace bertft
