#include "train/data_files.h"

#include <fmt/format.h>

#include "core/log.h"
#include "data/reader.h"

namespace bertft {

std::shared_ptr<const Table> read_split(const std::string& path, const TableRequest& request) {
  auto table = std::make_shared<const Table>(read_table(path, request));
  const ReadNotes& notes = table->notes();
  log::info(fmt::format("read {}: {} rows as {} ({})", path, table->rows(), notes.format, notes.header_reason));
  if (notes.replaced_parts > 0) {
    log::warn(fmt::format("{}: {} invalid UTF-8 parts in {} lines were replaced by U+FFFD, first in line(s) {}", path,
                          notes.replaced_parts, notes.replaced_lines, fmt::join(notes.first_replaced_lines, ", ")));
  }
  return table;
}

EncodeSettings encode_settings(const ModelSettings& settings, int threads) {
  EncodeSettings encode;
  encode.options.max_length = settings.max_length;
  encode.options.truncation = settings.truncation;
  encode.threads = threads;
  return encode;
}

}  // namespace bertft
