// What a run writes is a model that the real transformers loads unchanged, with our logits, ids and labels; and one of
// which `inspect` finds nothing missing.
#include <cstdlib>
#include <filesystem>
#include <iostream>
#include <optional>
#include <string>
#include <vector>

#include "tests/support/python_path.h"
#include "tests/support/run_binary.h"
#include "tests/support/temp_folder.h"
#include "tests/support/test.h"
#include "tests/system/golden_run.h"
#include "tests/system/reload_check.h"

namespace bertft::test {
namespace {

namespace fs = std::filesystem;

TEST_CASE("written folders load in transformers with our logits, ids and labels") {
  const auto python = python_path();
  if (!python) return;
  const std::string single = absolute_golden_path("train_single.tsv");
  const std::string pair = absolute_golden_path("train_pair.tsv");
  const auto with_dev = [](const std::string& dev) { return joined(with_dropout(), {"data.dev=" + dev}); };
  const GoldenRun singles({.steps = 30, .changes = with_dev(single)});
  const GoldenRun pairs({.data = "pair", .steps = 30, .changes = with_dev(pair)});
  const GoldenRun doubles({.precision = "fp64", .steps = 30});
  const GoldenRun new_head({.steps = 30, .changes = {"model.head=new", "data.labels=[bad, good, neutral]"}});

  ReloadCheck check;
  for (const char* link : {"best", "last"}) {
    check.add(singles.path(link), single, {"text"});
    check.add(pairs.path(link), pair, {"text", "text_pair"});
  }
  check.add(doubles.path("last"), single, {"text"});
  check.add(new_head.path("last"), single, {"text"});
  check.run(*python);
}

// The folder of the real checkpoint, or nothing.
std::optional<std::string> minilm_folder() {
  const char* weights = std::getenv("BERTFT_MINILM");
  if (weights != nullptr) return fs::path(weights).parent_path().string();
  std::cout << "SKIPPED: BERTFT_MINILM does not give the model.safetensors of all-MiniLM-L6-v2\n";
  return std::nullopt;
}

TEST_CASE("a real checkpoint, fine-tuned for a few steps, loads in transformers with our logits and ids") {
  const auto checkpoint = minilm_folder();
  const auto python = checkpoint ? python_path() : std::nullopt;
  if (!python) return;
  const TempFolder folder;
  require_success(run_binary(
      {"--config", folder.write("c.yaml", "model: {checkpoint: " + *checkpoint +
                                              "}\ndata: {train: " + fs::absolute("data/en/train.tsv").string() +
                                              "}\ntrain: {max_steps: 6}\noutput: {dir: run}\n")}));
  ReloadCheck check;
  check.add(folder / "run/last", "data/en/dev.tsv", {"text"});
  check.run(*python);
}

std::string inspect(const std::string& folder) { return require_success(run_binary({"inspect", folder})); }

bool is_complete(const std::string& report) {
  return report.find("100 % of the encoder") != std::string::npos && report.find("\nnew:") == std::string::npos &&
         report.find("\nignored:") == std::string::npos;
}

TEST_CASE("inspect finds everything in the folder that was read and in the folder that was written") {
  for (const char* data : {"single", "pair"}) {
    const std::string checkpoint = expected_values()["cases"][data]["checkpoint"];
    INFO(checkpoint);
    const GoldenRun run({.data = data, .steps = 2});
    for (const std::string& folder : {golden_path(checkpoint), run.path("best"), run.path("last")}) {
      const std::string report = inspect(folder);
      INFO(report);
      CHECK(is_complete(report));
      CHECK(report.find("labels: neutral, good, bad") != std::string::npos);
    }
  }
}

TEST_CASE("inspect of a published encoder finds all of it and names the head that training would add") {
  const auto checkpoint = minilm_folder();
  if (!checkpoint) return;
  const std::string report = inspect(*checkpoint);
  INFO(report);
  CHECK(report.find("100 % of the encoder") != std::string::npos);
  CHECK(report.find("new: classifier.weight") != std::string::npos);
  CHECK(report.find("new: pooler") == std::string::npos);
  CHECK(report.find("ignored: embeddings.position_ids") != std::string::npos);
}

}  // namespace
}  // namespace bertft::test
