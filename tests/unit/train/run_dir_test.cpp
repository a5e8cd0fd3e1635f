// A run's folder: who may start there, what --overwrite removes, links and pruning.
#include "train/run_dir.h"

#include <algorithm>
#include <filesystem>
#include <iterator>

#include "core/error.h"
#include "core/files.h"
#include "tests/support/errors.h"
#include "tests/support/temp_folder.h"

namespace bertft {
namespace {

using Catch::Contains;
using test::error_text;
using test::TempFolder;
namespace fs = std::filesystem;

constexpr const char* kRunJson = R"({"layout_hash": "0", "resolved": {}})";

void require_available(const RunDir& run, bool may_overwrite) { REQUIRE_NOTHROW(run.check_available(may_overwrite)); }

std::string refusal(const RunDir& run, bool may_overwrite) {
  return error_text<ConfigError>([&] { run.check_available(may_overwrite); });
}

TEST_CASE("A run may start where nothing is") {
  const TempFolder folder;
  for (const bool may_overwrite : {false, true}) {
    require_available(RunDir(folder / "new/deep"), may_overwrite);
    require_available(RunDir(folder.path()), may_overwrite);
  }
  REQUIRE(fs::is_empty(folder.path()));  // looking changes nothing
}

TEST_CASE("A folder with content is refused unless it is a run and may be overwritten") {
  const TempFolder folder;
  folder.write("run.json", kRunJson);
  folder.write("notes.txt", "mine");
  const RunDir run(folder.path());
  REQUIRE_THAT(refusal(run, false), Contains("output.dir") && Contains("is not empty") && Contains("--overwrite"));
  require_available(run, true);
}

TEST_CASE("A folder that no run wrote is never overwritten") {
  const TempFolder folder;
  folder.write("thesis.tex", "years of work");
  REQUIRE_THAT(refusal(RunDir(folder.path()), true), Contains("no run.json") && Contains("another folder"));
  const TempFolder data;
  data.write("models/other.bin", "x");
  data.write("train.tsv", "x");
  REQUIRE_THAT(refusal(RunDir(data.path()), true), Contains("no run.json"));
}

TEST_CASE("Names that runs use make no run of a folder, nor does any run.json") {
  const TempFolder folder;
  folder.write("models/my_only_copy.bin", "x");
  folder.write("logs/mine.txt", "x");
  REQUIRE_THAT(refusal(RunDir(folder.path()), true), Contains("no run.json of a run"));
  folder.write("run.json", "{}");
  REQUIRE_THAT(refusal(RunDir(folder.path()), true), Contains("no run.json of a run"));
}

TEST_CASE("What a run leaves that was killed at its start may be overwritten") {
  const TempFolder folder;
  const RunDir run(folder.path());
  run.create(kRunJson);
  folder.write("run.json.tmp", "{");
  REQUIRE_THAT(refusal(run, false), Contains("is not empty"));
  require_available(run, true);
}

TEST_CASE("Inputs and outputs of a run may not lie in what it replaces, links followed") {
  const TempFolder folder;
  const RunDir run(folder / "run");
  run.create(kRunJson);
  folder.write("run/models/step_00000001/model.safetensors", "x");
  folder.write("run/predictions/dev.tsv", "x");
  folder.write("run/notes.tsv", "x");
  run.link_model("best", 1);
  fs::create_directory_symlink(run.best_path(), folder / "elsewhere");
  for (const std::string& path :
       {run.best_path(), folder / "elsewhere", run.model_path(1), folder / "run/predictions/dev.tsv"}) {
    CAPTURE(path);
    REQUIRE_THAT(error_text<ConfigError>([&] { run.require_outside(path, "data.train"); }), Contains("data.train"));
  }
  REQUIRE_NOTHROW(run.require_outside(folder / "run/notes.tsv", "data.train"));
  REQUIRE_NOTHROW(run.require_outside(folder / "other.tsv", "data.train"));
  REQUIRE_NOTHROW(run.require_outside("", "data.train"));
}

TEST_CASE("A file in place of the folder is refused") {
  const TempFolder folder;
  const std::string file = folder.write("run", "x");
  REQUIRE_THAT(refusal(RunDir(file), true), Contains("is a file"));
  REQUIRE_THAT(error_text<ResourceError>([&] { RunDir(file + "/below").create(kRunJson); }), Contains("below"));
}

TEST_CASE("Overwriting removes what runs write, links and left-over temporaries, and keeps everything else") {
  const TempFolder folder;
  const RunDir run(folder / "run");
  run.create(kRunJson);
  for (const char* name : {"config.yaml", "run.json", "metrics.jsonl", "results.json", "results.json.tmp",
                           "logs/rank_0000.log", "models/step_00000001/model.safetensors", "predictions/dev.tsv"}) {
    folder.write(std::string("run/") + name, "old");
  }
  run.link_model("best", 1);
  run.link_model("last", 1);
  const std::string mine = folder.write("run/notes.txt", "mine");
  const std::string precious = folder.write("precious/data.tsv", "rows");
  fs::create_directory_symlink(folder / "precious", folder / "run/last.tmp");
  run.create(kRunJson);
  std::vector<std::string> names;
  for (const auto& entry : fs::recursive_directory_iterator(run.path())) {
    names.push_back(fs::relative(entry.path(), run.path()).string());
  }
  std::sort(names.begin(), names.end());
  REQUIRE(names == std::vector<std::string>{"logs", "models", "notes.txt", "predictions", "run.json"});
  REQUIRE(read_file(mine) == "mine");
  REQUIRE(read_file(precious) == "rows");  // a link was removed, not what it points to
}

TEST_CASE("Links to models are relative, so a run can be moved") {
  const TempFolder folder;
  const RunDir run(folder / "run");
  run.create(kRunJson);
  folder.write("run/models/step_00000020/config.json", "{}");
  run.link_model("best", 20);
  REQUIRE(fs::read_symlink(run.best_path()) == "models/step_00000020");
  REQUIRE(run.model_path(20) == run.path() + "/models/step_00000020");
  fs::rename(run.path(), folder / "moved");
  REQUIRE(read_file(folder / "moved/best/config.json") == "{}");
}

TEST_CASE("Pruning keeps the models that are named") {
  const TempFolder folder;
  const RunDir run(folder.path());
  run.create(kRunJson);
  for (const int step : {5, 10, 15, 20})
    folder.write("models/step_000000" + std::string(step < 10 ? "0" : "") + std::to_string(step) + "/model.safetensors",
                 "x");
  folder.write("models/step_00000007.tmp/model.safetensors", "half");
  run.prune_models({10, 20, 30});
  REQUIRE(fs::exists(run.model_path(10)));
  REQUIRE(fs::exists(run.model_path(20)));
  REQUIRE(std::distance(fs::directory_iterator(folder / "models"), {}) == 2);
  run.prune_models({20, 20});
  REQUIRE(std::distance(fs::directory_iterator(folder / "models"), {}) == 1);
}

}  // namespace
}  // namespace bertft
