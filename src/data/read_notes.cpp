#include "data/read_notes.h"

#include <fmt/format.h>

#include "core/text.h"

namespace bertft {
namespace {

// "1 row is", "1,234 rows are".
std::string rows_are(int64_t count) {
  return fmt::format("{} row{}", with_thousands(count), count == 1 ? " is" : "s are");
}

std::string listed(const std::vector<std::string>& first, int64_t count) {
  return join(first, "; ") + (count > static_cast<int64_t>(first.size()) ? "; ..." : "");
}

}  // namespace

std::vector<std::string> read_warnings(const ReadNotes& notes) {
  std::vector<std::string> warnings;
  if (notes.skipped_rows > 0) {
    warnings.push_back(
        fmt::format("{} left out: {}", rows_are(notes.skipped_rows), listed(notes.first_skipped, notes.skipped_rows)));
  }
  if (notes.broken_rows > 0) {
    warnings.push_back(
        fmt::format("{} broken: {}", rows_are(notes.broken_rows), listed(notes.first_broken, notes.broken_rows)));
  }
  if (notes.replaced_parts > 0) {
    warnings.push_back(fmt::format("{} invalid part{} of the text in {} row{} became U+FFFD: {}",
                                   with_thousands(notes.replaced_parts), notes.replaced_parts == 1 ? "" : "s",
                                   with_thousands(notes.replaced_lines), notes.replaced_lines == 1 ? "" : "s",
                                   listed(notes.first_replaced_places, notes.replaced_lines)));
  }
  if (notes.rows_with_other_keys > 0) {
    warnings.push_back(fmt::format("{} with keys that the first row lacks and that make no column",
                                   rows_are(notes.rows_with_other_keys)));
  }
  if (notes.repeated_keys > 0) {
    warnings.push_back(
        fmt::format("{} with a key that occurs twice; its last value counts", rows_are(notes.repeated_keys)));
  }
  return warnings;
}

}  // namespace bertft
