// Reads zip archives whose entries are stored without compression, which is how torch.save writes: the directory at the
// end (with its 64-bit form), checked against the file before anything is read. A library would bring decompression,
// writing and encryption that no file of weights needs.
// Source: PKWARE APPNOTE 6.3.10, sections 4.3 and 4.5.3.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "checkpoint/input_file.h"

namespace bertft {

struct ZipEntry {
  std::string name;
  uint64_t header_begin = 0;  // of the entry's own header in the file
  uint64_t data_begin = 0;
  uint64_t bytes = 0;   // in the file
  uint16_t method = 0;  // of compression; 0: stored as it is
  uint32_t crc = 0;     // 0: not computed by the writer (torch.serialization.set_crc32_options(False))
};

class ZipArchive {
 public:
  // Reads the directory. `file` must outlive the archive. CheckpointError: no directory (the file was cut), several
  // disks, an entry that is encrypted, two of one name, entries that overlap or leave the file,
  // a directory and an entry's own header that disagree.
  explicit ZipArchive(const InputFile& file);

  const std::vector<ZipEntry>& entries() const { return entries_; }  // sorted by name
  const ZipEntry* find(std::string_view name) const;                 // nullptr when there is none

  // The content, compared with its checksum. CheckpointError when they differ, and for a compressed entry, by its name.
  FileBytes read(const ZipEntry& entry) const;

 private:
  struct Directory;
  Directory find_directory() const;
  void parse_directory(const Directory& directory);
  void place_data(ZipEntry& entry, uint64_t limit) const;
  void check_overlaps() const;
  [[noreturn]] void fail(const std::string& what) const;

  const InputFile& file_;
  std::vector<ZipEntry> entries_;
};

}  // namespace bertft
