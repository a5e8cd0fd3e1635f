#include "data/cache_format.h"

#include <cstddef>
#include <cstring>
#include <vector>

#include "core/error.h"
#include "core/hash.h"

namespace bertft {
namespace {

// One list of fields serves both directions: Pack appends them, Unpack fills them.
class Pack {
 public:
  void operator()(int64_t value) { bytes_.append(reinterpret_cast<const char*>(&value), sizeof value); }
  void operator()(uint64_t value) { (*this)(static_cast<int64_t>(value)); }
  void operator()(bool value) { (*this)(int64_t{value}); }
  void operator()(char32_t value) { (*this)(static_cast<int64_t>(value)); }
  void operator()(const std::string& text) {
    (*this)(static_cast<int64_t>(text.size()));
    bytes_ += text;
  }
  template <typename T>
  void operator()(const std::vector<T>& list) {
    (*this)(static_cast<int64_t>(list.size()));
    for (const T& one : list) (*this)(one);
  }
  void operator()(const UnknownCharacter& one) {
    (*this)(one.code);
    (*this)(one.count);
  }
  const std::string& bytes() const { return bytes_; }

 private:
  std::string bytes_;
};

class Unpack {
 public:
  explicit Unpack(std::string_view bytes) : rest_(bytes) {}

  void operator()(int64_t& value) { std::memcpy(&value, take(sizeof value).data(), sizeof value); }
  void operator()(uint64_t& value) { value = static_cast<uint64_t>(number()); }
  void operator()(bool& value) { value = number() != 0; }
  void operator()(char32_t& value) { value = static_cast<char32_t>(number()); }
  void operator()(std::string& text) { text = take(static_cast<uint64_t>(number())); }
  template <typename T>
  void operator()(std::vector<T>& list) {
    const auto count = static_cast<uint64_t>(number());
    if (count > rest_.size()) fail();  // an element takes a byte at least
    list.resize(count);
    for (T& one : list) (*this)(one);
  }
  void operator()(UnknownCharacter& one) {
    (*this)(one.code);
    (*this)(one.count);
  }
  void finish() const {
    if (!rest_.empty()) fail();
  }

 private:
  int64_t number() {
    int64_t value = 0;
    (*this)(value);
    return value;
  }
  std::string_view take(uint64_t bytes) {
    if (bytes > rest_.size()) fail();
    const std::string_view taken = rest_.substr(0, bytes);
    rest_.remove_prefix(bytes);
    return taken;
  }
  [[noreturn]] static void fail() { throw DataError("the notes of a cached data set are damaged"); }

  std::string_view rest_;
};

// Every field of the notes.
template <typename Visit, typename Notes>
void visit_notes(Visit& visit, Notes& notes) {
  visit(notes.paths);
  visit(notes.is_pair);
  visit(notes.label_column);
  visit(notes.label_texts);
  visit(notes.unknown_characters);
  auto& read = notes.read;
  visit(read.format);
  visit(read.format_reason);
  visit(read.header_reason);
  visit(read.encoding);
  visit(read.has_header);
  visit(read.has_byte_order_mark);
  visit(read.is_cut_by_max_rows);
  visit(read.content_hash);
  visit(read.files);
  visit(read.lines);
  visit(read.crlf_lines);
  visit(read.dropped_empty_lines);
  visit(read.replaced_parts);
  visit(read.replaced_lines);
  visit(read.first_replaced_places);
  visit(read.skipped_rows);
  visit(read.first_skipped);
  visit(read.broken_rows);
  visit(read.first_broken);
  visit(read.rows_with_other_keys);
  visit(read.repeated_keys);
}

}  // namespace

uint64_t header_hash(const CacheHeader& header) { return hash64(&header, offsetof(CacheHeader, header_hash), 0); }

std::string packed_notes(const std::string& key, const DataNotes& notes) {
  Pack pack;
  pack(key);
  visit_notes(pack, notes);
  return pack.bytes();
}

DataNotes unpacked_notes(std::string_view bytes, std::string& key) {
  Unpack unpack(bytes);
  DataNotes notes;
  unpack(key);
  visit_notes(unpack, notes);
  unpack.finish();
  return notes;
}

}  // namespace bertft
