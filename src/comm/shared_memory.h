// Memory that the ranks of one node share: anonymous (memfd), so nothing is left behind after a crash, of a fixed size,
// and handed from process to process as a file descriptor.
#pragma once

#include <cstddef>
#include <memory>
#include <string>

namespace bertft {

// A mapped segment; copies share it. Within one process a segment has one address, however often it is opened.
class SharedMemory {
 public:
  SharedMemory() = default;  // none

  // A new zero-filled segment, whose size nobody can change. `name` shows up in /proc/PID/maps.
  // Throws ResourceError when there is no memory.
  static SharedMemory create(size_t bytes, const std::string& name);
  // Maps what a peer created; `descriptor` stays the caller's. Throws CommError when it is not a segment of `bytes`
  // whose size is sealed, as reading behind its end would kill this process.
  static SharedMemory open(int descriptor, size_t bytes);

  explicit operator bool() const { return mapping_ != nullptr; }
  void* data() const;
  size_t bytes() const;
  int descriptor() const;

 private:
  struct Mapping;
  explicit SharedMemory(std::shared_ptr<Mapping> mapping) : mapping_(std::move(mapping)) {}
  static SharedMemory map(int own_descriptor, size_t bytes);

  std::shared_ptr<Mapping> mapping_;
};

}  // namespace bertft
