#include "data/record_reader.h"

#include <utility>

#include "core/error.h"
#include "data/csv_reader.h"
#include "data/delimited_reader.h"
#include "data/format.h"
#include "data/jsonl_reader.h"

namespace bertft {

std::unique_ptr<RecordReader> make_record_reader(const FormatChoice& choice, LineReader lines) {
  switch (choice.format) {
    case FileFormat::kDelimited:
      return delimited_reader(std::move(lines), choice.delimiter, choice.max_splits);
    case FileFormat::kCsv:
      return csv_reader(std::move(lines), choice.delimiter);
    case FileFormat::kJsonLines:
      return jsonl_reader(std::move(lines));
  }
  throw InternalError("a format without a reader");
}

}  // namespace bertft
