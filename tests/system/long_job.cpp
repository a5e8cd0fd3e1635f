#include "tests/system/long_job.h"

#include <filesystem>
#include <sstream>

#include "core/files.h"
#include "core/hash.h"

namespace bertft::test {
namespace {

using Json = nlohmann::json;

constexpr const char* kConfig = R"(model:
  checkpoint: checkpoint
  max_length: 16
data:
  train: train.tsv
  dev: dev.tsv
  test: test.tsv
train:
  global_batch_size: 4
optimizer:
  learning_rate: 1.0e-3
eval:
  every: 4
output:
  checkpoint_every: 3
  log_every: 1
  loss_window: 7
)";

Json without_clocks(const std::string& line) {
  Json json = Json::parse(line);
  for (const char* key :
       {"samples_per_s", "tokens_per_s", "comm_exposed_s", "comm_total_s", "timings", "comm_share", "comm"}) {
    json.erase(key);
  }
  return json;
}

}  // namespace

LongJob::LongJob(int epochs) {
  std::string rows = "label\ttext\n";
  const std::vector<std::string> words = {"red", "green", "blue", "film", "book", "the", "a", "films"};
  for (size_t i = 0; i < 18; ++i) {
    const std::string label = i % 2 == 0 ? "good" : "bad";
    rows += label + "\t" + words[i % 8] + " " + (i % 5 == 0 ? "" : label + " ") + words[(i * 3) % 7] + "\n";
  }
  job_.write("train.tsv", rows);
  std::string config = kConfig;
  config.replace(config.find("  global_batch_size"), 0, "  epochs: " + std::to_string(epochs) + "\n");
  job_.write("c.yaml", config);
}

std::vector<std::string> LongJob::arguments(const std::string& run, const std::vector<std::string>& more) const {
  std::vector<std::string> all = {"--set", "output.dir=" + path(run), "--trace", path(run + ".trace")};
  all.insert(all.end(), more.begin(), more.end());
  return job_.train_arguments(all);
}

RunResult LongJob::train(const std::string& run, const std::vector<std::string>& more) const {
  return run_binary(arguments(run, more));
}

Json comparable(const LongJob& job, const std::string& run) {
  Json all;
  all["trace"] = read_file(job.path(run + ".trace"));
  std::istringstream metrics(read_file(job.path(run + "/metrics.jsonl")));
  for (std::string line; std::getline(metrics, line);) all["metrics"].push_back(without_clocks(line));
  all["results"] = without_clocks(read_file(job.path(run + "/results.json")));
  all["dev"] = read_file(job.path(run + "/predictions/dev.tsv"));
  for (const char* model : {"best", "last"}) {
    all[model]["step"] = std::filesystem::read_symlink(job.path(run + "/" + model)).string();
    all[model]["weights"] = hash_text(hash64(read_file(job.path(run + "/" + model + "/model.safetensors"))));
  }
  return all;
}

std::string last_line(const std::string& text) {
  const size_t end = text.find_last_not_of('\n');
  if (end == std::string::npos) return "";
  const size_t begin = text.rfind('\n', end);
  return text.substr(begin == std::string::npos ? 0 : begin + 1,
                     end - (begin == std::string::npos ? 0 : begin + 1) + 1);
}

}  // namespace bertft::test
