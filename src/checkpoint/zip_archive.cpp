#include "checkpoint/zip_archive.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <utility>

#include "checkpoint/crc32.h"
#include "checkpoint/safetensors_header.h"
#include "core/error.h"
#include "core/text.h"

namespace bertft {
namespace {

constexpr uint32_t kLocalSignature = 0x04034b50;
constexpr uint32_t kCentralSignature = 0x02014b50;
constexpr uint32_t kEndSignature = 0x06054b50;
constexpr uint32_t kEnd64Signature = 0x06064b50;
constexpr uint32_t kLocator64Signature = 0x07064b50;
constexpr size_t kLocalBytes = 30;
constexpr size_t kCentralBytes = 46;
constexpr size_t kEndBytes = 22;
constexpr size_t kEnd64Bytes = 56;
constexpr size_t kLocator64Bytes = 20;
constexpr size_t kMaxComment = 65535;
constexpr uint64_t kMaxDirectoryBytes = uint64_t{64} << 20;  // a million entries
constexpr uint32_t kIn64Bits = 0xffffffff;                   // the value stands in the 64-bit extra field

// Little-endian numbers at fixed places of a record that is known to be long enough.
class Record {
 public:
  explicit Record(std::string_view bytes) : bytes_(bytes) {}
  uint16_t u16(size_t at) const { return static_cast<uint16_t>(number(at, 2)); }
  uint32_t u32(size_t at) const { return static_cast<uint32_t>(number(at, 4)); }
  uint64_t u64(size_t at) const { return number(at, 8); }

 private:
  uint64_t number(size_t at, size_t width) const {
    const std::string_view taken = bytes_.substr(at, width);
    check(taken.size() == width, "a field beyond the end of a zip record");
    uint64_t value = 0;
    for (size_t i = width; i-- > 0;) value = value << 8 | static_cast<unsigned char>(taken[i]);
    return value;
  }
  std::string_view bytes_;
};

// The fields of a central header that may stand in its 64-bit extra field instead.
struct WideFields {
  uint64_t bytes = 0;
  uint64_t stored_bytes = 0;
  uint64_t header_begin = 0;
};

// Nothing when the extra field is malformed or too short for what it must hold.
std::optional<WideFields> widen(const Record& header, std::string_view extra) {
  WideFields fields{header.u32(24), header.u32(20), header.u32(42)};
  std::vector<uint64_t*> missing;
  for (uint64_t* field : {&fields.bytes, &fields.stored_bytes, &fields.header_begin}) {
    if (*field == kIn64Bits) missing.push_back(field);
  }
  while (extra.size() >= 4) {
    const Record head(extra);
    const size_t size = head.u16(2);
    if (size > extra.size() - 4) return std::nullopt;
    if (head.u16(0) == 1) {
      if (size < 8 * missing.size()) return std::nullopt;
      for (size_t i = 0; i < missing.size(); ++i) *missing[i] = head.u64(4 + 8 * i);
      return fields;
    }
    extra.remove_prefix(4 + size);
  }
  return missing.empty() ? std::optional(fields) : std::nullopt;
}

}  // namespace

struct ZipArchive::Directory {
  uint64_t begin = 0;
  uint64_t bytes = 0;
  uint64_t entries = 0;
};

ZipArchive::ZipArchive(const InputFile& file) : file_(file) {
  const Directory directory = find_directory();
  parse_directory(directory);
  std::sort(entries_.begin(), entries_.end(), [](const ZipEntry& a, const ZipEntry& b) { return a.name < b.name; });
  const auto twice = std::adjacent_find(entries_.begin(), entries_.end(),
                                        [](const ZipEntry& a, const ZipEntry& b) { return a.name == b.name; });
  if (twice != entries_.end()) fail(fmt::format("the archive has two entries '{}'", excerpt(twice->name, 200)));
  check_overlaps();
}

void ZipArchive::fail(const std::string& what) const { throw_broken(file_.path(), what, kGetAgain); }

ZipArchive::Directory ZipArchive::find_directory() const {
  const uint64_t tail_bytes = std::min<uint64_t>(file_.size(), kEndBytes + kMaxComment);
  const uint64_t tail_begin = file_.size() - tail_bytes;
  const FileBytes tail = file_.read(tail_begin, static_cast<size_t>(tail_bytes));
  const std::string_view text = tail.text();
  size_t at = text.rfind("PK\x05\x06");
  while (at != std::string_view::npos &&
         (text.size() - at < kEndBytes || Record(text.substr(at)).u16(20) != text.size() - at - kEndBytes)) {
    at = at == 0 ? std::string_view::npos : text.rfind("PK\x05\x06", at - 1);
  }
  if (at == std::string_view::npos) fail("a zip archive without the directory at its end: the end is missing");
  const Record end(text.substr(at));
  check(end.u32(0) == kEndSignature, "the signature that was searched for");
  Directory directory{end.u32(16), end.u32(12), end.u16(10)};
  bool is_one_disk = end.u16(4) == 0 && end.u16(6) == 0;
  uint64_t limit = tail_begin + at;
  if (limit >= kLocator64Bytes) {
    const FileBytes locator_bytes = file_.read(limit - kLocator64Bytes, kLocator64Bytes);
    const Record locator(locator_bytes.text());
    if (locator.u32(0) == kLocator64Signature) {
      const uint64_t end64_begin = locator.u64(8);
      limit -= kLocator64Bytes;
      if (limit < kEnd64Bytes || end64_begin > limit - kEnd64Bytes) fail("the archive's 64-bit directory is damaged");
      const FileBytes end64_bytes = file_.read(end64_begin, kEnd64Bytes);
      const Record end64(end64_bytes.text());
      if (end64.u32(0) != kEnd64Signature) fail("the archive's 64-bit directory is damaged");
      directory = {end64.u64(48), end64.u64(40), end64.u64(32)};
      is_one_disk = end64.u32(16) == 0 && end64.u32(20) == 0;
      limit = end64_begin;
    }
  }
  if (!is_one_disk) fail("the archive is split over several disks");
  if (directory.bytes > limit || directory.begin > limit - directory.bytes) {
    fail(fmt::format("the archive's directory (bytes {} to {}) does not fit into the file", directory.begin,
                     directory.begin + directory.bytes));
  }
  if (directory.bytes > kMaxDirectoryBytes || directory.entries > directory.bytes / kCentralBytes) {
    fail(fmt::format("the archive's directory is said to have {} entries in {} bytes", directory.entries,
                     directory.bytes));
  }
  return directory;
}

void ZipArchive::parse_directory(const Directory& directory) {
  const FileBytes bytes = file_.read(directory.begin, static_cast<size_t>(directory.bytes));
  std::string_view rest = bytes.text();
  for (uint64_t i = 0; i < directory.entries; ++i) {
    const std::string which = fmt::format("entry {} of the archive's directory", i + 1);
    if (rest.size() < kCentralBytes || Record(rest).u32(0) != kCentralSignature) fail(which + " is damaged");
    const Record header(rest);
    const size_t name_bytes = header.u16(28);
    const size_t extra_bytes = header.u16(30);
    const size_t all_bytes = kCentralBytes + name_bytes + extra_bytes + header.u16(32);
    if (all_bytes > rest.size()) fail(which + " is cut");
    ZipEntry entry;
    entry.name = rest.substr(kCentralBytes, name_bytes);
    const std::string name = excerpt(entry.name, 200);
    if ((header.u16(8) & 1) != 0) fail(fmt::format("the entry '{}' is encrypted", name));
    const std::optional<WideFields> wide = widen(header, rest.substr(kCentralBytes + name_bytes, extra_bytes));
    if (!wide) fail(which + " is damaged in its 64-bit sizes");
    entry.method = header.u16(10);
    if (entry.method == 0 && wide->bytes != wide->stored_bytes) {
      fail(fmt::format("the entry '{}' is stored in another size", name));
    }
    entry.header_begin = wide->header_begin;
    entry.bytes = wide->stored_bytes;
    entry.crc = header.u32(16);
    place_data(entry, directory.begin);
    entries_.push_back(std::move(entry));
    rest.remove_prefix(all_bytes);
  }
}

void ZipArchive::place_data(ZipEntry& entry, uint64_t limit) const {
  const std::string name = excerpt(entry.name, 200);
  const auto fits = [&](uint64_t begin, uint64_t bytes) { return begin <= limit && bytes <= limit - begin; };
  if (!fits(entry.header_begin, kLocalBytes)) fail(fmt::format("the entry '{}' begins beyond the file's data", name));
  const FileBytes header_bytes = file_.read(entry.header_begin, kLocalBytes);
  const Record header(header_bytes.text());
  const uint64_t name_begin = entry.header_begin + kLocalBytes;
  const size_t name_bytes = header.u16(26);
  if (header.u32(0) != kLocalSignature || !fits(name_begin, name_bytes) ||
      file_.read(name_begin, name_bytes).text() != entry.name) {
    fail(fmt::format("the entry '{}' is not at the place that the directory gives", name));
  }
  entry.data_begin = name_begin + name_bytes + header.u16(28);
  if (!fits(entry.data_begin, entry.bytes)) {
    fail(fmt::format("the entry '{}' of {} bytes does not fit into the file", name, entry.bytes));
  }
}

void ZipArchive::check_overlaps() const {
  std::vector<const ZipEntry*> ordered;
  for (const ZipEntry& entry : entries_) ordered.push_back(&entry);
  std::sort(ordered.begin(), ordered.end(),
            [](const ZipEntry* a, const ZipEntry* b) { return a->header_begin < b->header_begin; });
  for (size_t i = 1; i < ordered.size(); ++i) {
    if (ordered[i - 1]->data_begin + ordered[i - 1]->bytes <= ordered[i]->header_begin) continue;
    fail(fmt::format("the entries '{}' and '{}' overlap", excerpt(ordered[i - 1]->name, 200),
                     excerpt(ordered[i]->name, 200)));
  }
}

const ZipEntry* ZipArchive::find(std::string_view name) const {
  const auto found = std::lower_bound(entries_.begin(), entries_.end(), name,
                                      [](const ZipEntry& entry, std::string_view n) { return entry.name < n; });
  return found != entries_.end() && found->name == name ? &*found : nullptr;
}

FileBytes ZipArchive::read(const ZipEntry& entry) const {
  if (entry.method != 0) {
    throw_broken(file_.path(),
                 fmt::format("the entry '{}' is compressed (method {})", excerpt(entry.name, 200), entry.method),
                 "torch.save stores its entries as they are: unpack the archive and pack it again without "
                 "compression (zip -0), or save it again");
  }
  FileBytes content = file_.read(entry.data_begin, static_cast<size_t>(entry.bytes));
  if (entry.crc != 0 && crc32(content.data.get(), content.size) != entry.crc) {
    fail(fmt::format("the checksum (CRC-32) of the entry '{}' does not fit its content", excerpt(entry.name, 200)));
  }
  return content;
}

}  // namespace bertft
