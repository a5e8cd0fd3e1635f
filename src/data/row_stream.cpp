#include "data/row_stream.h"

#include <fmt/format.h>

#include <utility>

#include "core/error.h"
#include "core/rng.h"
#include "core/text.h"
#include "data/format.h"
#include "data/row_sink.h"
#include "data/row_source.h"

namespace bertft {
namespace {

class ListedRows final : public RowStream {
 public:
  // `first_bytes` is the content of the only path, or null: paths are opened by their names.
  ListedRows(std::vector<DataPath> paths, std::unique_ptr<ByteSource> first_bytes, const TableRequest& request)
      : paths_(std::move(paths)), request_(request), files_(list_files(paths_)) {
    check_table_request(request_);
    TextArena arena;
    source_ = open_source(0, std::move(first_bytes), nullptr, arena);
    columns_ = source_->plan().columns;
    sink_.emplace(request_, columns_, notes_);
    next_table_.emplace(new_table());
    next_table_->arena().absorb(std::move(arena));
  }

  std::optional<Table> next() override {
    while (source_) {
      const bool has_more = source_->fill(*sink_, *next_table_, missing_bytes());
      if (!has_more) open_next();
      if (source_ && missing_bytes() > 0) continue;
      Table full = renew_table();
      // Rows before a fault that will be thrown at the end of the file are of no use to anybody.
      if (full.rows() > 0 && !sink_->has_faults()) return full;
    }
    if (sink_->rows() == 0) throw_no_rows();
    return std::nullopt;
  }

  const std::vector<std::string>& columns() const override { return columns_.names; }
  const ColumnRoles& roles() const override { return columns_.roles; }
  const ReadNotes& notes() const override { return notes_; }
  const std::vector<std::string>& files() const override { return files_->files; }

 private:
  static std::shared_ptr<const FileList> list_files(const std::vector<DataPath>& paths) {
    FileList list;
    for (const DataPath& path : paths) list.files.insert(list.files.end(), path.files.begin(), path.files.end());
    list.name = paths.front().path;
    if (const size_t more = paths.size() - 1; more > 0) {
      list.name += fmt::format(" and {} more path{}", more, more == 1 ? "" : "s");
    }
    return std::make_shared<const FileList>(std::move(list));
  }

  std::unique_ptr<RowSource> open_source(size_t index, std::unique_ptr<ByteSource> bytes, const ColumnPlan* first,
                                         TextArena& arena) {
    const DataPath& path = paths_[index];
    const SourcePlace place = {first, first_file_};
    first_file_ += static_cast<int32_t>(path.files.size());
    if (path.is_folder) return open_folder_rows(path, request_, place, notes_);
    if (!bytes) bytes = file_source(path.path);
    present_hash_.emplace();
    return open_file_rows(path.path, hashed_source(std::move(bytes), *present_hash_), request_, place, notes_, arena);
  }

  // Goes on to the next path, if one is left and wanted.
  void open_next() {
    ++present_;
    source_ = nullptr;
    if (present_hash_) add_content_hash(notes_, present_hash_->value());
    present_hash_.reset();
    if (notes_.is_cut_by_max_rows) notes_.content_hash = 0;
    if (present_ >= paths_.size()) return;
    if (sink_->is_full()) {
      notes_.is_cut_by_max_rows = true;
      notes_.content_hash = 0;
      return;
    }
    source_ = open_source(present_, nullptr, &columns_, next_table_->arena());
  }

  Table new_table() const { return Table(files_, columns_.names, columns_.roles); }

  size_t missing_bytes() const {
    const size_t there = next_table_->text_bytes();
    return there < request_.chunk_bytes ? request_.chunk_bytes - there : 0;
  }

  // Returns the present table and begins another.
  Table renew_table() {
    Table full = std::move(*next_table_);
    next_table_.emplace(new_table());
    if (source_) source_->carry_over(next_table_->arena());
    full.notes() = notes_;
    return full;
  }

  [[noreturn]] void throw_no_rows() const {
    const std::string& name = files_->name;
    if (notes_.skipped_rows > 0) {
      throw DataError(fmt::format("{}: all {} rows were skipped, first {}. Mend them", name,
                                  with_thousands(notes_.skipped_rows), notes_.first_skipped.front()));
    }
    throw DataError(fmt::format("{}: no rows{}. Check the path, or how the file was made", name,
                                notes_.has_header ? " behind the header line" : ""));
  }

  const std::vector<DataPath> paths_;
  const TableRequest request_;
  const std::shared_ptr<const FileList> files_;
  ReadNotes notes_;
  ColumnPlan columns_;
  std::optional<StreamHash> present_hash_;  // of the file that source_ reads; none for a folder
  std::unique_ptr<RowSource> source_;       // of paths_[present_]; null at the end
  size_t present_ = 0;
  int32_t first_file_ = 0;  // of the next path
  std::optional<RowSink> sink_;
  std::optional<Table> next_table_;
};

}  // namespace

void add_distinct(std::string& list, const std::string& text) {
  if (("; " + list + "; ").find("; " + text + "; ") != std::string::npos) return;
  list += (list.empty() ? "" : "; ") + text;
}

void add_content_hash(ReadNotes& notes, uint64_t hash) {
  notes.content_hash = notes.content_hash == 0 ? hash : mix64(notes.content_hash ^ mix64(hash));
}

std::unique_ptr<RowStream> open_rows(const std::vector<std::string>& paths, const TableRequest& request) {
  return std::make_unique<ListedRows>(find_data_paths(paths), nullptr, request);
}

std::unique_ptr<RowStream> open_rows(const std::string& name, std::unique_ptr<ByteSource> bytes,
                                     const TableRequest& request) {
  std::vector<DataPath> paths = {{.path = name, .is_folder = false, .classes = {}, .files = {name}}};
  return std::make_unique<ListedRows>(std::move(paths), std::move(bytes), request);
}

std::unique_ptr<RowStream> stdin_rows(const TableRequest& request) {
  return open_rows("standard input", stdin_source(), request);
}

Table read_rest(RowStream& stream) {
  std::optional<Table> whole = stream.next();
  check(whole.has_value(), "a stream that was not read to its end");
  while (std::optional<Table> more = stream.next()) whole->append(std::move(*more));
  whole->notes() = stream.notes();
  return std::move(*whole);
}

}  // namespace bertft
