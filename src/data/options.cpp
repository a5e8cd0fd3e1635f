#include "data/options.h"

namespace bertft {
namespace {

std::vector<Option> file_options(DataOptions& options) {
  return {
      {.key = "train", .target = &options.train, .help = "file of training rows", .kind = OptionKind::kPath},
      {.key = "dev",
       .target = &options.dev,
       .help = "file of rows that choose the best model",
       .kind = OptionKind::kPath},
      {.key = "test",
       .target = &options.test,
       .help = "file of rows scored once, at the end, with the best model",
       .kind = OptionKind::kPath},
      {.key = "format",
       .target = &options.format,
       .help = "form of the files: tsv has a tab between columns and no quoting; auto looks at name, then content",
       .choices = {"auto", "tsv"}},
      {.key = "header",
       .target = &options.header,
       .help = "whether line 1 names the columns; auto: when the wanted names stand there",
       .choices = {"auto", "true", "false"}},
      {.key = "max_rows",
       .target = &options.max_rows,
       .help = "use only this many rows from the start of each file; 0 for all",
       .unit = "rows",
       .min = 0},
  };
}

std::vector<Option> column_options(DataOptions& options) {
  return {
      {.key = "columns.text",
       .target = &options.columns.text,
       .help = "column of the text: its name, or its position from 1 where no header line is"},
      {.key = "columns.text_pair",
       .target = &options.columns.text_pair,
       .help = "column of the second text of a pair; empty for single texts"},
      {.key = "columns.label", .target = &options.columns.label, .help = "column of the label"},
      {.key = "columns.id", .target = &options.columns.id, .help = "column that identifies a row; empty for none"},
      {.key = "labels",
       .target = &options.labels,
       .help = "all labels in the order of their numbers; empty: those of the training rows, sorted"},
  };
}

}  // namespace

OptionTable data_option_table(DataOptions& options) {
  OptionTable table{"data", file_options(options)};
  for (Option& option : column_options(options)) table.options.push_back(std::move(option));
  table.not_in_this_build = {
      {"format=csv", "convert the file to tab-separated columns"},
      {"format=jsonl", "convert the file to tab-separated columns"},
      {"delimiter", "columns are separated by a tab; convert the file"},
      {"max_splits", "columns are separated by a tab; convert the file"},
      {"schema", "give the file a header line, or set data.columns to positions counted from 1"},
      {"label_map", "write the wanted labels into the file"},
      {"label_pattern", "write the wanted labels into the file"},
      {"label_type", "each row has one label out of a fixed set"},
      {"unknown_label", "a label that training lacks is an error; remove such rows"},
      {"bad_row", "a faulty row is an error; mend or remove it"},
      {"encoding", "files are UTF-8; convert with iconv"},
      {"invalid_utf8", "invalid bytes are replaced by U+FFFD and counted"},
      {"dev_fraction", "split the file and set data.dev"},
      {"cache_dir", "texts are tokenized at each start"},
  };
  return table;
}

}  // namespace bertft
