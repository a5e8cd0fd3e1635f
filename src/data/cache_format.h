// The form of a file of the dataset cache, in one place: writer, reader and their tests take it from here.
//
//   byte 0      CacheHeader, then zeros up to kCacheBodyBegin
//   then        the arrays of for_each_array, `ids` first, each at a multiple of 64 bytes; then the notes
//
// Numbers are those of the machine that wrote them (kCacheByteOrder says so): the cache is local to a node.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>

#include "data/data_notes.h"

namespace bertft {

inline constexpr std::array<char, 8> kCacheMagic = {'B', 'F', 'T', 'C', 'A', 'C', 'H', 'E'};
// To be raised whenever the form, an array, the notes or what a reader makes of a file changes.
inline constexpr uint32_t kCacheVersion = 1;
inline constexpr uint32_t kCacheByteOrder = 0x01020304;
inline constexpr uint64_t kCacheBodyBegin = 4096;
inline constexpr uint64_t kCacheAlignment = 64;
inline constexpr size_t kCacheArrays = 17;  // of for_each_array

struct CacheSection {
  uint64_t offset = 0;
  uint64_t bytes = 0;
};

struct CacheHeader {
  std::array<char, 8> magic = kCacheMagic;
  uint32_t version = kCacheVersion;
  uint32_t byte_order = kCacheByteOrder;
  uint64_t file_bytes = 0;
  uint64_t body_hash = 0;  // StreamHash of everything from kCacheBodyBegin on
  uint64_t feature_width = 0;
  std::array<CacheSection, kCacheArrays> arrays;
  CacheSection notes;
  uint64_t header_hash = 0;  // hash64 of all fields before it
};
static_assert(sizeof(CacheHeader) <= kCacheBodyBegin && sizeof(CacheHeader) % 8 == 0);

uint64_t header_hash(const CacheHeader& header);

// The notes with the key that the data set belongs to, as bytes. The second throws DataError for bytes that are no such
// thing.
std::string packed_notes(const std::string& key, const DataNotes& notes);
DataNotes unpacked_notes(std::string_view bytes, std::string& key);

}  // namespace bertft
