#include "tests/support/job_folder.h"

#include <filesystem>
#include <stdexcept>

#include "core/files.h"

namespace bertft::test {
namespace {

constexpr const char* kConfig = R"(model:
  checkpoint: checkpoint
  max_length: 16
data:
  train: train.tsv
  dev: dev.tsv
  test: test.tsv
train:
  epochs: 2
  global_batch_size: 4
optimizer:
  learning_rate: 1.0e-3
output:
  dir: run
)";

constexpr const char* kTrain =
    "label\ttext\n"
    "good\ta good film.\nbad\tthe bad book\ngood\tgood books\nbad\tbad films.\ngood\tred good\nbad\tthe blue bad film\n"
    "good\tgreen good.\nbad\ta bad\ngood\tthe good good film\nbad\tbad\n";

}  // namespace

JobFolder::JobFolder() {
  TinyCheckpoint().write(folder_ / "checkpoint");
  write("c.yaml", kConfig);
  write("train.tsv", kTrain);
  write("dev.tsv", "label\ttext\ngood\tgood film\nbad\tbad film\n");
  write("test.tsv", "label\ttext\ngood\tgood book\nbad\tbad book\nbad\tbad bad\n");
}

void JobFolder::append(const std::string& name, const std::string& content) const {
  write(name, read_file(path(name)) + content);
}

void JobFolder::remove(const std::string& name) const { std::filesystem::remove_all(path(name)); }

void JobFolder::replace(const std::string& name, const std::string& from, const std::string& to) const {
  std::string text = read_file(path(name));
  const size_t at = text.find(from);
  if (at == std::string::npos) throw std::runtime_error("'" + from + "' is not in " + name);
  write(name, text.replace(at, from.size(), to));
}

std::vector<std::string> JobFolder::train_arguments(const std::vector<std::string>& more) const {
  std::vector<std::string> arguments = {"--config", path("c.yaml"), "--set", "threads=1"};
  arguments.insert(arguments.end(), more.begin(), more.end());
  return arguments;
}

RunResult JobFolder::train(const std::vector<std::string>& more) const { return run_binary(train_arguments(more)); }

}  // namespace bertft::test
