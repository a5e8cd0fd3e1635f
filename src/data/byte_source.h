// Where the bytes of a data file come from: a regular file, standard input, or memory. Everything is read, never
// mapped, so that a file that is cut or replaced on shared storage while we read is an error message, not a bus error.
#pragma once

#include <sys/stat.h>
#include <sys/types.h>

#include <cstddef>
#include <memory>
#include <string>

#include "core/hash.h"

namespace bertft {

class ByteSource {
 public:
  virtual ~ByteSource() = default;
  // Reads at most `bytes` (> 0) to `to`; returns how many, 0 at the end. Fewer than asked for do not mean the end.
  // Throws DataError naming the file.
  virtual size_t read(char* to, size_t bytes) = 0;
};

// The calls to the system that a file source makes; tests put failures in their way.
class FileCalls {
 public:
  virtual ~FileCalls() = default;
  // As open(2) for reading, fstat(2), pread(2): -1 and errno on failure.
  virtual int open(const char* path);
  virtual int status(int descriptor, struct stat* status);
  virtual ssize_t read_at(int descriptor, char* to, size_t bytes, off_t offset);
  virtual void pause(int milliseconds);
};

// The content that a regular file has when it is opened; what is appended later is not read. ESTALE and EIO, which
// network file systems return for a while, are tried again four times with growing pauses (1.5 s in all), on a new
// descriptor. Throws DataError when the file cannot be opened or read, is no regular file, becomes shorter, or is
// another file when it has to be opened again. `calls` must outlive the source.
std::unique_ptr<ByteSource> file_source(const std::string& path);
std::unique_ptr<ByteSource> file_source(const std::string& path, FileCalls& calls);

// What is written to a pipe or a device, to its end. Waits until a writer opens it. Throws DataError.
std::unique_ptr<ByteSource> pipe_source(const std::string& path);

// Standard input, to its end. Waits for a writer that is slower than we are.
std::unique_ptr<ByteSource> stdin_source();

std::unique_ptr<ByteSource> memory_source(std::string content);

// Passes `source` on and adds what is read to `hash`, which must outlive it.
std::unique_ptr<ByteSource> hashed_source(std::unique_ptr<ByteSource> source, StreamHash& hash);

// All that is left in a source.
std::string read_all(ByteSource& source);

}  // namespace bertft
