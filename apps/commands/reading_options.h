// How evaluate and predict read their input: as the model's training files, unless the command line says otherwise.
#pragma once

#include <CLI/CLI.hpp>
#include <optional>
#include <string>
#include <vector>

#include "data/columns.h"
#include "train/model_settings.h"

namespace bertft {

class ReadingOptions {
 public:
  // --columns, --input-format, --header, --delimiter, --max-splits, --schema, --encoding, --invalid-utf8.
  void declare(CLI::App& app);

  // For the rows of `path` ("-": standard input). --input-format replaces all that the training files say of the form;
  // the other options replace one value each. Throws ConfigError naming the option.
  TableRequest request(const ModelSettings& settings, const std::string& path, bool needs_label) const;

 private:
  std::vector<std::string> columns_;
  std::optional<std::string> format_;
  std::optional<std::string> header_;
  std::optional<std::string> delimiter_;
  std::optional<int64_t> max_splits_;
  std::optional<std::string> schema_;
  std::optional<std::string> encoding_;
  std::optional<std::string> invalid_utf8_;
};

// Overrides `columns` with text=NAME,text_pair=NAME,label=NAME,id=NAME; a comma inside a name is written \, . Throws
// ConfigError for a role that does not exist.
void apply_columns(ColumnNames& columns, const std::string& assignments);

}  // namespace bertft
