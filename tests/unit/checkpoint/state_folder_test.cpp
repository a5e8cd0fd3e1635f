// A state folder comes back as it was written; any damage to it, byte by byte, is found before anything is taken of it.
#include "checkpoint/state_folder.h"

#include <cstring>
#include <filesystem>
#include <iterator>

#include "core/error.h"
#include "core/files.h"
#include "tests/support/test.h"
#include "tests/unit/checkpoint/test_files.h"

namespace bertft::test {
namespace {

namespace fs = std::filesystem;
using Catch::Contains;

const std::vector<float> kWeights = {1.0f, -2.5f, 3.25f};
const std::vector<double> kMoments = {0.5, 1e-300};

void write_example(const std::string& folder) {
  write_state_folder(folder,
                     {view_of("weights", DType::kF32, {3}, kWeights), view_of("moments", DType::kF64, {2}, kMoments)},
                     {{"state.json", "{\"step\": 7}\n"}, {"empty", ""}});
}

TEST_CASE("tensors and files come back as they were") {
  const TempFolder temp;
  write_example(temp / "state");
  const StateFolder state = StateFolder::open(temp / "state");
  CHECK(state.file("state.json") == "{\"step\": 7}\n");
  CHECK(state.file("empty").empty());
  CHECK(std::memcmp(state.tensor("weights").data, kWeights.data(), 12) == 0);
  CHECK(std::memcmp(state.tensor("moments").data, kMoments.data(), 16) == 0);
  CHECK_THROWS_AS(state.tensor("other"), CheckpointError);
  CHECK_THROWS_AS(state.file("other"), CheckpointError);
  CHECK_FALSE(fs::exists(temp / "state.tmp"));
}

TEST_CASE("a state that is written again replaces the old one") {
  const TempFolder temp;
  write_example(temp / "state");
  write_state_folder(temp / "state", {view_of("weights", DType::kF32, {3}, kWeights)}, {{"state.json", "new"}});
  CHECK(StateFolder::open(temp / "state").file("state.json") == "new");
  CHECK(std::distance(fs::directory_iterator(temp.path()), fs::directory_iterator()) == 1);
}

TEST_CASE("every flipped byte and every cut is found") {
  const TempFolder temp;
  write_example(temp / "state");
  for (const std::string name : {"DONE", "tensors.safetensors", "state.json"}) {
    const std::string path = temp / ("state/" + name);
    const std::string whole = read_file(path);
    for (size_t at = 0; at < whole.size(); ++at) {
      CAPTURE(name, at);
      std::string damaged = whole;
      damaged[at] = static_cast<char>(damaged[at] ^ 0x10);
      write_bytes(path, damaged);
      CHECK_THROWS_AS(StateFolder::open(temp / "state"), CheckpointError);
      if (name == "DONE" && at + 1 == whole.size()) continue;  // the line feed behind the last brace
      write_bytes(path, whole.substr(0, at));
      CHECK_THROWS_AS(StateFolder::open(temp / "state"), CheckpointError);
    }
    fs::remove(path);
    CHECK_THAT(checkpoint_error([&] { StateFolder::open(temp / "state"); }), Contains(name));
    write_bytes(path, whole);
  }
  CHECK_NOTHROW(StateFolder::open(temp / "state"));
}

}  // namespace
}  // namespace bertft::test
