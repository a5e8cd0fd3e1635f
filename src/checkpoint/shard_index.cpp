#include "checkpoint/shard_index.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <iterator>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>
#include <utility>

#include "checkpoint/safetensors_header.h"
#include "core/error.h"
#include "core/files.h"
#include "core/text.h"

namespace bertft {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::json;

constexpr uint64_t kMaxIndexBytes = uint64_t{64} << 20;
const char* const kTakeTogether = "Take the index and all shards from the same place";

struct ShardIndex {
  std::map<std::string, std::string> shard_of;  // by tensor
  std::optional<uint64_t> total_size;           // bytes of all tensors
};

// A shard lies in the folder of the index or below it: a path that could leave it is refused, not followed.
void check_shard_name(const std::string& name, const std::string& index_path) {
  const fs::path path(name);
  const bool has_control =
      std::any_of(name.begin(), name.end(), [](char c) { return static_cast<unsigned char>(c) < 32; });
  const bool leaves = path.is_absolute() || std::find(path.begin(), path.end(), "..") != path.end();
  if (!name.empty() && !has_control && !leaves && !name.ends_with(kIndexEnd)) return;
  throw_broken(index_path, fmt::format("the shard '{}' is not a file in the folder of the index", excerpt(name, 200)),
               "Nothing outside that folder is read. " + std::string(kTakeTogether));
}

// Parses the text, refusing a key that comes twice in one object.
Json parse_json(std::string_view text, const std::string& path) {
  std::vector<std::set<std::string>> keys;
  const auto watch = [&](int, Json::parse_event_t event, Json& value) {
    if (event == Json::parse_event_t::object_start) keys.emplace_back();
    if (event == Json::parse_event_t::object_end) keys.pop_back();
    if (event == Json::parse_event_t::key && !keys.back().insert(value.get<std::string>()).second) {
      throw_broken(path, fmt::format("'{}' comes twice", excerpt(value.get<std::string>(), 200)), kTakeTogether);
    }
    return true;
  };
  try {
    return Json::parse(text, watch);
  } catch (const nlohmann::json::exception& failure) {
    throw_broken(path, fmt::format("not valid JSON: {}", excerpt(failure.what(), 200)), kGetAgain);
  }
}

ShardIndex read_index(const std::string& path) {
  const InputFile file = InputFile::open(path);
  if (file.size() > kMaxIndexBytes) throw_broken(path, "it is larger than any index", kGetAgain);
  const FileBytes bytes = file.beginning(kMaxIndexBytes);
  if (const std::string impostor = explain_impostor(bytes.text().substr(0, 512), path); !impostor.empty()) {
    throw CheckpointError(impostor);
  }
  const Json json = parse_json(bytes.text(), path);
  if (!json.is_object() || !json.contains("weight_map") || !json["weight_map"].is_object()) {
    throw_broken(path, "it has no weight_map, so this is no index of shards", kTakeTogether);
  }
  ShardIndex index;
  for (const auto& [name, shard] : json["weight_map"].items()) {
    if (!shard.is_string()) throw_broken(path, fmt::format("the shard of '{}' is no text", excerpt(name)), kGetAgain);
    check_shard_name(shard.get<std::string>(), path);
    index.shard_of.emplace(name, shard.get<std::string>());
  }
  if (json.contains("metadata") && json["metadata"].is_object() && json["metadata"].contains("total_size")) {
    const Json& size = json["metadata"]["total_size"];
    if (!size.is_number_unsigned()) {
      throw_broken(path, fmt::format("metadata.total_size is {}", excerpt(size.dump())), kGetAgain);
    }
    index.total_size = size.get<uint64_t>();
  }
  return index;
}

// Collects the shards and compares them with the index.
class ShardReader {
 public:
  explicit ShardReader(const std::string& index_path) : index_path_(index_path), index_(read_index(index_path)) {}

  LoadedTensors read() {
    std::set<std::string> shards;
    for (const auto& [name, shard] : index_.shard_of) shards.insert(shard);
    for (const std::string& shard : shards) add(shard);
    for (const auto& [name, shard] : index_.shard_of) {
      if (found_in_.count(name) == 0) fail(fmt::format("tensor '{}' is not in {}", excerpt(name, 200), excerpt(shard)));
    }
    check_total_size();
    std::sort(loaded_.table.tensors.begin(), loaded_.table.tensors.end(),
              [](const TensorView& a, const TensorView& b) { return a.name < b.name; });
    loaded_.notes.push_back(fmt::format("read from {} shards", shards.size()));
    return std::move(loaded_);
  }

 private:
  [[noreturn]] void fail(const std::string& what) const { throw_broken(index_path_, what, kTakeTogether); }

  void add(const std::string& shard) {
    const fs::path path = fs::path(index_path_).parent_path() / shard;
    std::error_code ignored;
    if (!fs::exists(path, ignored)) fail(fmt::format("the shard {} is missing", excerpt(shard, 200)));
    LoadedTensors part = read_weights_file(path.string());
    for (TensorView& tensor : part.table.tensors) {
      note_place(tensor.name, shard);
      all_bytes_ += tensor.bytes;
      if (tensor.data != nullptr) shared_bytes_[tensor.data] = tensor.bytes;
      loaded_.table.tensors.push_back(std::move(tensor));
    }
    loaded_.table.metadata.merge(part.table.metadata);
    std::move(part.memory.begin(), part.memory.end(), std::back_inserter(loaded_.memory));
    for (const std::string& note : part.notes) loaded_.notes.push_back(shard + ": " + note);
  }

  void note_place(const std::string& name, const std::string& shard) {
    const auto [place, is_new] = found_in_.emplace(name, shard);
    if (!is_new) fail(fmt::format("tensor '{}' is in {} and in {}", excerpt(name, 200), place->second, shard));
    const auto listed = index_.shard_of.find(name);
    if (listed == index_.shard_of.end())
      fail(fmt::format("tensor '{}' of {} is not listed", excerpt(name, 200), shard));
    if (listed->second != shard) {
      fail(fmt::format("tensor '{}' is listed in {} but lies in {}", excerpt(name, 200), listed->second, shard));
    }
  }

  // Tensors over the same bytes were counted once by writers of .bin shards.
  void check_total_size() const {
    if (!index_.total_size || *index_.total_size == all_bytes_) return;
    uint64_t once = 0;
    for (const auto& [data, bytes] : shared_bytes_) once += bytes;
    if (*index_.total_size == once) return;
    throw_broken(index_path_,
                 fmt::format("metadata.total_size is {} bytes, the tensors of the shards have {}", *index_.total_size,
                             all_bytes_),
                 std::string(kTakeTogether) + "; if they are right, take total_size out of the index");
  }

  const std::string& index_path_;
  ShardIndex index_;
  LoadedTensors loaded_;
  std::map<std::string, std::string> found_in_;  // shard by tensor
  uint64_t all_bytes_ = 0;
  std::map<const std::byte*, uint64_t> shared_bytes_;
};

}  // namespace

LoadedTensors read_shards(const std::string& index_path) { return ShardReader(index_path).read(); }

}  // namespace bertft
