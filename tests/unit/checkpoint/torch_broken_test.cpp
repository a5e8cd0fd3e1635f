// Damaged files of torch.save: cut at every byte, bits flipped by the thousands, headers that lie. Each gives an error
// or tensors within memory that was read, never a crash, and never takes more memory than the file justifies.
#include <cstring>
#include <random>

#include "checkpoint/convert.h"
#include "checkpoint/torch_file.h"
#include "checkpoint/zip_archive.h"
#include "core/error.h"
#include "core/files.h"
#include "tests/support/test.h"
#include "tests/unit/checkpoint/test_files.h"

namespace bertft {
namespace {

using namespace std::string_literals;
using Catch::Matchers::Contains;

const std::string kFolder = "tests/golden/checkpoint/";

LoadedTensors read(const std::string& bytes) {
  return read_torch_file(InputFile::in_memory(bytes, "dir/pytorch_model.bin"));
}

std::string error_of(const std::string& bytes) {
  return test::checkpoint_error([&] { read(bytes); });
}

// Reads every element of what `bytes` hold; true when they were refused instead.
bool is_refused(const std::string& bytes) {
  try {
    for (const TensorView& tensor : read(bytes).table.tensors) {
      REQUIRE(tensor.bytes == static_cast<size_t>(element_count(tensor.shape)) * dtype_bytes(tensor.dtype));
      REQUIRE(tensor.bytes < size_t{100} << 20);
      if (!is_weight_dtype(tensor.dtype)) continue;
      std::vector<float> values(static_cast<size_t>(element_count(tensor.shape)));
      copy_to_f32(tensor, values.data());
    }
    return false;
  } catch (const CheckpointError& failure) {
    REQUIRE(std::strlen(failure.what()) < 900);
    return true;
  }
}

TEST_CASE("a file of torch.save that was cut is refused wherever it was cut") {
  for (const char* name : {"module.bin", "module_legacy.bin", "legacy_protocol_4.bin", "zip_protocol_5.bin"}) {
    INFO(name);
    const std::string whole = read_file(kFolder + name);
    REQUIRE_FALSE(is_refused(whole));
    for (size_t size = 0; size < whole.size(); ++size) {
      INFO(size);
      REQUIRE(is_refused(whole.substr(0, size)));
    }
  }
}

TEST_CASE("bytes after the end are noticed") {
  CHECK_THAT(error_of(read_file(kFolder + "module_legacy.bin") + "x"), Contains("1 bytes after the last storage"));
  CHECK_THAT(error_of(read_file(kFolder + "module.bin") + "x"), Contains("the end is missing"));
}

TEST_CASE("one flipped bit in the weights of an archive is noticed by its checksum") {
  const std::string whole = read_file(kFolder + "module.bin");
  const InputFile file = InputFile::in_memory(whole, "x");
  const ZipArchive archive(file);
  int flipped = 0;
  for (const ZipEntry& entry : archive.entries()) {
    const bool is_read = entry.name.find("/data/") != std::string::npos || entry.name.ends_with("data.pkl") ||
                         entry.name.ends_with("byteorder");
    if (!is_read) continue;
    for (uint64_t at = 0; at < entry.bytes; ++at) {
      std::string bytes = whole;
      bytes[entry.data_begin + at] = static_cast<char>(bytes[entry.data_begin + at] ^ 0x10);
      REQUIRE_THAT(error_of(bytes), Contains("the checksum (CRC-32) of the entry '" + entry.name));
      ++flipped;
    }
  }
  CHECK(flipped > 400);
}

// Changes, cuts, doubles or erases some bytes.
std::string mutated(std::string bytes, std::mt19937_64& random) {
  const auto below = [&](size_t limit) { return static_cast<size_t>(random() % limit); };
  for (size_t change = 1 + below(4); change-- > 0 && !bytes.empty();) {
    const size_t at = below(bytes.size());
    switch (below(7)) {
      case 0:
      case 1:
      case 2:
        bytes[at] = static_cast<char>(bytes[at] ^ (1 << below(8)));
        break;
      case 3:
        bytes[at] = static_cast<char>(random());
        break;
      case 4:
        bytes[at] = static_cast<char>("\x00\xff\x7f\x80.(tRQqhJKMXcub"[below(18)]);
        break;
      case 5:
        bytes.insert(at, bytes.substr(below(bytes.size()), below(24)));
        break;
      default:
        bytes.erase(at, below(24));
    }
  }
  return bytes;
}

TEST_CASE("20,000 damaged files of torch.save give an error or tensors within memory") {
  std::mt19937_64 random(11);
  int refused = 0;
  int accepted = 0;
  // Without checksums, so that the damage reaches the pickle machine.
  for (const char* name : {"zip_without_checksums.bin", "legacy.bin", "legacy_protocol_4.bin", "module_legacy.bin"}) {
    const std::string whole = read_file(kFolder + name);
    for (int round = 0; round < 5000; ++round) ++(is_refused(mutated(whole, random)) ? refused : accepted);
  }
  CHECK(accepted > 1000);
  CHECK(refused > 5000);
}

// A zip archive of stored entries, made by hand so that each field can lie.
std::string little(uint64_t number, size_t width) {
  std::string bytes;
  for (size_t i = 0; i < width; ++i) bytes += static_cast<char>(number >> (8 * i) & 0xff);
  return bytes;
}

struct Entry {
  std::string name;
  std::string content;
  uint32_t method = 0;
  uint32_t flags = 0;
  uint32_t extra_size = 0;  // said of the content beyond what it has
};

enum class Width { k32Bits, k64Bits };  // of sizes and places

std::string zip_of(const std::vector<Entry>& entries, const std::string& comment = "", Width width = Width::k32Bits) {
  const bool is_wide = width == Width::k64Bits;
  const auto narrow = [&](uint64_t number, size_t bytes) { return little(is_wide ? ~uint64_t{0} : number, bytes); };
  std::string file;
  std::string directory;
  for (const Entry& entry : entries) {
    const uint64_t size = entry.content.size() + entry.extra_size;
    const std::string sizes = little(0, 4) + narrow(size, 4) + narrow(size, 4) + little(entry.name.size(), 2);
    const std::string extra =
        "\x07\0\x02\0ab\x01\0\x18\0"s + little(size, 8) + little(size, 8) + little(file.size(), 8);
    directory += "PK\x01\x02\x14\0\x14\0"s + little(entry.flags, 2) + little(entry.method, 2) + little(0, 4) + sizes +
                 little(is_wide ? extra.size() : 0, 2) + little(0, 8) + little(0, 2) + narrow(file.size(), 4) +
                 entry.name + (is_wide ? extra : "");
    file += "PK\x03\x04\x14\0"s + little(entry.flags, 2) + little(entry.method, 2) + little(0, 4) + sizes +
            little(0, 2) + entry.name + entry.content;
  }
  const uint64_t end = file.size() + directory.size();
  const std::string end64 = "PK\x06\x06"s + little(44, 8) + little(45, 2) + little(45, 2) + little(0, 8) +
                            little(entries.size(), 8) + little(entries.size(), 8) + little(directory.size(), 8) +
                            little(file.size(), 8) + "PK\x06\x07"s + little(0, 4) + little(end, 8) + little(1, 4);
  return file + directory + (is_wide ? end64 : "") + "PK\x05\x06\0\0\0\0"s + narrow(entries.size(), 2) +
         narrow(entries.size(), 2) + narrow(directory.size(), 4) + narrow(file.size(), 4) + little(comment.size(), 2) +
         comment;
}

// {"w": a tensor of `elements` floats in storage 0}, with these sizes and strides (pickled tuples).
std::string tensor_pickle(const std::string& elements, const std::string& sizes, const std::string& strides,
                          const std::string& offset = "K\0"s) {
  return "}U\x01wctorch._utils\n_rebuild_tensor_v2\n((U\x07storagectorch\nFloatStorage\nU\x01\x30U\x03"s + "cpu" +
         elements + "tQ" + offset + sizes + strides + "\x89}ts.";
}

std::string reduced(std::string pickle) { return pickle.insert(pickle.size() - 2, "R"); }

std::string torch_zip(const std::string& pickle, const std::string& storage = std::string(16, 'a')) {
  return zip_of({{"m/data.pkl", pickle}, {"m/data/0", storage}});
}

std::string tensor_zip(const std::string& sizes, const std::string& strides, const std::string& offset = "K\0"s) {
  return torch_zip(reduced(tensor_pickle("K\x04", sizes, strides, offset)));
}

TEST_CASE("an archive with 64-bit or with odd fields is read, one that lies is refused") {
  const Entry pickle = {"m/data.pkl", reduced(tensor_pickle("K\x04", "K\x02K\x02\x86", "K\x02K\x01\x86"))};
  const Entry storage = {"m/data/0", std::string(16, 'a')};
  CHECK(read(zip_of({pickle, storage})).table.tensors.size() == 1);
  CHECK(read(zip_of({pickle, storage}, "a comment with PK\x05\x06 in it")).table.tensors.size() == 1);
  const std::string wide = zip_of({pickle, storage}, "", Width::k64Bits);
  CHECK(read(wide).table.tensors.size() == 1);
  CHECK_THAT(error_of(std::string(wide).replace(wide.size() - 22 - 20 + 8, 1, "\xff")), Contains("64-bit directory"));
  CHECK_THAT(error_of(std::string(wide).replace(wide.find("\x01\0\x18\0"s), 4, "\x01\0\x10\0"s)),
             Contains("64-bit sizes"));
  CHECK_THAT(error_of(zip_of({pickle})), Contains("the storage '0' is not in the archive"));
  CHECK_THAT(error_of(zip_of({pickle, {"m/data/0", "short"}})), Contains("the storage '0' has 5 bytes, 16 are needed"));
  CHECK_THAT(error_of(zip_of({pickle, storage, storage})), Contains("two entries 'm/data/0'"));
  CHECK_THAT(error_of(zip_of({pickle, {"m/data/0", storage.content, 8}})), Contains("is compressed (method 8)"));
  CHECK_THAT(error_of(zip_of({pickle, {"m/data/0", storage.content, 0, 1}})), Contains("is encrypted"));
  CHECK_THAT(error_of(zip_of({{"m/data.pkl", pickle.content, 0, 0, 20}, storage})), Contains("overlap"));
  CHECK_THAT(error_of(zip_of({pickle, {"m/data/0", storage.content, 0, 0, 4000000}})), Contains("does not fit into"));
  CHECK_THAT(error_of(zip_of({pickle, {"n/data.pkl", "x"}, storage})), Contains("2 of its 3 entries are named"));

  std::string bytes = zip_of({pickle, storage});
  const size_t end = bytes.size() - 22;
  const auto changed = [&](size_t at, const std::string& value) {
    return std::string(bytes).replace(at, value.size(), value);
  };
  CHECK_THAT(error_of(changed(end + 10, little(60000, 2))), Contains("60000 entries in"));
  CHECK_THAT(error_of(changed(end + 12, little(0xfffffff0, 4))), Contains("does not fit into the file"));
  CHECK_THAT(error_of(changed(end + 4, little(1, 2))), Contains("several disks"));
  CHECK_THAT(error_of(changed(0, "PK\x03\x05")), Contains("torch.save"));
}

TEST_CASE("tensors that leave their storage are refused, whatever their strides say") {
  const std::string max = "\x8a\x08\xff\xff\xff\xff\xff\xff\xff\x7f"s;
  const auto view = [&](const std::string& sizes, const std::string& strides, const std::string& offset = "K\0"s) {
    return error_of(tensor_zip(sizes, strides, offset));
  };
  CHECK(view("K\x04\x85", "K\x01\x85") == "no error");
  CHECK(view("K\x02K\x02\x86", "K\x01K\x02\x86") == "no error");
  CHECK(view("K\x01K\x04\x86", max + "K\x01\x86") == "no error");  // a stride that is never taken
  CHECK(view("K\0\x85"s, "K\x01\x85", max) == "no error");         // no elements
  CHECK_THAT(view("K\x05\x85", "K\x01\x85"), Contains("tensor 'w'") && Contains("leave its storage of 4 elements"));
  CHECK_THAT(view("K\x02\x85", "K\x04\x85"), Contains("leave its storage"));
  CHECK_THAT(view("K\x04\x85", "K\x01\x85", "K\x01"), Contains("leave its storage"));
  CHECK_THAT(view("K\x04\x85", max + "\x85"), Contains("leave its storage"));
  CHECK_THAT(view("K\x02K\x02\x86", max + max + "\x86"), Contains("leave its storage"));
  CHECK_THAT(view(max + "K\x02\x86", "K\0K\0\x86"s), Contains("more elements than any file"));
  CHECK_THAT(view(max + "\x85", "K\0\x85"s), Contains("more elements than any file"));
  CHECK_THAT(view("J\xff\xff\xff\x3f\x85"s, "K\0\x85"s), Contains("repeats its storage"));  // 4 GiB out of four bytes
  CHECK_THAT(view("J\xff\xff\xff\xff\x85"s, "K\x01\x85"), Contains("is no such number"));
  CHECK_THAT(view("K\x04\x85", "K\x01K\x01\x86"), Contains("not as many strides as sizes"));
  CHECK_THAT(view("K\x04", "K\x01\x85"), Contains("its sizes are no such list"));
  CHECK_THAT(view("N\x85", "K\x01\x85"), Contains("is no such number"));
}

TEST_CASE("storages that claim absurd sizes are refused before memory is taken") {
  const auto claim = [&](const std::string& elements) {
    return error_of(torch_zip(reduced(tensor_pickle(elements, "K\x01\x85", "K\x01\x85"))));
  };
  CHECK_THAT(claim("\x8a\x08\xff\xff\xff\xff\xff\xff\xff\x7f"s),
             Contains("storage '0' has 9223372036854775807 elements"));
  CHECK_THAT(claim("\x8a\x06\0\0\0\0\0\x10"s), Contains("16 bytes, 70368744177664 are needed"));
  CHECK_THAT(claim("J\xff\xff\xff\xff"s), Contains("storage '0' has -1 elements"));

  std::string legacy = read_file(kFolder + "module_legacy.bin");
  const size_t at = legacy.rfind("K\x06");  // of six elements, in the description of the first storage
  REQUIRE(at != std::string::npos);
  CHECK_THAT(error_of(legacy.replace(at, 2, "\x8a\x06\0\0\0\0\0\x10"s)), Contains("truncated") || Contains("two ways"));
}

}  // namespace
}  // namespace bertft
