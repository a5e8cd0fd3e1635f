// Files are read whole, published whole, and every failure names path and cause.
#include "core/files.h"

#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <iostream>
#include <vector>

#include "core/error.h"
#include "tests/support/errors.h"
#include "tests/support/temp_folder.h"

namespace bertft {
namespace {

using Catch::Contains;
using test::error_text;
using test::TempFolder;
namespace fs = std::filesystem;

std::vector<std::string> names_in(const std::string& folder) {
  std::vector<std::string> names;
  for (const auto& entry : fs::directory_iterator(folder)) names.push_back(entry.path().filename().string());
  std::sort(names.begin(), names.end());
  return names;
}

TEST_CASE("Content of any bytes is read back as it was written") {
  const TempFolder folder;
  const std::string zeros(100000, '\0');
  for (const std::string& content : {std::string(), std::string("a\r\nb\0c", 6), zeros}) {
    const std::string path = folder / "file";
    write_file_atomically(path, content);
    REQUIRE(read_file(path) == content);
  }
}

TEST_CASE("What cannot be read is named with its cause") {
  const TempFolder folder;
  const std::string pipe = folder / "pipe";
  REQUIRE(::mkfifo(pipe.c_str(), 0600) == 0);
  const std::string missing = folder / "missing.tsv";
  REQUIRE_THAT(error_text<DataError>([&] { read_file(missing); }),
               Contains(missing) && Contains("No such file or directory"));
  REQUIRE_THAT(error_text<DataError>([&] { read_file(folder.path()); }),
               Contains(folder.path()) && Contains("it is a folder"));
  REQUIRE_THAT(error_text<DataError>([&] { read_file(folder.write("file", "x") + "/below"); }),
               Contains("Not a directory"));
}

TEST_CASE("A file appears under its name only when it is complete, and leaves nothing beside it") {
  const TempFolder folder;
  const std::string path = folder.write("results.json", "old");
  {
    AtomicFile file(path);
    file.write("new ");
    REQUIRE(read_file(path) == "old");
    file.write("text");
    file.commit();
    REQUIRE(read_file(path) == "new text");
  }
  REQUIRE(names_in(folder.path()) == std::vector<std::string>{"results.json"});
  {
    AtomicFile file(path);
    file.write("half");
  }
  REQUIRE(read_file(path) == "new text");
  REQUIRE(names_in(folder.path()) == std::vector<std::string>{"results.json"});
}

TEST_CASE("A file that cannot be published is a resource error and leaves nothing") {
  const TempFolder folder;
  REQUIRE_THAT(error_text<ResourceError>([&] { write_file_atomically(folder / "no/such/folder/x", "y"); }),
               Contains("no/such/folder/x") && Contains("No such file or directory"));
  fs::create_directories(folder / "taken/content");
  REQUIRE_THAT(error_text<ResourceError>([&] { write_file_atomically(folder / "taken", "y"); }),
               Contains("cannot rename") && Contains("taken"));
  REQUIRE(names_in(folder.path()) == std::vector<std::string>{"taken"});
}

TEST_CASE("A full disk is a resource error") {
  if (::access("/dev/full", W_OK) != 0) {
    std::cout << "SKIPPED: no /dev/full\n";
    return;
  }
  const TempFolder folder;
  fs::create_symlink("/dev/full", folder / "out.tmp");
  REQUIRE_THAT(error_text<ResourceError>([&] { write_file_atomically(folder / "out", "y"); }),
               Contains("cannot write") && Contains("No space left on device"));
  REQUIRE(names_in(folder.path()).empty());
}

TEST_CASE("Folders are made on the way, and a file in the way is named") {
  const TempFolder folder;
  make_folders(folder / "a/b/c");
  make_folders(folder / "a/b/c");
  REQUIRE(fs::is_directory(folder / "a/b/c"));
  const std::string file = folder.write("file", "x");
  REQUIRE_THAT(error_text<ResourceError>([&] { make_folders(file + "/below"); }), Contains(file));
  REQUIRE_THAT(error_text<ResourceError>([&] { sync_folder(folder / "gone"); }), Contains("gone"));
}

TEST_CASE("A link is relative and is swapped, never missing") {
  const TempFolder folder;
  make_folders(folder / "models/step_1");
  make_folders(folder / "models/step_2");
  const std::string link = folder / "best";
  swap_link("models/step_1", link);
  REQUIRE(fs::read_symlink(link) == "models/step_1");
  swap_link("models/step_2", link);
  REQUIRE(fs::read_symlink(link) == "models/step_2");
  REQUIRE(fs::is_directory(link));
  fs::create_directory_symlink("left over", link + ".tmp");  // as a killed run leaves it
  swap_link("models/step_1", link);
  REQUIRE(fs::read_symlink(link) == "models/step_1");
  REQUIRE(names_in(folder.path()) == std::vector<std::string>{"best", "models"});
}

TEST_CASE("A link never replaces a folder") {
  const TempFolder folder;
  folder.write("best/notes.txt", "mine");
  REQUIRE_THAT(error_text<ResourceError>([&] { swap_link("models/step_1", folder / "best"); }),
               Contains("cannot link") && Contains("best"));
  REQUIRE(read_file(folder / "best/notes.txt") == "mine");
  REQUIRE(names_in(folder.path()) == std::vector<std::string>{"best"});
}

TEST_CASE("Files that are something else are recognized by their first bytes") {
  struct Case {
    const char* bytes;
    const char* fragment;  // "" = nothing is wrong
  };
  const std::vector<Case> cases = {
      {"version https://git-lfs.github.com/spec/v1\noid sha256:4d7a\nsize 438012727\n", "438012727 bytes"},
      {"version https://git-lfs.github.com/spec/v1\noid sha256:4d7a\nsize 77", "77 bytes"},
      {"version https://git-lfs.github.com/spec/v1\n", "unknown bytes"},
      {"<!DOCTYPE html><html>", "is a web page"},
      {"<!doctype html>", "is a web page"},
      {"\r\n  <html lang=\"en\">", "is a web page"},
      {"<HTML>", "is a web page"},
      {"<?xml version=\"1.0\"?>", "is a web page"},
      {"", ""},
      {"   ", ""},
      {"<", ""},
      {"<b>text</b>\tlabel", ""},
      {"{\"model_type\": \"bert\"}", ""},
      {"text\tlabel\n<html>\tweb\n", ""},
      {"version https://git-lfs", ""},
  };
  for (const Case& c : cases) {
    INFO(c.bytes);
    const std::string said = explain_impostor(c.bytes, "model.safetensors");
    if (*c.fragment == '\0') {
      REQUIRE(said.empty());
    } else {
      REQUIRE_THAT(said, Catch::StartsWith("model.safetensors is ") && Contains(c.fragment));
    }
  }
}

}  // namespace
}  // namespace bertft
