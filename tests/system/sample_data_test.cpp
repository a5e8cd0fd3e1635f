// The quickstart's job on the real checkpoint: a fine-tuned MiniLM understands titles whose words it never saw in
// training, which a bag of words does not.
#include <cstdlib>
#include <filesystem>
#include <iostream>
#include <nlohmann/json.hpp>
#include <string>

#include "core/files.h"
#include "tests/support/run_binary.h"
#include "tests/support/temp_folder.h"
#include "tests/support/test.h"

namespace bertft::test {
namespace {

// What data/naive_bayes.py says behind "accuracy ".
double naive_bayes_accuracy() {
  RunRequest request;
  request.arguments = {"data/naive_bayes.py", "data/en/train.tsv", "data/en/test.tsv"};
  const RunResult result = run_program("python3", request);
  REQUIRE(result.exit_code == 0);
  const size_t at = result.out.find("accuracy ");
  REQUIRE(at != std::string::npos);
  return std::stod(result.out.substr(at + 9));
}

TEST_CASE("on data/en the fine-tuned MiniLM beats naive Bayes by at least ten points") {
  const char* weights = std::getenv("BERTFT_MINILM");
  if (weights == nullptr || !std::filesystem::exists(weights)) {
    std::cout << "SKIPPED: BERTFT_MINILM does not name the weights (scripts/fetch_minilm.sh)\n";
    return;
  }
  const TempFolder folder;
  const std::string checkpoint = std::filesystem::path(weights).parent_path().string();
  const RunResult result = run_binary({"--config", "configs/quickstart.yaml", "--set", "output.dir=" + (folder / "run"),
                                       "--set", "model.checkpoint=" + checkpoint});
  CAPTURE(result.err);
  REQUIRE(result.exit_code == 0);
  const auto results = nlohmann::json::parse(read_file(folder / "run/results.json"));
  const double ours = results["test"]["metrics"]["accuracy"];
  const double naive_bayes = naive_bayes_accuracy();
  CAPTURE(ours, naive_bayes);
  CHECK(naive_bayes > 0.125);  // better than chance, or the comparison says nothing
  CHECK(ours >= naive_bayes + 0.10);
}

}  // namespace
}  // namespace bertft::test
