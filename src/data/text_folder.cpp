// Rows of a folder of small text files, one text each. On network storage opening a file costs far more than reading
// it, so threads read ahead; the order of the rows is that of the files all the same.
#include <fmt/format.h>

#include <condition_variable>
#include <deque>
#include <exception>
#include <filesystem>
#include <mutex>
#include <system_error>
#include <thread>
#include <utility>

#include "core/error.h"
#include "core/hash.h"
#include "core/text.h"
#include "data/row_source.h"

namespace bertft {
namespace {

constexpr size_t kThreads = 8;
constexpr size_t kFilesAhead = 64;

struct LoadedText {
  std::string text;
  std::string encoding;
  bool has_mark = false;
  std::exception_ptr failure;
};

// The whole text of a file, without a line end at its very end.
LoadedText load_text(const std::string& path, const TableRequest& request) {
  LoadedText loaded;
  try {
    TextSource source(path, file_source(path), request.encoding, request.block_bytes);
    for (std::string block; source.next(block);) loaded.text += block;
    loaded.encoding = source.encoding();
    loaded.has_mark = source.has_byte_order_mark();
    if (loaded.text.ends_with('\n')) loaded.text.pop_back();
    if (loaded.text.ends_with('\r')) loaded.text.pop_back();
  } catch (...) {
    loaded.failure = std::current_exception();
  }
  return loaded;
}

// Reads files in order, several at once, at most kFilesAhead more than were asked for.
class Prefetcher {
 public:
  Prefetcher(const std::vector<std::string>& files, const TableRequest& request) : files_(files), request_(request) {
    try {
      while (threads_.size() < std::min(kThreads, files_.size())) threads_.emplace_back([this] { work(); });
    } catch (const std::system_error&) {
      // No more threads to be had: those that run do all the work; without any, next() does it.
    }
  }
  ~Prefetcher() {
    const std::lock_guard lock(mutex_);
    is_stopping_ = true;
    changed_.notify_all();
  }
  Prefetcher(const Prefetcher&) = delete;
  Prefetcher& operator=(const Prefetcher&) = delete;

  // REQUIRES that it was called fewer times than there are files.
  LoadedText next() {
    if (threads_.empty()) return load_text(files_[taken_++], request_);
    std::unique_lock lock(mutex_);
    const size_t index = taken_;
    changed_.wait(lock, [&] { return !window_.empty() && window_.front().is_ready; });
    LoadedText loaded = std::move(window_.front().loaded);
    window_.pop_front();
    taken_ = index + 1;
    changed_.notify_all();
    return loaded;
  }

 private:
  struct Slot {
    LoadedText loaded;
    bool is_ready = false;
  };

  void work() {
    std::unique_lock lock(mutex_);
    while (true) {
      changed_.wait(lock, [&] { return is_stopping_ || begun_ == files_.size() || begun_ < taken_ + kFilesAhead; });
      if (is_stopping_ || begun_ == files_.size()) return;
      const size_t index = begun_++;
      window_.emplace_back();
      lock.unlock();
      LoadedText loaded = load_text(files_[index], request_);
      lock.lock();
      Slot& slot = window_[index - taken_];
      slot.loaded = std::move(loaded);
      slot.is_ready = true;
      changed_.notify_all();
    }
  }

  const std::vector<std::string>& files_;
  const TableRequest& request_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<Slot> window_;  // files taken_ to begun_ - 1
  size_t begun_ = 0;         // files that a thread has taken up
  size_t taken_ = 0;         // files that next() has returned
  bool is_stopping_ = false;
  std::vector<std::jthread> threads_;  // last: they end before what they use
};

class FolderRows final : public RowSource {
 public:
  FolderRows(const DataPath& folder, const TableRequest& request, SourcePlace place, ReadNotes& notes)
      : folder_(folder),
        request_(request),
        first_file_(place.first_file),
        notes_(notes),
        files_(folder_.files, request_) {
    std::vector<std::string> names = {request.columns.text};
    if (!folder.classes.empty()) names.push_back(request.columns.label.empty() ? "label" : request.columns.label);
    names.emplace_back("file");
    const std::string what =
        folder.classes.empty() ? "a folder of texts without sub-folders for classes has" : "a folder of texts has";
    plan_ = {.columns = plan_named_columns(folder.path, names, what, request), .format = "folder of texts"};
    if (place.first != nullptr && place.first->names != plan_.columns.names) {
      throw DataError(folder.path + ": a folder of texts has other columns than the first file of the list");
    }
    add_distinct(notes_.format, plan_.format);
    add_distinct(notes_.format_reason, "it is a folder");
    add_distinct(notes_.header_reason,
                 folder.classes.empty() ? "no labels"
                                        : fmt::format("labels are the names of {} sub-folders", folder.classes.size()));
  }

  const FilePlan& plan() const override { return plan_; }

  bool fill(RowSink& sink, Table& table, size_t bytes) override {
    const size_t limit = table.text_bytes() + bytes;
    while (next_ < folder_.files.size()) {
      if (sink.is_full()) {
        notes_.is_cut_by_max_rows = true;
        return false;
      }
      take_file(sink, table);
      if (table.text_bytes() >= limit) break;
    }
    return next_ < folder_.files.size();
  }

  void carry_over(TextArena&) override {}

 private:
  void take_file(RowSink& sink, Table& table) {
    const std::string& path = folder_.files[next_];
    LoadedText loaded = files_.next();
    if (loaded.failure) std::rethrow_exception(loaded.failure);
    add_distinct(notes_.encoding, loaded.encoding);
    notes_.has_byte_order_mark |= loaded.has_mark;
    ++notes_.files;
    add_content_hash(notes_, hash64(loaded.text));
    sink.begin_file(path, first_file_ + static_cast<int32_t>(next_), {});
    Record record{.line = 1, .cells = {table.arena().copy(loaded.text)}, .text = {}, .raw = {}, .fault = {}};
    record.text = record.cells.front();
    const std::filesystem::path relative = std::filesystem::path(path).lexically_relative(folder_.path);
    if (!folder_.classes.empty()) record.cells.push_back(table.arena().copy(relative.begin()->string()));
    record.cells.push_back(table.arena().copy(relative.string()));
    sink.take(record, table);
    sink.end_file();
    ++next_;
  }

  const DataPath folder_;
  const TableRequest request_;
  const int32_t first_file_;
  ReadNotes& notes_;
  Prefetcher files_;
  FilePlan plan_;
  size_t next_ = 0;  // of folder_.files
};

}  // namespace

std::unique_ptr<RowSource> open_folder_rows(const DataPath& folder, const TableRequest& request, SourcePlace place,
                                            ReadNotes& notes) {
  return std::make_unique<FolderRows>(folder, request, place, notes);
}

}  // namespace bertft
