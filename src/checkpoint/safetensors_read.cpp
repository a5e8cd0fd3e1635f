#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <utility>

#include "checkpoint/safetensors.h"
#include "checkpoint/safetensors_header.h"
#include "core/error.h"
#include "core/hash.h"
#include "core/text.h"

namespace bertft {
namespace {

constexpr size_t kLengthBytes = 8;

// What a file is whose first bytes cannot be a header length.
std::string describe_beginning(std::string_view bytes) {
  const auto begins_with = [&](std::string_view magic) { return bytes.substr(0, magic.size()) == magic; };
  if (begins_with("PK\x03\x04")) return "It is a zip archive, as torch.save writes it";
  if (begins_with("\x80\x02") || begins_with("\x80\x03") || begins_with("\x80\x04")) return "It is a Python pickle";
  if (begins_with("\x89HDF")) return "It is an HDF5 file (TensorFlow weights)";
  if (begins_with("GGUF")) return "It is a GGUF file";
  const std::string_view beginning = bytes.substr(0, 40);
  const bool is_text = std::all_of(beginning.begin(), beginning.end(), [](char c) {
    const auto byte = static_cast<unsigned char>(c);
    return std::isprint(byte) != 0 || std::isspace(byte) != 0;
  });
  if (is_text) return fmt::format("It is a text file that begins with '{}'", excerpt(beginning, 40));
  return "It is not a safetensors file, or damaged at its beginning";
}

// The JSON text between the length and the data.
std::string_view header_text(std::string_view bytes, const std::string& path) {
  if (bytes.empty()) throw_broken(path, "the file is empty", kGetAgain);
  if (bytes.size() < kLengthBytes) {
    throw_broken(
        path, fmt::format("the file has only {} bytes, its header length alone takes {}", bytes.size(), kLengthBytes),
        kGetAgain);
  }
  uint64_t length = 0;
  for (size_t i = kLengthBytes; i-- > 0;) length = length << 8 | static_cast<unsigned char>(bytes[i]);
  const std::string_view rest = bytes.substr(kLengthBytes);
  const bool begins_as_header = !rest.empty() && rest.front() == '{';
  if (length > kMaxHeaderBytes) {
    throw_broken(
        path,
        fmt::format("its first 8 bytes give a header of {} bytes, more than the allowed {}", length, kMaxHeaderBytes),
        describe_beginning(bytes) + ". A safetensors file is needed");
  }
  if (length > rest.size()) {
    throw_broken(
        path,
        fmt::format("its first 8 bytes give a header of {} bytes, the file has only {} more", length, rest.size()),
        begins_as_header ? kGetAgain : describe_beginning(bytes) + ". A safetensors file is needed");
  }
  return rest.substr(0, length);
}

}  // namespace

TensorTable parse_safetensors(std::string_view file_bytes, const std::string& path) {
  if (const std::string impostor = explain_impostor(file_bytes.substr(0, 512), path); !impostor.empty()) {
    throw CheckpointError(impostor);
  }
  const std::string_view json = header_text(file_bytes, path);
  Header header = parse_header(json, path);
  const std::string_view data = file_bytes.substr(kLengthBytes + json.size());
  check_layout(header.entries, data.size(), path);

  TensorTable table;
  table.metadata = std::move(header.metadata);
  table.tensors.reserve(header.entries.size());
  for (HeaderEntry& entry : header.entries) {
    const auto* begin = reinterpret_cast<const std::byte*>(data.data()) + entry.begin;
    table.tensors.push_back(
        {std::move(entry.name), entry.dtype, std::move(entry.shape), begin, entry.end - entry.begin});
  }
  std::sort(table.tensors.begin(), table.tensors.end(),
            [](const TensorView& a, const TensorView& b) { return a.name < b.name; });
  return table;
}

TensorFile::TensorFile(MappedFile file, TensorTable table) : file_(std::move(file)), table_(std::move(table)) {}

TensorFile TensorFile::open(const std::string& path) {
  MappedFile file(path);
  TensorTable table = parse_safetensors(file.text(), path);
  return {std::move(file), std::move(table)};
}

const TensorView* TensorFile::find(std::string_view name) const {
  const auto found = std::lower_bound(tensors().begin(), tensors().end(), name,
                                      [](const TensorView& tensor, std::string_view n) { return tensor.name < n; });
  return found != tensors().end() && found->name == name ? &*found : nullptr;
}

uint64_t TensorFile::checksum() const {
  uint64_t hash = 0;
  for (const TensorView& tensor : tensors()) {
    hash = hash64(tensor.name, hash);
    hash = hash64(dtype_name(tensor.dtype), hash);
    hash = hash64(tensor.shape.data(), tensor.shape.size() * sizeof(int64_t), hash);
    hash = hash64(tensor.data, tensor.bytes, hash);
  }
  return hash;
}

}  // namespace bertft
