#include "checkpoint/torch_file.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <string>
#include <vector>

#include "checkpoint/pickle_machine.h"
#include "checkpoint/safetensors_header.h"
#include "checkpoint/torch_state_dict.h"
#include "checkpoint/torch_tensors.h"
#include "checkpoint/zip_archive.h"
#include "core/error.h"
#include "core/files.h"
#include "core/text.h"

namespace bertft {
namespace {

constexpr std::string_view kPickleName = "data.pkl";
constexpr std::string_view kZipBeginning = "PK\x03\x04";
constexpr std::string_view kMagic("\x6c\xfc\x9c\x46\xf9\x20\x6a\xa8\x50\x19", 10);  // 0x1950a86a20f9469cfc6c
constexpr int64_t kLegacyProtocol = 1001;
const char* const kOtherByteOrder = "Save it again on a little-endian machine, which nearly all are";

// The archive's folder with a '/' at its end: every entry lies in it, and its name is of no importance.
std::string folder_of(const ZipArchive& archive, const std::string& path) {
  std::vector<std::string> folders;
  for (const ZipEntry& entry : archive.entries()) {
    const size_t slash = entry.name.find('/');
    if (slash != std::string::npos && std::string_view(entry.name).substr(slash + 1) == kPickleName) {
      folders.push_back(entry.name.substr(0, slash + 1));
    }
  }
  if (folders.size() == 1) return folders.front();
  const std::string first = archive.entries().empty() ? "nothing" : excerpt(archive.entries().front().name, 100);
  throw_broken(path,
               fmt::format("a zip archive that torch.save did not write: {} of its {} entries are named {}, it "
                           "holds {}",
                           folders.size(), archive.entries().size(), kPickleName, first),
               "Give the file of weights itself");
}

LoadedTensors read_zip(const InputFile& file) {
  const ZipArchive archive(file);
  const std::string folder = folder_of(archive, file.path());
  if (archive.find(folder + "constants.pkl") != nullptr) {
    throw_broken(file.path(), "a TorchScript program (torch.jit.save), not weights alone",
                 "Save the weights: torch.save(model.state_dict(), ...), or as safetensors");
  }
  if (const ZipEntry* order = archive.find(folder + "byteorder"); order != nullptr && order->bytes < 64) {
    const FileBytes content = archive.read(*order);
    if (content.text() != "little") {
      throw_broken(file.path(), fmt::format("its byte order is '{}', only little is read", excerpt(content.text())),
                   kOtherByteOrder);
    }
  }
  const ZipEntry& pickle = *archive.find(folder + std::string(kPickleName));
  const std::string where = file.path() + ", " + std::string(kPickleName);
  if (pickle.bytes > kMaxPickleBytes) {
    throw_broken(where, fmt::format("{} bytes, more than any file of weights needs", pickle.bytes), kGetAgain);
  }
  const FileBytes bytes = archive.read(pickle);
  const PickleProgram program = run_pickle(bytes.text(), where);
  const TorchStorages storages = storages_of(program, where);
  const StateDict state = find_state_dict(program, storages, where);
  return load_torch_tensors(state, storages, file, [&](std::string_view key, const TorchStorage& storage) {
    const ZipEntry* entry = archive.find(folder + "data/" + std::string(key));
    if (entry == nullptr) {
      throw_broken(file.path(), fmt::format("the storage '{}' is not in the archive", excerpt(key)), kGetAgain);
    }
    if (entry->bytes != storage.bytes()) {
      throw_broken(
          file.path(),
          fmt::format("the storage '{}' has {} bytes, {} are needed", excerpt(key), entry->bytes, storage.bytes()),
          kGetAgain);
    }
    return archive.read(*entry);
  });
}

// The stream of pickles before PyTorch 1.6: magic number, protocol, machine, object, keys; then the storages.
class LegacyReader {
 public:
  explicit LegacyReader(const InputFile& file) : file_(file), beginning_(file.beginning(kMaxPickleBytes)) {}

  LoadedTensors read() {
    check_magic();
    check_machine();
    const PickleProgram object = next();
    const TorchStorages storages = storages_of(object, file_.path());
    const StateDict state = find_state_dict(object, storages, file_.path());
    const std::map<std::string, uint64_t> places = place_storages(next(), storages);
    return load_torch_tensors(state, storages, file_, [&](std::string_view key, const TorchStorage& storage) {
      const auto place = places.find(std::string(key));
      if (place == places.end()) {
        throw_broken(file_.path(), fmt::format("the storage '{}' is not in the file", excerpt(key)), kGetAgain);
      }
      return file_.read(place->second, static_cast<size_t>(storage.bytes()));
    });
  }

 private:
  PickleProgram next() {
    PickleProgram program = run_pickle(beginning_.text().substr(at_), file_.path());
    at_ += program.bytes;
    return program;
  }

  void check_magic() {
    const PickleProgram magic = next();
    const PickleValue& root = magic.at(magic.root);
    if (root.kind == PickleKind::kLong && root.text == kMagic) return;
    throw_broken(file_.path(),
                 fmt::format("a Python pickle that torch.save did not write: it holds {}", pickle_kind_name(root.kind)),
                 "Give a file of torch.save or safetensors");
  }

  void check_machine() {
    const PickleProgram protocol = next();
    const PickleValue& number = protocol.at(protocol.root);
    if (number.kind != PickleKind::kInteger || number.number != kLegacyProtocol) {
      throw_broken(file_.path(), fmt::format("its protocol is not {}, the one of PyTorch before 1.6", kLegacyProtocol),
                   kGetAgain);
    }
    const PickleProgram machine = next();
    const PickleValue& facts = machine.at(machine.root);
    for (size_t i = 0; facts.kind == PickleKind::kDict && i < facts.items.size(); i += 2) {
      if (machine.item(facts, i).text != "little_endian") continue;
      const PickleValue& is_little = machine.item(facts, i + 1);
      if (is_little.kind == PickleKind::kBool && is_little.number == 1) return;
      throw_broken(file_.path(), "it was written on a big-endian machine, only little-endian is read", kOtherByteOrder);
    }
    throw_broken(file_.path(), "it does not say which byte order it has", kGetAgain);
  }

  // Where the bytes of each storage begin. Each is led by its number of elements.
  std::map<std::string, uint64_t> place_storages(const PickleProgram& keys, const TorchStorages& storages) const {
    const PickleValue& list = keys.at(keys.root);
    if (list.kind != PickleKind::kList) throw_broken(file_.path(), "its list of storages is no list", kGetAgain);
    std::map<std::string, uint64_t> places;
    uint64_t at = at_;
    for (size_t i = 0; i < list.items.size(); ++i) {
      const PickleValue& key = keys.item(list, i);
      const auto storage = storages.find(key.text);
      if (key.kind != PickleKind::kText || storage == storages.end()) {
        throw_broken(file_.path(), fmt::format("the storage '{}' belongs to nothing", excerpt(key.text)), kGetAgain);
      }
      const uint64_t left = file_.size() - at;
      int64_t elements = 0;
      if (left < sizeof(elements) || storage->second.bytes() > left - sizeof(elements)) {
        throw_broken(file_.path(),
                     fmt::format("truncated: the storage '{}' needs {} bytes, the file has {} more", excerpt(key.text),
                                 storage->second.bytes() + sizeof(elements), left),
                     kGetAgain);
      }
      file_.read(at, &elements, sizeof(elements));
      if (elements != storage->second.elements || !places.emplace(key.text, at + sizeof(elements)).second) {
        throw_broken(file_.path(), fmt::format("the storage '{}' is described in two ways", excerpt(key.text)),
                     kGetAgain);
      }
      at += sizeof(elements) + storage->second.bytes();
    }
    if (at != file_.size()) {
      throw_broken(file_.path(), fmt::format("{} bytes after the last storage belong to nothing", file_.size() - at),
                   kGetAgain);
    }
    return places;
  }

  const InputFile& file_;
  FileBytes beginning_;
  size_t at_ = 0;
};

}  // namespace

bool is_torch_file(const InputFile& file) {
  const FileBytes beginning = file.beginning(16);
  const std::string_view bytes = beginning.text();
  if (bytes.size() > 8 && bytes[8] == '{') return false;
  if (bytes.starts_with(kZipBeginning)) return true;
  if (bytes.size() > 1 && bytes[0] == '\x80' && bytes[1] <= 5) return true;
  constexpr std::array<std::string_view, 4> kEnds = {".bin", ".pt", ".pth", ".ckpt"};
  return std::any_of(kEnds.begin(), kEnds.end(), [&](std::string_view end) { return file.path().ends_with(end); });
}

LoadedTensors read_torch_file(const InputFile& file) {
  const FileBytes beginning = file.beginning(512);
  const std::string_view bytes = beginning.text();
  if (bytes.empty()) throw_broken(file.path(), "the file is empty", kGetAgain);
  if (const std::string impostor = explain_impostor(bytes, file.path()); !impostor.empty()) {
    throw CheckpointError(impostor);
  }
  if (bytes.starts_with(kZipBeginning)) return read_zip(file);
  constexpr std::string_view kPickleBeginnings = "\x80(c}])";  // also of the protocols before 2
  if (kPickleBeginnings.find(bytes[0]) == std::string_view::npos) {
    throw_broken(file.path(), "this is no file of torch.save. " + describe_beginning(bytes),
                 "Take the weights as safetensors, or save them with torch.save(model.state_dict(), ...)");
  }
  return LegacyReader(file).read();
}

}  // namespace bertft
