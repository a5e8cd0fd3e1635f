#include "train/data_files.h"

#include <fmt/format.h>

#include "core/log.h"
#include "data/read_notes.h"

namespace bertft {

std::shared_ptr<const Table> read_split(RowStream& stream) {
  auto table = std::make_shared<const Table>(read_rest(stream));
  const ReadNotes& notes = table->notes();
  log::info(fmt::format("read {}: {} rows as {} ({}; {})", table->path(), table->rows(), notes.format,
                        notes.format_reason, notes.header_reason));
  for (const std::string& warning : read_warnings(notes)) log::warn(table->path() + ": " + warning);
  return table;
}

std::shared_ptr<const Table> read_split(const std::vector<std::string>& paths, const TableRequest& request) {
  return read_split(*open_rows(paths, request));
}

EncodeSettings encode_settings(const ModelSettings& settings, int threads) {
  EncodeSettings encode;
  encode.options.max_length = settings.max_length;
  encode.options.truncation = settings.truncation;
  encode.threads = threads;
  return encode;
}

}  // namespace bertft
