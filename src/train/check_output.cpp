#include "train/check_output.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>

#include "core/error.h"
#include "core/text.h"
#include "train/run_dir.h"

namespace bertft {
namespace {

namespace fs = std::filesystem;

constexpr int64_t kModels = 3;        // best, last, and the one that is being written
constexpr int64_t kStateBuffers = 3;  // weights and two moments

// The nearest folder on the way up that is there.
fs::path existing_parent(fs::path path) {
  std::error_code error;
  while (!path.empty() && path != path.root_path() && !fs::exists(path, error)) path = path.parent_path();
  return path;
}

// Of comm.timeline, which is opened when the ranks are joined.
void add_timeline_faults(const RunConfig& config, std::vector<std::string>& faults) {
  const std::string& path = config.comm.timeline;
  if (path.empty()) return;
  std::error_code error;
  const fs::path folder = fs::absolute(path).parent_path();
  if (fs::is_directory(path, error)) {
    faults.push_back(fmt::format("comm.timeline: {} is a folder; name a file", path));
  } else if (!fs::is_directory(folder, error)) {
    faults.push_back(fmt::format("comm.timeline: there is no folder {}; create it", folder.string()));
  } else if (::access(fs::exists(path, error) ? path.c_str() : folder.c_str(), W_OK) != 0) {
    faults.push_back(
        fmt::format("comm.timeline: {} cannot be written. Change its permissions or name another place", path));
  }
}

std::string bytes_text(int64_t bytes) { return fmt::format("{} MB", with_thousands((bytes + 999'999) / 1'000'000)); }

}  // namespace

int64_t output_bytes(const RunConfig& config, int64_t parameters) {
  const int64_t element = config.run.precision == "fp64" ? 8 : 4;
  const int64_t states = config.output.keep_checkpoints + 1;  // the newest is written before the oldest goes
  return parameters * element * (kModels + kStateBuffers * states);
}

std::vector<std::string> output_faults(const RunConfig& config, int64_t parameters) {
  std::vector<std::string> faults;
  const RunDir run_dir(config.output.dir);
  try {
    run_dir.check_available(run_dir.holds_run());
  } catch (const Error& failure) {
    faults.push_back(failure.what());
  }
  add_timeline_faults(config, faults);
  const fs::path folder = existing_parent(fs::absolute(config.output.dir));
  std::error_code error;
  if (fs::is_directory(folder, error) && ::access(folder.c_str(), W_OK | X_OK) != 0) {
    faults.push_back(fmt::format("output.dir: {} cannot be written to. Change its permissions or name another folder",
                                 folder.string()));
  }
  const fs::space_info space = fs::space(folder, error);
  const int64_t needed = output_bytes(config, parameters);
  if (!error && parameters > 0 && space.available < static_cast<uintmax_t>(needed)) {
    faults.push_back(fmt::format(
        "output.dir: models and training states need up to {}, but {} has {} free. Free space, name another "
        "folder, or lower output.keep_checkpoints ({})",
        bytes_text(needed), folder.string(), bytes_text(static_cast<int64_t>(space.available)),
        config.output.keep_checkpoints));
  }
  return faults;
}

}  // namespace bertft
