// Rows of one path of a list, a file or a folder of texts, filled into tables chunk by chunk.
#pragma once

#include <memory>
#include <string>

#include "data/data_path.h"
#include "data/record_reader.h"
#include "data/row_sink.h"

namespace bertft {

class RowSource {
 public:
  virtual ~RowSource() = default;

  // Known once the source is made.
  virtual const FilePlan& plan() const = 0;

  // Hands records to `sink` until `table` has `bytes` of text, or the source has no more (then it returns false). Tells
  // `sink` where files begin and end.
  virtual bool fill(RowSink& sink, Table& table, size_t bytes) = 0;

  // Moves what was read ahead to the arena of another table, after which the old one may go.
  virtual void carry_over(TextArena& arena) = 0;
};

// `first` is the plan of the first source of the list, or null. `first_file` is the number of the source's first file
// in the list. What is read ahead goes to `arena`. All throw DataError and ConfigError as plan_columns does.
struct SourcePlace {
  const ColumnPlan* first = nullptr;
  int32_t first_file = 0;
};
std::unique_ptr<RowSource> open_file_rows(std::string path, std::unique_ptr<ByteSource> bytes,
                                          const TableRequest& request, SourcePlace place, ReadNotes& notes,
                                          TextArena& arena);
std::unique_ptr<RowSource> open_folder_rows(const DataPath& folder, const TableRequest& request, SourcePlace place,
                                            ReadNotes& notes);

// Takes a further file into notes.content_hash.
void add_content_hash(ReadNotes& notes, uint64_t hash);

// Adds `text` to `list`, whose parts are divided by "; ", unless it is there.
void add_distinct(std::string& list, const std::string& text);

}  // namespace bertft
