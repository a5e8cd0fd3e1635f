#include "data/dataset_cache.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <vector>

#include "core/hash.h"
#include "data/cache_reader.h"

namespace bertft {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kEnding = ".bftcache";
constexpr auto kLeftoverAge = std::chrono::hours(24);  // a writer takes less

std::string default_folder() {
  const char* temporary = std::getenv("TMPDIR");
  const std::string base = temporary != nullptr && *temporary != '\0' ? temporary : "/tmp";
  return fmt::format("{}/bert_finetune-cache-{}", base, ::getuid());
}

// "" when the folder is there, or could be made, and nobody else can put files into it (`is_private`).
std::string prepare(const std::string& folder, bool is_private) {
  std::error_code error;
  fs::create_directories(fs::path(folder).parent_path(), error);
  if (::mkdir(folder.c_str(), 0700) != 0 && errno != EEXIST) return std::strerror(errno);
  struct stat status {};
  const int found = is_private ? ::lstat(folder.c_str(), &status) : ::stat(folder.c_str(), &status);
  if (found != 0) return std::strerror(errno);
  if (!S_ISDIR(status.st_mode)) return "it is no folder";
  if (is_private && (status.st_uid != ::getuid() || (status.st_mode & 0022) != 0)) {
    return "others can write to it, so its files cannot be trusted";
  }
  return ::access(folder.c_str(), R_OK | W_OK | X_OK) == 0 ? "" : std::strerror(errno);
}

struct CachedEntry {
  fs::path path;
  fs::file_time_type used;
  uint64_t bytes = 0;
};

}  // namespace

DatasetCache::DatasetCache(const std::string& option) {
  if (option == "none") return;
  const std::string folder = option.empty() ? default_folder() : option;
  if (const std::string fault = prepare(folder, option.empty()); !fault.empty()) {
    problem_ =
        fmt::format("no dataset cache in {}: {}. Texts are tokenized at each start; set data.cache_dir", folder, fault);
    return;
  }
  folder_ = folder;
}

std::string DatasetCache::path_of(const std::string& key) const {
  return fmt::format("{}/{}{}{}", folder_, hash_text(hash64(key)), hash_text(hash64(key, 1)), kEnding);
}

std::optional<Dataset> DatasetCache::find(const std::string& key, std::string& why) const {
  const std::string path = path_of(key);
  std::optional<Dataset> found = read_cached(path, key, why);
  if (found) ::utimensat(AT_FDCWD, path.c_str(), nullptr, 0);  // used now; of no matter when it fails
  return found;
}

void DatasetCache::prune(const std::string& kept, uint64_t limit_bytes) const {
  std::error_code error;  // another process may remove the same files at the same time
  std::vector<CachedEntry> entries;
  uint64_t bytes = 0;
  const auto now = fs::file_time_type::clock::now();
  for (const fs::directory_entry& entry : fs::directory_iterator(folder_, error)) {
    const std::string name = entry.path().filename().string();
    CachedEntry one{entry.path(), entry.last_write_time(error), 0};
    if (error) continue;
    if (name.find(std::string(kEnding) + ".tmp.") != std::string::npos) {
      if (now - one.used > kLeftoverAge) fs::remove(entry.path(), error);
      continue;
    }
    if (!name.ends_with(kEnding)) continue;
    one.bytes = entry.file_size(error);
    if (error) continue;
    bytes += one.bytes;
    if (one.path != fs::path(kept)) entries.push_back(std::move(one));
  }
  std::sort(entries.begin(), entries.end(), [](const auto& a, const auto& b) { return a.used < b.used; });
  for (const CachedEntry& entry : entries) {
    if (bytes <= limit_bytes) break;
    if (fs::remove(entry.path, error)) bytes -= entry.bytes;
  }
}

}  // namespace bertft
