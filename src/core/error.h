// The one tree of errors that may leave a function of this project, and the check for broken invariants.
// Each class stands for one exit code (see ExitCode); they are caught in apps/guard.h and nowhere else.
#pragma once

#include <stdexcept>
#include <string>

namespace bertft {

// Exit codes of the executable. Scripts rely on the numbers: never renumber.
enum class ExitCode : int {
  kDone = 0,
  kInternal = 1,
  kConfig = 2,
  kData = 3,  // data or checkpoint
  kComm = 4,
  kDiverged = 5,
  kResource = 6,     // memory or disk
  kInterrupted = 7,  // stopped when asked to; the state is saved and the run can be resumed
};

// Base of all errors. The message is complete: what happened, where (file:line, key or parameter), what to do.
class Error : public std::runtime_error {
 public:
  Error(ExitCode code, const std::string& message) : std::runtime_error(message), code_(code) {}
  ExitCode code() const { return code_; }

 private:
  ExitCode code_;
};

// A wrong command line, option or combination of options.
class ConfigError : public Error {
 public:
  explicit ConfigError(const std::string& message) : Error(ExitCode::kConfig, message) {}
};

// A fault in a text, label or tokenizer file.
class DataError : public Error {
 public:
  explicit DataError(const std::string& message) : Error(ExitCode::kData, message) {}
};

// A fault in a file of weights or in a model's configuration.
class CheckpointError : public Error {
 public:
  explicit CheckpointError(const std::string& message) : Error(ExitCode::kData, message) {}
};

// A peer died, stalled or disagrees.
class CommError : public Error {
 public:
  explicit CommError(const std::string& message) : Error(ExitCode::kComm, message) {}
};

// Training cannot go on: non-finite or runaway loss, gradient or weights.
class DivergedError : public Error {
 public:
  explicit DivergedError(const std::string& message) : Error(ExitCode::kDiverged, message) {}
};

// Out of memory or disk, or an output place that cannot be written.
class ResourceError : public Error {
 public:
  explicit ResourceError(const std::string& message) : Error(ExitCode::kResource, message) {}
};

// A failure that all ranks of a job throw alike, at the same place: nobody has to be told, and they can part in order.
class SharedError : public Error {
 public:
  using Error::Error;
};

// The same on ranks other than 0, which reports it: nothing of it belongs on the console here.
class ReportedElsewhere : public SharedError {
 public:
  using SharedError::SharedError;
};

// A broken invariant of this program: a bug, never the user's fault.
class InternalError : public Error {
 public:
  explicit InternalError(const std::string& message) : Error(ExitCode::kInternal, message) {}
};

// Throws InternalError with the place of the call when `condition` does not hold. Kept in release builds.
inline void check(bool condition, const char* message, const char* file = __builtin_FILE(),
                  int line = __builtin_LINE()) {
  if (!condition) {
    throw InternalError(std::string("internal error at ") + file + ":" + std::to_string(line) + ": " + message);
  }
}

}  // namespace bertft
