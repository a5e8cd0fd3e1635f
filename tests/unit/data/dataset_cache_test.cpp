// The cache of tokenized files: what comes out is what went in, whatever happened to the file, the disk or the options.
#include "data/dataset_cache.h"

#include <fcntl.h>
#include <sys/resource.h>
#include <sys/stat.h>

#include <csignal>
#include <filesystem>
#include <thread>

#include "core/files.h"
#include "data/cache_format.h"
#include "data/data_report.h"
#include "data/dataset_loader.h"
#include "tests/support/temp_folder.h"
#include "tests/unit/data/table_helpers.h"

namespace bertft {
namespace {

using Catch::Contains;
using test::copied;
using test::TempFolder;
using test::tiny_tokenizer;

// A file with everything that notes can hold: byte order mark, CR LF, invalid bytes, unknown characters, odd labels.
std::string odd_file() {
  std::string text = "\xEF\xBB\xBFtext\tlabel\r\na b\tx\r\na\xFF\ty\nzebra \xE4\xBD\xA0\tx\n\t\n";
  for (int row = 0; row < 2'000; ++row) text += (row % 3 == 0 ? "a b c\t" : "c ab\t") + std::to_string(row % 7) + "\n";
  return text + "\n\n";
}

struct Folder {
  Folder() { write(odd_file()); }
  void write(const std::string& content) const { folder.write("train.tsv", content); }
  std::string data() const { return folder / "train.tsv"; }
  std::string cache() const { return folder / "cache"; }
  LoadedDataset load(const std::string& cache_option, int32_t max_length = 8) const {
    TableRequest request = test::labelled_request();
    request.chunk_bytes = 4'000;  // several pieces
    const EncodeOptions options{.max_length = max_length};
    return load_dataset({.paths = {data()},
                         .request = request,
                         .tokenizer = tiny_tokenizer(),
                         .encoder = sequence_encoder(tiny_tokenizer(), options),
                         .encoder_key = {"sequence/1", options},
                         .threads = 2},
                        DatasetCache(cache_option));
  }
  LoadedDataset load() const { return load(cache()); }
  // The only file in the cache.
  std::string kept() const {
    std::vector<std::string> files;
    for (const auto& entry : std::filesystem::directory_iterator(cache())) files.push_back(entry.path().string());
    REQUIRE(files.size() == 1);
    return files[0];
  }
  TempFolder folder;
};

void require_equal(const Dataset& a, const Dataset& b) {
  REQUIRE(a.rows() == b.rows());
  for (int64_t row = 0; row < a.rows(); ++row) {
    if (copied(a.ids(row)) != copied(b.ids(row))) FAIL("row " << row);
  }
  REQUIRE(copied(a.lengths()) == copied(b.lengths()));
  REQUIRE(copied(a.untruncated_lengths()) == copied(b.untruncated_lengths()));
  REQUIRE(copied(a.text_hashes()) == copied(b.text_hashes()));
  REQUIRE(copied(a.label_texts()) == copied(b.label_texts()));
  REQUIRE(a.place(a.rows() - 1) == b.place(b.rows() - 1));
  REQUIRE(packed_notes("", a.notes()) == packed_notes("", b.notes()));
  REQUIRE(data_report({{"train", &a}}, LabelTable()) == data_report({{"train", &b}}, LabelTable()));
}

TEST_CASE("A cached data set is the data set, and its report the report") {
  const Folder folder;
  const LoadedDataset none = folder.load("none");
  const LoadedDataset cold = folder.load();
  const LoadedDataset warm = folder.load();
  REQUIRE_FALSE(none.is_from_cache);
  REQUIRE(none.cache_path.empty());
  REQUIRE_FALSE(cold.is_from_cache);
  REQUIRE(cold.cache_path == folder.kept());
  REQUIRE(warm.is_from_cache);
  REQUIRE(warm.warnings.empty());
  require_equal(none.dataset, cold.dataset);
  require_equal(cold.dataset, warm.dataset);
  const ReadNotes& read = warm.dataset.notes().read;
  REQUIRE(read.has_byte_order_mark);
  REQUIRE(read.crlf_lines == 2);
  REQUIRE(read.replaced_lines == 1);
  REQUIRE(read.content_hash == hash64(odd_file()));
  REQUIRE_THAT(data_report({{"train", &warm.dataset}}, LabelTable()),
               Contains("U+4F60") && Contains("byte order mark"));
}

TEST_CASE("A second start reads no text: it cannot see a content that changed behind size, time and inode") {
  const Folder folder;
  const LoadedDataset cold = folder.load();
  struct stat before {};
  REQUIRE(::stat(folder.data().c_str(), &before) == 0);
  std::string other = odd_file();
  for (size_t at = other.find("c ab"); at != std::string::npos; at = other.find("c ab", at))
    other.replace(at, 4, "b ab");
  const int descriptor = ::open(folder.data().c_str(), O_WRONLY);
  REQUIRE(::pwrite(descriptor, other.data(), other.size(), 0) == static_cast<ssize_t>(other.size()));
  const timespec times[2] = {before.st_atim, before.st_mtim};
  REQUIRE(::futimens(descriptor, times) == 0);
  ::close(descriptor);
  const LoadedDataset warm = folder.load();
  REQUIRE(warm.is_from_cache);
  require_equal(cold.dataset, warm.dataset);
  const uint64_t now = content_hash({folder.data()}, test::labelled_request());
  REQUIRE(now == hash64(other));
  REQUIRE(now != warm.dataset.notes().read.content_hash);
}

TEST_CASE("Another file, time or option is another data set") {
  const Folder folder;
  folder.load();
  REQUIRE_FALSE(folder.load(folder.cache(), 9).is_from_cache);
  REQUIRE(folder.load(folder.cache(), 9).is_from_cache);
  folder.write(odd_file());  // the same content at another time
  REQUIRE_FALSE(folder.load().is_from_cache);
  folder.write("text\tlabel\na\tx\n");
  const LoadedDataset shorter = folder.load();
  REQUIRE_FALSE(shorter.is_from_cache);
  TableRequest a = test::labelled_request();
  TableRequest b = a;
  b.columns.label = "other";
  const EncoderKey encoder{"sequence/1", {}};
  REQUIRE(cache_key({folder.data()}, a, tiny_tokenizer(), encoder) !=
          cache_key({folder.data()}, b, tiny_tokenizer(), encoder));
  REQUIRE(cache_key({folder.data()}, a, tiny_tokenizer(), encoder) !=
          cache_key({folder.data()}, a, tiny_tokenizer(), {"sequence/2", {}}));
}

TEST_CASE("A damaged, cut or strange cache file is made again, with a note") {
  const Folder folder;
  const LoadedDataset cold = folder.load();
  const std::string good = read_file(folder.kept());
  std::vector<std::string> bad = {"", "no cache file at all", good.substr(0, good.size() - 1),
                                  good.substr(0, kCacheBodyBegin), good + "x"};
  for (const size_t at : {size_t{0}, size_t{8}, size_t{12}, size_t{16}, size_t{40}, sizeof(CacheHeader) - 1,
                          size_t{kCacheBodyBegin}, good.size() / 2, good.size() - 1}) {
    bad.push_back(good);
    bad.back()[at] = static_cast<char>(bad.back()[at] ^ 4);
  }
  for (const std::string& content : bad) {
    const std::string path = folder.kept();
    write_file_atomically(path, content);
    const LoadedDataset again = folder.load();
    INFO(content.size());
    REQUIRE_FALSE(again.is_from_cache);
    REQUIRE(again.warnings.size() == 1);
    REQUIRE_THAT(again.warnings[0], Contains(path) && Contains("made again"));
    require_equal(cold.dataset, again.dataset);
    REQUIRE(read_file(path) == good);
  }
  // Right in itself, but of another key.
  const LoadedDataset other = folder.load(folder.cache(), 9);
  std::filesystem::rename(other.cache_path, cold.cache_path);
  const LoadedDataset again = folder.load();
  REQUIRE_FALSE(again.is_from_cache);
  REQUIRE_THAT(again.warnings.at(0), Contains("other files or options"));
}

TEST_CASE("A cache that cannot be written costs a warning and nothing else") {
  const Folder folder;
  const LoadedDataset none = folder.load("none");
  folder.folder.write("file", "x");
  const DatasetCache blocked(folder.folder / "file");
  REQUIRE_FALSE(blocked.is_on());
  REQUIRE_THAT(blocked.problem(), Contains("it is no folder") && Contains("data.cache_dir"));
  // A disk that is full after some bytes: a limit on the size of files.
  std::signal(SIGXFSZ, SIG_IGN);
  rlimit old_limit{};
  REQUIRE(::getrlimit(RLIMIT_FSIZE, &old_limit) == 0);
  const uint64_t ids_bytes = static_cast<uint64_t>(none.dataset.tokens()) * sizeof(int32_t);
  for (const uint64_t limit : {uint64_t{100}, kCacheBodyBegin + ids_bytes / 2, kCacheBodyBegin + ids_bytes + 3'000}) {
    rlimit limited = old_limit;
    limited.rlim_cur = limit;
    REQUIRE(::setrlimit(RLIMIT_FSIZE, &limited) == 0);
    const LoadedDataset loaded = folder.load();
    REQUIRE(::setrlimit(RLIMIT_FSIZE, &old_limit) == 0);
    INFO(limit);
    REQUIRE(loaded.cache_path.empty());
    REQUIRE(loaded.warnings.size() == 1);
    REQUIRE_THAT(loaded.warnings[0], Contains("cannot write") && Contains("nothing is kept"));
    require_equal(none.dataset, loaded.dataset);
    REQUIRE(std::filesystem::is_empty(folder.cache()));
  }
  std::signal(SIGXFSZ, SIG_DFL);
}

TEST_CASE("Several starts at once make one good file") {
  const Folder folder;
  const LoadedDataset none = folder.load("none");
  std::vector<std::optional<LoadedDataset>> loaded(4);
  {
    std::vector<std::jthread> threads;
    for (auto& one : loaded) threads.emplace_back([&] { one = folder.load(); });
  }
  for (const auto& one : loaded) require_equal(none.dataset, one->dataset);
  folder.kept();
  REQUIRE(folder.load().is_from_cache);
}

TEST_CASE("The files used longest ago make room, and leftovers of a day ago go") {
  const Folder folder;
  std::vector<std::string> paths;
  for (const int32_t length : {8, 9, 10}) paths.push_back(folder.load(folder.cache(), length).cache_path);
  const auto now = std::filesystem::file_time_type::clock::now();
  for (size_t i = 0; i < 3; ++i) {
    std::filesystem::last_write_time(paths[i], now - std::chrono::hours(10 - static_cast<int>(i)));
  }
  folder.load(folder.cache(), 8);  // used now
  const std::string leftover = paths[0] + ".tmp.1.a";
  const std::string fresh = paths[0] + ".tmp.2.b";
  write_file_atomically(leftover, "x");
  write_file_atomically(fresh, "x");
  std::filesystem::last_write_time(leftover, now - std::chrono::hours(25));
  const DatasetCache cache(folder.cache());
  cache.prune(paths[2], std::filesystem::file_size(paths[0]) + std::filesystem::file_size(paths[2]));
  REQUIRE(std::filesystem::exists(paths[0]));
  REQUIRE_FALSE(std::filesystem::exists(paths[1]));
  REQUIRE(std::filesystem::exists(paths[2]));
  REQUIRE_FALSE(std::filesystem::exists(leftover));
  REQUIRE(std::filesystem::exists(fresh));
  cache.prune(paths[2], 0);
  REQUIRE(std::filesystem::exists(paths[2]));
  REQUIRE_FALSE(std::filesystem::exists(paths[0]));
}

}  // namespace
}  // namespace bertft
