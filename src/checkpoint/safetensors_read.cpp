#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <utility>

#include "checkpoint/safetensors.h"
#include "checkpoint/safetensors_header.h"
#include "core/error.h"
#include "core/files.h"
#include "core/text.h"

namespace bertft {

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

namespace {

constexpr size_t kLengthBytes = 8;

// How long the JSON text behind the length is, by the first bytes of a file of `size` bytes.
size_t header_length(std::string_view bytes, uint64_t size, const std::string& path) {
  if (size == 0) throw_broken(path, "the file is empty", kGetAgain);
  if (size < kLengthBytes) {
    throw_broken(path, fmt::format("the file has only {} bytes, its header length alone takes {}", size, kLengthBytes),
                 kGetAgain);
  }
  uint64_t length = 0;
  for (size_t i = kLengthBytes; i-- > 0;) length = length << 8 | static_cast<unsigned char>(bytes[i]);
  const bool begins_as_header = bytes.size() > kLengthBytes && bytes[kLengthBytes] == '{';
  if (length > kMaxHeaderBytes) {
    throw_broken(
        path,
        fmt::format("its first 8 bytes give a header of {} bytes, more than the allowed {}", length, kMaxHeaderBytes),
        describe_beginning(bytes) + ". A safetensors file is needed");
  }
  if (length > size - kLengthBytes) {
    throw_broken(path,
                 fmt::format("its first 8 bytes give a header of {} bytes, the file has only {} more", length,
                             size - kLengthBytes),
                 begins_as_header ? kGetAgain : describe_beginning(bytes) + ". A safetensors file is needed");
  }
  return static_cast<size_t>(length);
}

struct CheckedHeader {
  Header header;
  uint64_t data_begin = 0;  // in the file
};

CheckedHeader read_header(const InputFile& file) {
  const FileBytes beginning = file.beginning(512);
  if (const std::string impostor = explain_impostor(beginning.text(), file.path()); !impostor.empty()) {
    throw CheckpointError(impostor);
  }
  const size_t length = header_length(beginning.text(), file.size(), file.path());
  CheckedHeader checked{parse_header(file.read(kLengthBytes, length).text(), file.path()), kLengthBytes + length};
  check_layout(checked.header.entries, file.size() - checked.data_begin, file.path());
  return checked;
}

// The views of a checked header into the data area at `data`.
TensorTable make_table(Header header, const std::byte* data) {
  TensorTable table;
  table.metadata = std::move(header.metadata);
  table.tensors.reserve(header.entries.size());
  for (HeaderEntry& entry : header.entries) {
    table.tensors.push_back({std::move(entry.name), entry.dtype, std::move(entry.shape), data + entry.begin,
                             static_cast<size_t>(entry.end - entry.begin)});
  }
  std::sort(table.tensors.begin(), table.tensors.end(),
            [](const TensorView& a, const TensorView& b) { return a.name < b.name; });
  return table;
}

}  // namespace

TensorTable parse_safetensors(std::string_view file_bytes, const std::string& path) {
  CheckedHeader checked = read_header(InputFile::in_memory(file_bytes, path));
  return make_table(std::move(checked.header),
                    reinterpret_cast<const std::byte*>(file_bytes.data()) + checked.data_begin);
}

LoadedTensors read_safetensors(const InputFile& file) {
  CheckedHeader checked = read_header(file);
  LoadedTensors loaded;
  loaded.memory.push_back(file.read(checked.data_begin, static_cast<size_t>(file.size() - checked.data_begin)));
  loaded.table = make_table(std::move(checked.header), loaded.memory.front().data.get());
  return loaded;
}

}  // namespace bertft
