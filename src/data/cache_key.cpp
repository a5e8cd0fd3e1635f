#include "data/cache_key.h"

#include <fmt/format.h>
#include <sys/stat.h>

#include <cerrno>
#include <cstring>
#include <filesystem>

#include "core/error.h"
#include "core/hash.h"
#include "data/data_path.h"
#include "tokenize/tokenizer.h"

namespace bertft {
namespace {

std::string file_line(const std::string& path) {
  struct stat status {};
  if (::stat(path.c_str(), &status) != 0) {
    throw DataError(fmt::format("cannot read {}: {}. Check the path and its permissions", path, std::strerror(errno)));
  }
  return fmt::format("file {} size {} changed {}.{:09} device {} inode {}\n",
                     std::filesystem::absolute(path).lexically_normal().string(), status.st_size, status.st_mtim.tv_sec,
                     status.st_mtim.tv_nsec, status.st_dev, status.st_ino);
}

// Lengths keep neighbouring texts apart, whatever they hold.
std::string request_lines(const TableRequest& r) {
  std::string lines;
  const auto add = [&](const char* name, const std::string& value) {
    lines += fmt::format("{} {}:{}\n", name, value.size(), value);
  };
  add("text", r.columns.text);
  add("text_pair", r.columns.text_pair);
  add("label", r.columns.label);
  for (const std::string& name : r.columns.labels) add("labels", name);
  add("id", r.columns.id);
  add("format", r.format);
  add("header", r.header);
  add("delimiter", r.delimiter);
  add("schema", r.schema);
  add("encoding", r.encoding);
  return lines + fmt::format("max_splits {} invalid_utf8 {} bad_row {} max_rows {} needs_label {} pair_optional {}\n",
                             r.max_splits, static_cast<int>(r.invalid_utf8), static_cast<int>(r.bad_row), r.max_rows,
                             r.needs_label, r.is_pair_optional);
}

}  // namespace

std::string cache_key(const std::vector<std::string>& paths, const TableRequest& request, const Tokenizer& tokenizer,
                      const EncoderKey& encoder) {
  std::string key;
  for (const std::string& path : paths) key += fmt::format("path {}:{}\n", path.size(), path);
  for (const std::string& file : expand_paths(paths)) key += file_line(file);
  key += request_lines(request);
  return key + fmt::format("tokenizer {}\nencoder {} max_length {} truncation {} exactly {}\n",
                           hash_text(tokenizer.hash()), encoder.name, encoder.options.max_length,
                           static_cast<int>(encoder.options.truncation), encoder.options.count_exactly);
}

}  // namespace bertft
