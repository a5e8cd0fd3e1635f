// One interface for all formats: a file as records of cells. What to do about faulty ones is decided behind it, in
// row_sink.h, once for all formats.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "data/columns.h"
#include "data/line_reader.h"
#include "data/text_arena.h"

namespace bertft {

struct Record {
  int64_t line = 0;                     // on which it starts
  std::vector<std::string_view> cells;  // views into the arena or into lines; data() == nullptr: missing
  std::string_view text;                // its first line, for messages
  std::string_view raw;                 // JSON Lines: the whole line
  bool is_empty_line = false;
  std::string fault;               // why it is no proper record, with what to look at; "" for good ones
  bool has_other_keys = false;     // JSON Lines: keys that make no column
  bool has_repeated_keys = false;  // JSON Lines
};

// What plan() found out about a file.
struct FilePlan {
  ColumnPlan columns;
  std::string format;                          // as ReadNotes.format
  std::vector<std::string> header_cells = {};  // a later row equal to them is the header again; {} = there is none
};

class RecordReader {
 public:
  virtual ~RecordReader() = default;

  // Finds out what the columns are; called once, before next(). `first` is the plan of the first file of a list, which
  // the columns have to agree with, or null. Throws DataError naming the file, ConfigError as plan_columns.
  virtual FilePlan plan(const TableRequest& request, const ColumnPlan* first, TextArena& arena) = 0;

  // The next record; false at the end. Cells have the planned columns' order; their number may be wrong.
  virtual bool next(Record& record, TextArena& arena) = 0;

  // See LineReader.
  virtual LineReader& lines() = 0;
};

struct FormatChoice;  // data/format.h

std::unique_ptr<RecordReader> make_record_reader(const FormatChoice& choice, LineReader lines);

}  // namespace bertft
