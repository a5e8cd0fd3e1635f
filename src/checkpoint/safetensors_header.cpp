#include "checkpoint/safetensors_header.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <nlohmann/json.hpp>
#include <tuple>
#include <unordered_set>
#include <utility>

#include "core/error.h"
#include "core/text.h"

namespace bertft {

const char* const kGetAgain = "The file is incomplete or damaged: copy or download it again";
const char* const kSaveAgain = "Save it again with the safetensors package, or take the file from its first source";

void throw_broken(const std::string& path, const std::string& what, const std::string& remedy) {
  throw CheckpointError(fmt::format("{}: {}. {}", path, what, remedy));
}

namespace {

using Json = nlohmann::json;

// Follows the events of the parser through the three levels that a header may have. It sees every key, also one that
// comes twice, which a parsed JSON object would hide.
class HeaderReader final : public nlohmann::json_sax<Json> {
 public:
  explicit HeaderReader(const std::string& path) : path_(path) {}

  Header take() { return std::move(header_); }

  bool null() override { return refuse("null"); }
  bool boolean(bool) override { return refuse("true or false"); }
  bool number_float(number_float_t, const string_t& text) override { return refuse("the number " + excerpt(text)); }
  bool binary(binary_t&) override { return refuse("binary data"); }

  bool number_integer(number_integer_t value) override {
    if (level_ == Level::kShape) fail(fmt::format("the shape has the negative size {}", value), kSaveAgain);
    return refuse(fmt::format("the number {}", value));
  }

  bool number_unsigned(number_unsigned_t value) override {
    if (level_ == Level::kShape) {
      if (value > uint64_t{std::numeric_limits<int64_t>::max()}) {
        fail(fmt::format("the shape has the size {}, more than any file holds", value), kSaveAgain);
      }
      entry_.shape.push_back(static_cast<int64_t>(value));
      return true;
    }
    if (level_ != Level::kOffsets) return refuse(fmt::format("the number {}", value));
    if (offset_count_ == 0) entry_.begin = value;
    if (offset_count_ == 1) entry_.end = value;
    ++offset_count_;
    return true;
  }

  bool string(string_t& text) override {
    if (level_ == Level::kMetadata) {
      if (!header_.metadata.emplace(field_, text).second) {
        fail(fmt::format("the key '{}' comes twice", excerpt(field_)), kSaveAgain);
      }
      return true;
    }
    if (level_ != Level::kEntry || field_ != "dtype") return refuse(fmt::format("the text '{}'", excerpt(text)));
    const std::optional<DType> dtype = find_dtype(text);
    if (!dtype) {
      fail(fmt::format("unknown element type (dtype) '{}'", excerpt(text)),
           "Save the weights again as F32, F16 or BF16");
    }
    entry_.dtype = *dtype;
    return true;
  }

  bool key(string_t& name) override {
    if (level_ == Level::kTop) {
      if (!names_.insert(name).second) {
        throw_broken(path_, fmt::format("the header has '{}' twice", excerpt(name, 200)), kSaveAgain);
      }
      entry_ = {};
      entry_.name = name;
    } else {
      field_ = name;
      if (level_ == Level::kEntry) mark_field();
    }
    return true;
  }

  bool start_object(size_t) override {
    if (level_ == Level::kOutside) {
      level_ = Level::kTop;
    } else if (level_ == Level::kTop) {
      level_ = entry_.name == kMetadataKey ? Level::kMetadata : Level::kEntry;
      has_dtype_ = has_shape_ = has_offsets_ = false;
      offset_count_ = 0;
    } else {
      return refuse("a nested object");
    }
    return true;
  }

  bool end_object() override {
    if (level_ == Level::kEntry) finish_entry();
    level_ = level_ == Level::kTop ? Level::kOutside : Level::kTop;
    return true;
  }

  bool start_array(size_t) override {
    if (level_ == Level::kEntry && field_ == "shape") {
      level_ = Level::kShape;
    } else if (level_ == Level::kEntry && field_ == "data_offsets") {
      level_ = Level::kOffsets;
    } else {
      return refuse("a list");
    }
    return true;
  }

  bool end_array() override {
    level_ = Level::kEntry;
    return true;
  }

  bool parse_error(size_t position, const std::string& last_token, const Json::exception&) override {
    throw_broken(path_,
                 fmt::format("the header is not valid JSON at byte {} of the file, near '{}'", 8 + position,
                             excerpt(last_token)),
                 kGetAgain);
  }

 private:
  enum class Level { kOutside, kTop, kMetadata, kEntry, kShape, kOffsets };

  [[noreturn]] void fail(const std::string& what, const std::string& remedy) const {
    const bool is_metadata = level_ == Level::kMetadata || entry_.name == kMetadataKey;
    throw_broken(path_, (is_metadata ? "__metadata__" : "tensor '" + excerpt(entry_.name, 200) + "'") + ": " + what,
                 remedy);
  }

  // A value of a kind that must not stand where it was met.
  bool refuse(const std::string& value) const {
    switch (level_) {
      case Level::kMetadata:
        fail(fmt::format("the value of '{}' is {}, only text is allowed", excerpt(field_), value), kSaveAgain);
      case Level::kEntry:
        fail(fmt::format("'{}' is {}, not {}", field_, value, field_ == "dtype" ? "a text" : "a list of numbers"),
             kSaveAgain);
      case Level::kShape:
      case Level::kOffsets:
        fail(fmt::format("'{}' holds {}, only whole numbers are allowed", field_, value), kSaveAgain);
      case Level::kOutside:
      case Level::kTop:
        break;
    }
    fail(fmt::format("{} where an object was expected", value), kSaveAgain);
  }

  void mark_field() {
    bool* const has_field = field_ == "dtype"          ? &has_dtype_
                            : field_ == "shape"        ? &has_shape_
                            : field_ == "data_offsets" ? &has_offsets_
                                                       : nullptr;
    if (has_field == nullptr) {
      fail(fmt::format("unknown key '{}' (known: dtype, shape, data_offsets)", excerpt(field_)), kSaveAgain);
    }
    if (*has_field) fail(fmt::format("the key '{}' comes twice", field_), kSaveAgain);
    *has_field = true;
  }

  void finish_entry() {
    const char* const missing = !has_dtype_     ? "dtype"
                                : !has_shape_   ? "shape"
                                : !has_offsets_ ? "data_offsets"
                                                : nullptr;
    if (missing != nullptr) fail(fmt::format("the key '{}' is missing", missing), kSaveAgain);
    if (offset_count_ != 2) {
      fail(fmt::format("data_offsets has {} numbers, two are needed", offset_count_), kSaveAgain);
    }
    header_.entries.push_back(std::move(entry_));
    entry_ = {};
  }

  const std::string& path_;
  Header header_;
  std::unordered_set<std::string> names_;
  Level level_ = Level::kOutside;
  HeaderEntry entry_;
  std::string field_;
  bool has_dtype_ = false;
  bool has_shape_ = false;
  bool has_offsets_ = false;
  size_t offset_count_ = 0;
};

void check_extent(const HeaderEntry& entry, const std::string& path) {
  const std::string tensor = fmt::format("tensor '{}'", excerpt(entry.name, 200));
  if (entry.end < entry.begin) {
    throw_broken(path, fmt::format("{} ends at byte {} before it begins at {}", tensor, entry.end, entry.begin),
                 kSaveAgain);
  }
  const std::optional<int64_t> count = checked_element_count(entry.shape);
  uint64_t bytes = 0;
  if (!count || __builtin_mul_overflow(static_cast<uint64_t>(*count), dtype_bytes(entry.dtype), &bytes)) {
    throw_broken(path,
                 fmt::format("{}: the shape {} has more elements than any file holds", tensor, shape_text(entry.shape)),
                 kSaveAgain);
  }
  if (bytes != entry.end - entry.begin) {
    throw_broken(path,
                 fmt::format("{}: {} of shape {} takes {} bytes, its data_offsets span {}", tensor,
                             dtype_name(entry.dtype), shape_text(entry.shape), bytes, entry.end - entry.begin),
                 kSaveAgain);
  }
}

}  // namespace

Header parse_header(std::string_view json, const std::string& path) {
  if (json.empty() || json.front() != '{') {
    throw_broken(path, fmt::format("the header does not begin with '{{' but with '{}'", excerpt(json, 20)), kGetAgain);
  }
  // The parser would take a zero byte for the end of the text.
  if (const size_t zero = json.find('\0'); zero != std::string_view::npos) {
    throw_broken(path, fmt::format("the header has a zero byte at byte {} of the file", 8 + zero), kGetAgain);
  }
  HeaderReader reader(path);
  Json::sax_parse(json.begin(), json.end(), &reader);
  return reader.take();
}

void check_layout(std::vector<HeaderEntry>& entries, uint64_t data_bytes, const std::string& path) {
  std::sort(entries.begin(), entries.end(), [](const HeaderEntry& a, const HeaderEntry& b) {
    return std::tie(a.begin, a.end, a.name) < std::tie(b.begin, b.end, b.name);
  });
  uint64_t covered = 0;
  const HeaderEntry* previous = nullptr;
  for (const HeaderEntry& entry : entries) {
    check_extent(entry, path);
    const std::string name = excerpt(entry.name, 200);
    if (entry.begin < covered) {
      throw_broken(path,
                   fmt::format("tensors '{}' and '{}' overlap at byte {} of the data", excerpt(previous->name, 200),
                               name, entry.begin),
                   kSaveAgain);
    }
    if (entry.begin > covered) {
      throw_broken(path,
                   fmt::format("a hole: bytes {} to {} of the data, before tensor '{}', belong to no tensor", covered,
                               entry.begin, name),
                   kSaveAgain);
    }
    if (entry.end > data_bytes) {
      throw_broken(path,
                   fmt::format("truncated: tensor '{}' ends at byte {} of the data, the file has only {}", name,
                               entry.end, data_bytes),
                   kGetAgain);
    }
    covered = entry.end;
    previous = &entry;
  }
  if (covered != data_bytes) {
    throw_broken(path, fmt::format("{} bytes after the last tensor belong to no tensor", data_bytes - covered),
                 kGetAgain);
  }
}

}  // namespace bertft
