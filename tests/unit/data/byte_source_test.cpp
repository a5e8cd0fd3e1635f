// Sources of bytes: what is tried again, what is refused, and in which words.
#include "data/byte_source.h"

#include <cerrno>
#include <filesystem>
#include <fstream>
#include <vector>

#include "tests/support/temp_folder.h"
#include "tests/unit/data/table_helpers.h"

namespace bertft {
namespace {

using Catch::Contains;
using test::error_text;

// Fails as the list says, one entry a read; 0 lets it through.
class FailingCalls final : public FileCalls {
 public:
  explicit FailingCalls(std::vector<int> failures) : failures_(std::move(failures)) {}
  ssize_t read_at(int descriptor, char* to, size_t bytes, off_t offset) override {
    const int failure = reads_ < failures_.size() ? failures_[reads_] : 0;
    ++reads_;
    if (failure == 0) return FileCalls::read_at(descriptor, to, std::min<size_t>(bytes, 3), offset);
    errno = failure;
    return -1;
  }
  int open(const char* path) override {
    ++opens;
    return FileCalls::open(path);
  }
  void pause(int milliseconds) override { pauses.push_back(milliseconds); }

  int opens = 0;
  std::vector<int> pauses;

 private:
  std::vector<int> failures_;
  size_t reads_ = 0;
};

void write(const std::string& path, const std::string& content) { std::ofstream(path) << content; }

TEST_CASE("Short reads and passing failures of a network file system are survived") {
  const test::TempFolder folder;
  const std::string path = folder / "a.tsv";
  write(path, "0123456789");
  FailingCalls calls({0, ESTALE, EIO, EINTR, 0, ESTALE, 0});
  const auto source = file_source(path, calls);
  REQUIRE(read_all(*source) == "0123456789");
  REQUIRE(calls.opens == 4);
  REQUIRE(calls.pauses == std::vector<int>{100, 200, 100});
}

TEST_CASE("A failure that lasts is reported with the path") {
  const test::TempFolder folder;
  const std::string path = folder / "a.tsv";
  write(path, "0123456789");
  FailingCalls lasting({EIO, EIO, EIO, EIO, EIO});
  const auto source = file_source(path, lasting);
  REQUIRE_THAT(error_text<DataError>([&] { read_all(*source); }), Contains(path) && Contains("5 tries"));
  REQUIRE(lasting.pauses == std::vector<int>{100, 200, 400, 800});
  FailingCalls other({EACCES});
  const auto denied = file_source(path, other);
  REQUIRE_THAT(error_text<DataError>([&] { read_all(*denied); }), Contains(path) && !Contains("tries"));
  REQUIRE(other.pauses.empty());
}

TEST_CASE("A file that is cut or replaced while it is read is an error message") {
  const test::TempFolder folder;
  const std::string path = folder / "a.tsv";
  write(path, "0123456789");
  char to[4];
  const auto cut = file_source(path);
  REQUIRE(cut->read(to, 4) == 4);
  std::filesystem::resize_file(path, 4);
  REQUIRE_THAT(error_text<DataError>([&] { cut->read(to, 4); }), Contains(path) && Contains("shorter"));

  FailingCalls calls({0, ESTALE});
  const auto replaced = file_source(path, calls);
  REQUIRE(replaced->read(to, 3) == 3);
  std::filesystem::rename(path, folder / "old.tsv");
  write(path, "9876543210");
  REQUIRE_THAT(error_text<DataError>([&] { replaced->read(to, 3); }), Contains(path) && Contains("replaced"));
}

TEST_CASE("What is appended after a file was opened is not read") {
  const test::TempFolder folder;
  const std::string path = folder / "a.tsv";
  write(path, "0123");
  const auto source = file_source(path);
  std::ofstream(path, std::ios::app) << "4567";
  REQUIRE(read_all(*source) == "0123");
}

TEST_CASE("Only regular files are opened") {
  const test::TempFolder folder;
  REQUIRE_THAT(error_text<DataError>([&] { file_source(folder.path()); }), Contains("folder"));
  REQUIRE_THAT(error_text<DataError>([&] { file_source("/dev/null"); }), Contains("not a regular file"));
  REQUIRE_THAT(error_text<DataError>([&] { file_source(folder / "none"); }), Contains("No such file"));
}

}  // namespace
}  // namespace bertft
