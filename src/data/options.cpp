#include "data/options.h"

#include <fmt/format.h>

#include <utility>

#include "core/error.h"
#include "core/text.h"
#include "data/schema.h"

namespace bertft {
namespace {

std::vector<Option> file_options(DataOptions& options) {
  return {
      {.key = "train",
       .target = &options.train,
       .help = "training rows: a file, a list, a pattern (*, ?, [...]), or a folder with a sub-folder of .txt files "
               "for each class",
       .kind = OptionKind::kPath},
      {.key = "dev",
       .target = &options.dev,
       .help = "rows that choose the best model: as train",
       .kind = OptionKind::kPath},
      {.key = "test",
       .target = &options.test,
       .help = "rows scored once, at the end, with the best model: as train",
       .kind = OptionKind::kPath},
      {.key = "max_rows",
       .target = &options.max_rows,
       .help = "use only this many rows from the start of each of train, dev and test; 0 for all",
       .unit = "rows",
       .min = 0},
  };
}

std::vector<Option> form_options(DataOptions& options) {
  return {
      {.key = "format",
       .target = &options.format,
       .help =
           "form of the files: tsv has a tab between columns and no quoting, csv has quoting, jsonl one JSON object "
           "per line; auto looks at name, then content",
       .choices = {"auto", "tsv", "csv", "jsonl"}},
      {.key = "header",
       .target = &options.header,
       .help = "whether line 1 names the columns; auto: when the wanted names stand there",
       .choices = {"auto", "true", "false"}},
      {.key = "delimiter",
       .target = &options.delimiter,
       .help = "the one character between columns, \"\\t\" for a tab; empty: tab for tsv, comma for csv"},
      {.key = "max_splits",
       .target = &options.max_splits,
       .help = "divide a line at its first delimiters only, this many; the rest is the last column; 0: at all of them",
       .min = 0},
      {.key = "schema",
       .target = &options.schema,
       .help = "names of the columns of files without header line: name:type:length,... (label:str:1,text:str:1)"},
      {.key = "encoding",
       .target = &options.encoding,
       .help = "encoding of the files; a byte order mark of UTF-8 or UTF-16 wins over it",
       .choices = {"utf-8", "utf-16", "gb18030"}},
      {.key = "invalid_utf8",
       .target = &options.invalid_utf8,
       .help = "parts that are no characters: replace by U+FFFD and count, or treat the row as error, or skip it",
       .choices = {"replace", "error", "skip"}},
      {.key = "bad_row",
       .target = &options.bad_row,
       .help = "rows that have not the form of their file: error names all of them, skip leaves them out and counts",
       .choices = {"error", "skip"}},
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
      {.key = "columns.labels",
       .target = &options.columns.labels,
       .help = "several columns of 0 and 1, one per label, instead of columns.label; needs label_type: multi"},
      {.key = "columns.id", .target = &options.columns.id, .help = "column that identifies a row; empty for none"},
  };
}

std::vector<Option> label_options(DataOptions& options) {
  return {
      {.key = "labels",
       .target = &options.labels,
       .help =
           "all labels in the order of their numbers, or a file with one a line; empty: those of the training rows, "
           "sorted",
       .kind = OptionKind::kListOrPath},
      {.key = "label_map",
       .target = &options.label_map,
       .help = "label for a text in the file; texts that are not named here are labels as they are"},
      {.key = "label_pattern",
       .target = &options.label_pattern,
       .help = "regular expression (ECMAScript, on bytes): the label is its first group; empty for the whole cell"},
      {.key = "label_type",
       .target = &options.label_type,
       .help = "what a label cell holds: one label, several (a JSON list, or names joined by commas), or a real number",
       .choices = {"single", "multi", "real"}},
      {.key = "unknown_label",
       .target = &options.unknown_label,
       .help = "rows with a label that is none of the labels, or without one: error, or skip and count them",
       .choices = {"error", "skip"}},
      {.key = "cache_dir",
       .target = &options.cache_dir,
       .help =
           "folder that keeps tokenized files for the next start, best on a local disk: none for no cache, empty for "
           "bert_finetune-cache-UID in $TMPDIR or /tmp"},
      {.key = "dev_fraction",
       .target = &options.dev_fraction,
       .help = "part of the training rows that becomes dev, chosen by text and seed; 0 for none",
       .min = 0,
       .max = 0.999},
  };
}

}  // namespace

LabelSettings label_settings(const DataOptions& options) {
  return {.type = parse_label_type(options.label_type),
          .given = options.labels,
          .columns = options.columns.labels,
          .map = options.label_map,
          .pattern = options.label_pattern,
          .unknown = parse_unknown_label(options.unknown_label)};
}

void check_file_form(const FileForm& form) {
  const std::string& delimiter = form.delimiter;
  const bool is_tab = delimiter == "\\t";
  if (!delimiter.empty() && !is_tab) {
    const auto byte = static_cast<unsigned char>(delimiter[0]);
    const bool is_one = delimiter.size() == 1 && byte < 0x80;
    if (!is_one || byte == '"' || byte == '\n' || byte == '\r' || byte == '\0') {
      throw ConfigError(
          fmt::format("data.delimiter: '{}' is not one ASCII character, or one that cannot divide columns; "
                      "write for example \",\", \";\" or \"\\t\"",
                      excerpt(delimiter)));
    }
  }
  if (form.format == "jsonl") {
    for (const auto& [is_set, key] : {std::pair(!delimiter.empty(), "delimiter"),
                                      {form.max_splits > 0, "max_splits"},
                                      {!form.schema.empty(), "schema"},
                                      {form.header != "auto", "header"}}) {
      if (is_set)
        throw ConfigError(fmt::format("data.{}: JSON Lines has no such thing; remove it or data.format", key));
    }
  }
  if (form.format == "csv" && form.max_splits > 0) {
    throw ConfigError("data.max_splits: it is for files without quoting; set data.format: tsv with data.delimiter");
  }
  if (form.schema.empty()) return;
  schema_names(form.schema);
  if (form.header == "true") {
    throw ConfigError("data.header is true, but data.schema is for files without a header line; remove one of them");
  }
}

OptionTable data_option_table(DataOptions& options) {
  OptionTable table{"data", file_options(options)};
  for (Option& option : form_options(options)) table.options.push_back(std::move(option));
  for (Option& option : column_options(options)) table.options.push_back(std::move(option));
  for (Option& option : label_options(options)) table.options.push_back(std::move(option));
  return table;
}

}  // namespace bertft
