#include "data/cache_writer.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstdio>
#include <cstring>
#include <filesystem>

#include "core/error.h"
#include "core/files.h"
#include "core/work_meter.h"
#include "data/cache_format.h"

namespace bertft {

CacheWriter::CacheWriter(const std::string& path) : path_(path), end_(kCacheBodyBegin) {
  const auto now = std::chrono::steady_clock::now().time_since_epoch().count();
  temporary_path_ = fmt::format("{}.tmp.{}.{:x}", path, ::getpid(), now);
  descriptor_ = ::open(temporary_path_.c_str(), O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
  if (descriptor_ < 0) fail("create");
}

CacheWriter::~CacheWriter() {
  if (descriptor_ < 0) return;
  ::close(descriptor_);
  if (!temporary_path_.empty()) ::unlink(temporary_path_.c_str());
}

void CacheWriter::fail(const char* what) {
  failure_ = fmt::format("cannot {} {}: {}", what, temporary_path_, std::strerror(errno));
}

bool CacheWriter::write_at(const void* data, uint64_t bytes, uint64_t offset) {
  const char* cursor = static_cast<const char*>(data);
  while (bytes > 0) {
    const ssize_t done = ::pwrite(descriptor_, cursor, bytes, static_cast<off_t>(offset));
    if (done < 0 && errno == EINTR) continue;
    if (done <= 0) {
      fail("write");
      return false;
    }
    cursor += done;
    offset += static_cast<uint64_t>(done);
    bytes -= static_cast<uint64_t>(done);
  }
  return true;
}

bool CacheWriter::write(const void* data, uint64_t bytes) {
  if (!write_at(data, bytes, end_)) return false;
  hash_.add(data, bytes);
  end_ += bytes;
  return true;
}

bool CacheWriter::pad() {
  constexpr char kZeros[kCacheAlignment] = {};
  return write(kZeros, (kCacheAlignment - end_ % kCacheAlignment) % kCacheAlignment);
}

bool CacheWriter::append_ids(const std::vector<int32_t>& ids) {
  check(is_good(), "ids go to a file that can be written");
  const uint64_t bytes = ids.size() * sizeof(int32_t);
  if (!write(ids.data(), bytes)) return false;
  ids_bytes_ += bytes;
  return true;
}

std::vector<int32_t> CacheWriter::take_back() const {
  std::vector<int32_t> ids(ids_bytes_ / sizeof(int32_t));
  char* cursor = reinterpret_cast<char*>(ids.data());
  for (uint64_t done = 0; done < ids_bytes_;) {
    const ssize_t got = ::pread(descriptor_, cursor + done, std::min<uint64_t>(ids_bytes_ - done, kReadPart),
                                static_cast<off_t>(kCacheBodyBegin + done));
    note_work_done();
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) {
      throw ResourceError(
          fmt::format("{}: what was written to the dataset cache cannot be read: {}. Check the disk, or "
                      "set data.cache_dir to another folder or none",
                      path_, got == 0 ? "it is shorter" : std::strerror(errno)));
    }
    done += static_cast<uint64_t>(got);
  }
  return ids;
}

bool CacheWriter::commit(const DatasetArrays& arrays, const std::string& notes) {
  CacheHeader header;
  header.feature_width = static_cast<uint64_t>(arrays.feature_width);
  header.arrays[0] = {kCacheBodyBegin, ids_bytes_};
  size_t index = 0;
  bool is_written = pad();
  for_each_array(
      [&](const char*, const auto& array) {
        if (index++ == 0 || !is_written) return;  // ids are there
        const uint64_t bytes = array.size() * sizeof(array[0]);
        header.arrays[index - 1] = {end_, bytes};
        is_written = write(array.data(), bytes) && pad();
      },
      arrays);
  header.notes = {end_, notes.size()};
  if (!is_written || !write(notes.data(), notes.size())) return false;
  header.file_bytes = end_;
  header.body_hash = hash_.value();
  header.header_hash = header_hash(header);
  if (!write_at(&header, sizeof header, 0)) return false;
  if (::fsync(descriptor_) != 0) {
    fail("sync");
    return false;
  }
  if (::rename(temporary_path_.c_str(), path_.c_str()) != 0) {
    fail("rename");
    return false;
  }
  temporary_path_.clear();
  return true;
}

}  // namespace bertft
