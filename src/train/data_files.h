// Reads and encodes the files of a run.
#pragma once

#include <memory>
#include <string>

#include "data/columns.h"
#include "data/dataset.h"
#include "data/table.h"
#include "tasks/task.h"
#include "tokenize/tokenizer.h"
#include "train/model_settings.h"

namespace bertft {

// Logs what the reader found worth saying (format chosen, repaired bytes). Throws as read_table.
std::shared_ptr<const Table> read_split(const std::string& path, const TableRequest& request);

// The encode settings that a model's settings imply.
EncodeSettings encode_settings(const ModelSettings& settings, int threads);

}  // namespace bertft
