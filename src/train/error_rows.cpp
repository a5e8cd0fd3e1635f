#include "train/error_rows.h"

#include <fmt/format.h>

#include <fstream>
#include <map>

#include "core/error.h"
#include "core/files.h"

namespace bertft {

void write_error_rows(const std::string& path, const std::string& predictions, const ErrorRows& rows) {
  std::map<int64_t, std::string> lines;  // of the rows that are wanted, by their number in the file
  const auto number_of = [&](int64_t row) { return rows.is_partial ? row : rows.dataset.source_row(row); };
  for (const RowError& error : rows.errors) lines[number_of(error.row)] = "";
  std::ifstream file(predictions);
  std::string header;
  std::getline(file, header);
  int64_t number = 0;
  for (std::string line; std::getline(file, line); ++number) {
    const auto wanted = lines.find(number);
    if (wanted != lines.end()) wanted->second = line;
  }
  std::string text = "place\tloss\t" + header + "\n";
  for (const RowError& error : rows.errors) {
    check(number_of(error.row) < number, "the predictions hold every row");
    text += fmt::format("{}\t{:.6f}\t{}\n", rows.dataset.place(error.row), error.loss, lines[number_of(error.row)]);
  }
  write_file_atomically(path, text);
}

}  // namespace bertft
