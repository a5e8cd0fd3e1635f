// Rows of one file: chooses the format by its beginning, plans the columns and passes the records on.
#include <fmt/format.h>

#include <utility>

#include "core/error.h"
#include "core/text.h"
#include "data/format.h"
#include "data/row_source.h"
#include "tokenize/utf8.h"

namespace bertft {
namespace {

std::string shown_names(const std::vector<std::string>& names) {
  std::vector<std::string> shown;
  for (const std::string& name : names) {
    if (shown.size() == 10) break;
    shown.push_back("'" + excerpt(name, 30) + "'");
  }
  return join(shown, ", ") + (names.size() > shown.size() ? ", ..." : "");
}

class FileRows final : public RowSource {
 public:
  FileRows(std::string path, std::unique_ptr<ByteSource> bytes, const TableRequest& request, SourcePlace place,
           ReadNotes& notes, TextArena& arena)
      : path_(std::move(path)), index_(place.first_file), notes_(notes) {
    LineReader lines(TextSource(path_, std::move(bytes), request.encoding, request.block_bytes));
    Line first;
    if (!lines.next(first, arena)) throw DataError(path_ + ": the file is empty. Check the path");
    lines.unread(first);
    FormatChoice choice = choose_format(path_, replace_invalid_utf8(first.text.substr(0, 10'000)), request);
    reader_ = make_record_reader(choice, std::move(lines));
    plan_ = reader_->plan(request, place.first, arena);
    if (place.first != nullptr) require_same_columns(*place.first);
    take_notes(choice);
  }

  const FilePlan& plan() const override { return plan_; }

  bool fill(RowSink& sink, Table& table, size_t bytes) override {
    if (!std::exchange(has_begun_, true)) sink.begin_file(path_, index_, plan_.header_cells);
    const size_t limit = table.text_bytes() + bytes;
    Record record;
    while (reader_->next(record, table.arena())) {
      if (sink.is_full()) {
        notes_.is_cut_by_max_rows = true;
        break;
      }
      sink.take(record, table);
      if (table.text_bytes() >= limit) return true;
    }
    notes_.lines += reader_->lines().lines();
    notes_.crlf_lines += reader_->lines().crlf_lines();
    sink.end_file();
    return false;
  }

  void carry_over(TextArena& arena) override { reader_->lines().carry_over(arena); }

 private:
  void require_same_columns(const ColumnPlan& first) const {
    if (plan_.columns.names == first.names && plan_.columns.roles == first.roles) return;
    throw DataError(fmt::format(
        "{}: its columns {} are not those of the first file of the list, {}. Files of one list must have the same "
        "columns in the same order",
        path_, shown_names(plan_.columns.names), shown_names(first.names)));
  }

  void take_notes(const FormatChoice& choice) {
    const TextSource& source = reader_->lines().source();
    add_distinct(notes_.format, plan_.format);
    add_distinct(notes_.format_reason, choice.reason);
    add_distinct(notes_.header_reason, plan_.columns.reason);
    add_distinct(notes_.encoding, source.encoding());
    notes_.has_header |= plan_.columns.has_header;
    notes_.has_byte_order_mark |= source.has_byte_order_mark();
    ++notes_.files;
  }

  const std::string path_;
  const int32_t index_;
  ReadNotes& notes_;
  std::unique_ptr<RecordReader> reader_;
  FilePlan plan_;
  bool has_begun_ = false;
};

}  // namespace

std::unique_ptr<RowSource> open_file_rows(std::string path, std::unique_ptr<ByteSource> bytes,
                                          const TableRequest& request, SourcePlace place, ReadNotes& notes,
                                          TextArena& arena) {
  return std::make_unique<FileRows>(std::move(path), std::move(bytes), request, place, notes, arena);
}

}  // namespace bertft
