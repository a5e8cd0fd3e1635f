#include "train/node_facts.h"

#include <fmt/format.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <sstream>

#include "comm/cuda_platform.h"
#include "comm/native/interfaces.h"
#include "comm/start.h"
#include "core/cpu_features.h"
#include "core/error.h"
#include "core/text.h"
#include "core/version.h"
#include "data/data_path.h"

namespace bertft {
namespace {

namespace fs = std::filesystem;

constexpr int64_t kKiB = 1024;

std::string text_of(const std::string& path) {
  std::ifstream file(path);
  return {std::istreambuf_iterator<char>(file), {}};
}

// The value of a line "NAME:   value", "" when there is none.
std::string field_of(const std::string& text, const std::string& name) {
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    if (!line.starts_with(name + ":")) continue;
    const size_t begin = line.find_first_not_of(" \t", name.size() + 1);
    return begin == std::string::npos ? "" : line.substr(begin);
  }
  return "";
}

std::string megabytes(int64_t bytes) { return with_thousands(bytes / 1'000'000) + " MB"; }

std::string memory_text() {
  const std::string memory = text_of("/proc/meminfo");
  const auto bytes = [&](const char* name) { return std::atoll(field_of(memory, name).c_str()) * kKiB; };
  return fmt::format("{}, {} available", megabytes(bytes("MemTotal")), megabytes(bytes("MemAvailable")));
}

// By the driver alone, so that builds without CUDA see them, too.
std::string gpu_text() {
  std::vector<std::string> models;
  std::error_code error;
  for (const fs::directory_entry& gpu : fs::directory_iterator("/proc/driver/nvidia/gpus", error)) {
    models.push_back(field_of(text_of(gpu.path() / "information"), "Model"));
  }
  if (models.empty()) return "none";
  const std::string driver = field_of(text_of("/proc/driver/nvidia/version"), "NVRM version");
  return join(models, ", ") + (driver.empty() ? "" : "; driver " + driver);
}

// The nearest folder on the way up that is there.
fs::path existing_part(fs::path path) {
  std::error_code error;
  while (path != path.root_path() && !fs::exists(path, error)) path = path.parent_path();
  return path;
}

std::string filesystem_of(const std::string& path) {
  std::error_code error;
  const fs::path real = fs::canonical(existing_part(fs::absolute(path)), error);
  return mount_text(text_of("/proc/self/mountinfo"), error ? path : real.string());
}

std::string file_text(const std::string& path) {
  std::error_code error;
  if (!fs::exists(path, error)) return path + " is not there (" + filesystem_of(path) + ")";
  const auto bytes = fs::is_regular_file(path, error) ? fs::file_size(path, error) : uintmax_t{0};
  const std::string size = bytes > 0 ? with_thousands(static_cast<int64_t>(bytes)) + " bytes, " : "";
  return fmt::format("{}: {}{}", path, size, filesystem_of(path));
}

void add_data(Facts& facts, const std::string& key, const StringList& paths) {
  if (paths.empty()) return;
  std::vector<std::string> files = paths;
  try {
    files = expand_paths(paths);
  } catch (const DataError&) {  // the paths themselves then; why is a fault of the check
  }
  constexpr size_t kShown = 3;
  std::vector<std::string> texts;
  for (const std::string& file : files) {
    if (texts.size() < kShown) texts.push_back(file_text(file));
  }
  if (files.size() > kShown) texts.push_back(fmt::format("{} more files", files.size() - kShown));
  facts.push_back({key, join(texts, "; ")});
}

// Rank 0 alone writes there, but all ranks append to their logs.
std::string output_text(const std::string& folder) {
  std::error_code error;
  const fs::path there = existing_part(fs::absolute(folder));
  const bool is_writable = ::access(there.c_str(), W_OK | X_OK) == 0;
  return fmt::format("{}{}, {}, {}", folder, fs::exists(folder, error) ? "" : " (to be made)",
                     is_writable ? "writable" : "not writable", filesystem_of(folder));
}

std::string cores_of(const World& world, const std::vector<int>& ranks, const std::vector<CpuShare>& shares) {
  const auto text = [](const CpuShare& share) {
    return fmt::format("{} ({})", cores_text(static_cast<double>(share.cores.size())), ranges_text(share.cores));
  };
  const CpuShare& first = shares[static_cast<size_t>(ranks.front())];
  bool is_same = true;
  std::vector<std::string> texts;
  for (const int rank : ranks) {
    const CpuShare& share = shares[static_cast<size_t>(rank)];
    is_same = is_same && share.cores == first.cores;
    texts.push_back(fmt::format("rank {}: {}", rank, text(share)));
  }
  const std::string reachable = fmt::format(" of {}", first.reachable.size());
  if (is_same)
    return text(first) + reachable + (ranks.size() > 1 ? fmt::format(", shared by {} ranks", ranks.size()) : "");
  check(world.size > 1, "several ranks have several masks");
  return join(texts, ", ") + reachable;
}

}  // namespace

std::string ranges_text(const std::vector<int>& numbers) {
  std::vector<std::string> ranges;
  for (size_t begin = 0; begin < numbers.size();) {
    size_t end = begin + 1;
    while (end < numbers.size() && numbers[end] == numbers[end - 1] + 1) ++end;
    ranges.push_back(end - begin == 1 ? std::to_string(numbers[begin])
                                      : fmt::format("{}-{}", numbers[begin], numbers[end - 1]));
    begin = end;
  }
  return join(ranges, ", ");
}

std::string mount_text(const std::string& mountinfo, const std::string& path) {
  std::string best;
  std::string text = "unknown";
  std::istringstream lines(mountinfo);
  for (std::string line; std::getline(lines, line);) {  // ID PARENT DEVICE ROOT POINT OPTIONS... - TYPE SOURCE OPTIONS
    std::istringstream fields(line);
    std::string skipped, point;
    fields >> skipped >> skipped >> skipped >> skipped >> point;
    const size_t separator = line.find(" - ");
    if (point.empty() || separator == std::string::npos) continue;
    const bool holds_path = point == "/" || path == point || path.starts_with(point + "/");
    if (!holds_path || point.size() < best.size()) continue;
    std::istringstream kind(line.substr(separator + 3));
    std::string type, source;
    kind >> type >> source;
    best = point;  // of equal points the last one is on top
    text = type + (source.empty() || source == type || source == "none" ? "" : " " + source);
  }
  return text;
}

Facts node_facts(RunConfig& config, const World& world) {
  Facts facts = {
      {"memory", memory_text()},
      {"GPU", gpu_text()},
      {"kernels", instruction_set_name(offered_instruction_set())},
      {"program", version() + " (" + git_commit() + ")"},
      {"LibTorch", libtorch_version()},
      {"MPI", mpi_description()},
      {"CUDA", describe(cuda_platform())},
      {"network", native::describe(native::choose_interfaces(native::list_interfaces(), config.comm.interface))}};
  add_data(facts, "data.train", config.data.train);
  add_data(facts, "data.dev", config.data.dev);
  add_data(facts, "data.test", config.data.test);
  if (!config.model.checkpoint.empty()) facts.push_back({"model.checkpoint", file_text(config.model.checkpoint)});
  if (!config.output.dir.empty()) {
    const std::string who = world.node == world.node_of.front() ? " (rank 0 writes the run)" : "";
    facts.push_back({"output.dir", output_text(config.output.dir) + who});
  }
  return facts;
}

std::vector<NodeReport> node_reports(const World& world, const std::vector<CpuShare>& shares,
                                     const std::vector<Facts>& facts) {
  std::vector<NodeReport> reports(static_cast<size_t>(world.nodes));
  for (int rank = 0; rank < world.size; ++rank) {
    NodeReport& report = reports[static_cast<size_t>(world.node_of[static_cast<size_t>(rank)])];
    if (report.ranks.empty()) report.host = world.hosts[static_cast<size_t>(rank)];
    report.ranks.push_back(rank);
  }
  for (NodeReport& report : reports) {
    const auto first = static_cast<size_t>(report.ranks.front());
    report.facts = {{"cores", cores_of(world, report.ranks, shares)},
                    {"CPU quota", shares[first].quota ? cores_text(*shares[first].quota) : "none"}};
    report.facts.insert(report.facts.end(), facts[first].begin(), facts[first].end());
  }
  return reports;
}

}  // namespace bertft
