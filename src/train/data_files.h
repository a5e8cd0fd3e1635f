// Reads and encodes the files of a run.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "data/columns.h"
#include "data/dataset.h"
#include "data/row_stream.h"
#include "data/table.h"
#include "tasks/task.h"
#include "tokenize/tokenizer.h"
#include "train/model_settings.h"

namespace bertft {

// All rows of files, patterns and folders. Logs what the reader found worth saying (format chosen, repaired bytes, rows
// left out). Throws as open_rows and RowStream::next.
std::shared_ptr<const Table> read_split(const std::vector<std::string>& paths, const TableRequest& request);

// The same for a stream that is open.
std::shared_ptr<const Table> read_split(RowStream& stream);

// The encode settings that a model's settings imply.
EncodeSettings encode_settings(const ModelSettings& settings, int threads);

}  // namespace bertft
