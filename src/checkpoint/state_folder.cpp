#include "checkpoint/state_folder.h"

#include <fcntl.h>
#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <string_view>
#include <utility>
#include <vector>

#include "checkpoint/input_file.h"
#include "core/error.h"
#include "core/files.h"
#include "core/hash.h"
#include "core/work_meter.h"

namespace bertft {
namespace {

namespace fs = std::filesystem;

constexpr const char* kTensors = "tensors.safetensors";
constexpr const char* kDone = "DONE";

// What DONE says of a file.
struct Entry {
  uint64_t bytes = 0;
  std::string hash;
};

uint64_t hash_of(std::string_view content) {
  StreamHash hash;
  hash.add(content);
  return hash.value();
}

Entry entry_of(const std::string& path) {
  const InputFile file = InputFile::open(path);
  StreamHash hash;
  std::vector<char> part(std::min<uint64_t>(file.size(), kReadPart));
  for (uint64_t at = 0; at < file.size(); at += part.size()) {
    const auto bytes = static_cast<size_t>(std::min<uint64_t>(part.size(), file.size() - at));
    file.read(at, part.data(), bytes);
    hash.add(part.data(), bytes);
  }
  return {file.size(), hash_text(hash.value())};
}

std::string done_text(const std::map<std::string, Entry>& entries) {
  nlohmann::ordered_json json;
  for (const auto& [name, entry] : entries) json[name] = {{"bytes", entry.bytes}, {"hash", entry.hash}};
  return json.dump(2) + "\n";
}

std::map<std::string, Entry> read_done(const std::string& folder) {
  const std::string path = folder + "/" + kDone;
  if (!fs::exists(path)) throw CheckpointError(folder + ": there is no DONE: it was not written to the end");
  try {
    std::map<std::string, Entry> entries;
    const nlohmann::json json = nlohmann::json::parse(read_file(path));
    for (const auto& [name, entry] : json.items()) {
      if (name.find('/') != std::string::npos) throw CheckpointError(path + ": a name leaves the folder: " + name);
      entries[name] = {entry.at("bytes").get<uint64_t>(), entry.at("hash").get<std::string>()};
    }
    return entries;
  } catch (const nlohmann::json::exception& failure) {
    throw CheckpointError(fmt::format("{}: broken: {}", path, failure.what()));
  }
}

void check_entry(const std::string& folder, const std::string& name, const Entry& expected) {
  const std::string path = folder + "/" + name;
  if (!fs::exists(path)) throw CheckpointError(path + ": missing, though DONE lists it");
  const Entry found = entry_of(path);
  if (found.bytes != expected.bytes) {
    throw CheckpointError(fmt::format("{}: {} bytes, but {} were written", path, found.bytes, expected.bytes));
  }
  if (found.hash != expected.hash) throw CheckpointError(path + ": its content is not what was written");
}

// Puts `temporary` in the place of `folder`. An older folder of that name is exchanged in one step where the file
// system can; elsewhere (NFS) it stands aside as `folder`.replaced for a moment.
void publish(const std::string& temporary, const std::string& folder) {
  const std::string replaced = folder + ".replaced";
  std::error_code error;
  fs::remove_all(replaced, error);
  if (::renameat2(AT_FDCWD, temporary.c_str(), AT_FDCWD, folder.c_str(), RENAME_EXCHANGE) == 0) {
    fs::remove_all(temporary, error);
  } else {
    error.clear();
    if (fs::exists(folder)) fs::rename(folder, replaced, error);
    if (!error) fs::rename(temporary, folder, error);
    if (error) throw ResourceError(fmt::format("cannot publish {}: {}", folder, error.message()));
  }
  sync_folder(fs::path(folder).parent_path().string());
  fs::remove_all(replaced, error);
}

}  // namespace

void write_state_folder(const std::string& folder, const std::vector<TensorView>& tensors, const StateFiles& files) {
  const std::string temporary = folder + ".tmp";
  std::error_code error;
  fs::remove_all(temporary, error);
  make_folders(temporary);
  write_safetensors(temporary + "/" + kTensors, tensors, {});
  std::map<std::string, Entry> entries = {{kTensors, entry_of(temporary + "/" + kTensors)}};
  for (const auto& [name, content] : files) {
    check(name != kTensors && name != kDone && name.find('/') == std::string::npos, "a free name for a state file");
    write_file_atomically(temporary + "/" + name, content);
    entries[name] = {content.size(), hash_text(hash_of(content))};
  }
  write_file_atomically(temporary + "/" + kDone, done_text(entries));
  publish(temporary, folder);
}

StateFolder StateFolder::open(const std::string& folder) {
  StateFiles files;
  bool has_tensors = false;
  for (const auto& [name, entry] : read_done(folder)) {
    check_entry(folder, name, entry);
    has_tensors = has_tensors || name == kTensors;
    if (name != kTensors) files[name] = read_file(folder + "/" + name);
  }
  if (!has_tensors) throw CheckpointError(folder + ": DONE does not list " + kTensors);
  return StateFolder(folder, TensorFile::open(folder + "/" + kTensors), std::move(files));
}

StateFolder::StateFolder(std::string path, TensorFile tensors, StateFiles files)
    : path_(std::move(path)), tensors_(std::move(tensors)), files_(std::move(files)) {}

const TensorView& StateFolder::tensor(const std::string& name) const {
  const TensorView* found = tensors_.find(name);
  if (found == nullptr) throw CheckpointError(path_ + ": holds no tensor " + name);
  return *found;
}

const std::string& StateFolder::file(const std::string& name) const {
  const auto found = files_.find(name);
  if (found == files_.end()) throw CheckpointError(path_ + ": holds no file " + name);
  return found->second;
}

}  // namespace bertft
