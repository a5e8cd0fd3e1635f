// Loading a run's configuration: values, lists, paths and variables, and every way in which a file can be wrong.
#include "config/yaml.h"

#include <filesystem>

#include "core/error.h"
#include "tests/support/environment.h"
#include "tests/support/errors.h"
#include "tests/support/temp_folder.h"

namespace bertft {
namespace {

using Catch::Contains;
using test::error_text;
using test::ScopedVariable;
using test::TempFolder;

RunConfig load(const std::string& text) {
  const TempFolder folder;
  return load_run_config(folder.write("run.yaml", text));
}

TEST_CASE("Values of every section are read, and the rest has its default") {
  const RunConfig config = load(
      "seed: 7\n"
      "deterministic: true\n"
      "threads: 3\n"
      "model:\n"
      "  max_length: 64\n"
      "  dropout: 0.2\n"
      "data:\n"
      "  columns:\n"
      "    text: sentence\n"
      "    text_pair: 'other: one'\n"
      "  labels: [no, 'yes', 3]\n"
      "train: {epochs: 1e1, max_grad_norm: 0}\n"
      "optimizer: {betas: [0.8, 0.99], learning_rate: 3e-5, bias_correction: false}\n"
      "schedule:\n"
      "  warmup_steps: auto\n"
      "eval:\n"
      "  metric: macro_f1\n"
      "output: {log_every: 5}\n"
      "comm: {mode: horovod}\n");
  REQUIRE(config.run.seed == 7);
  REQUIRE(config.run.threads == 3);
  REQUIRE(config.run.precision == "auto");
  REQUIRE(config.model.max_length == 64);
  REQUIRE(config.model.dropout == 0.2);
  REQUIRE_FALSE(config.model.attention_dropout.has_value());
  REQUIRE(config.data.columns.text == "sentence");
  REQUIRE(config.data.columns.text_pair == "other: one");
  REQUIRE(config.data.columns.label == "label");
  REQUIRE(config.data.labels == StringList{"no", "yes", "3"});
  REQUIRE(config.train.epochs == 10);
  REQUIRE(config.train.max_grad_norm == 0.0);
  REQUIRE(config.optimizer.betas == DoublePair{0.8, 0.99});
  REQUIRE(config.optimizer.learning_rate == 3e-5);
  REQUIRE_FALSE(config.optimizer.bias_correction);
  REQUIRE(config.optimizer.weight_decay == 0.01);
  REQUIRE_FALSE(config.schedule.warmup_steps.has_value());
  REQUIRE(config.eval.metric == "macro_f1");
  REQUIRE(config.output.log_every == 5);
  REQUIRE(config.comm.mode == "horovod");
}

TEST_CASE("Every value that was set remembers its line") {
  const TempFolder folder;
  const std::string path = folder.write("run.yaml", "seed: 7\ndata:\n  # a comment\n  labels:\n    - a\n    - b\n");
  const RunConfig config = load_run_config(path);
  REQUIRE(config.origins.at("seed") == path + ":1");
  REQUIRE(config.origins.at("data.labels") == path + ":4");
  REQUIRE(config.origins.count("data.train") == 0);
}

TEST_CASE("Relative paths are relative to the file, absolute ones and other texts stay") {
  const TempFolder folder;
  const std::string path = folder.write("configs/run.yaml",
                                        "model: {checkpoint: ../models/mini}\n"
                                        "data: {train: train.tsv, dev: /abs/dev.tsv, test: ''}\n"
                                        "output: {dir: ./runs/one}\n");
  const RunConfig config = load_run_config(path);
  REQUIRE(config.model.checkpoint == folder / "models/mini");
  REQUIRE(config.data.train == StringList{folder / "configs/train.tsv"});
  REQUIRE(config.data.dev == StringList{"/abs/dev.tsv"});
  REQUIRE(config.data.test.empty());
  REQUIRE(config.output.dir == folder / "configs/runs/one");
  REQUIRE(config.data.columns.text == "text");
}

TEST_CASE("Environment variables are expanded in values, before paths are resolved") {
  const ScopedVariable root("BERTFT_TEST_ROOT", "/mnt/nas");
  const ScopedVariable name("BERTFT_TEST_NAME", "sst2");
  const ScopedVariable empty("BERTFT_TEST_EMPTY", "");
  const ScopedVariable number("BERTFT_TEST_NUMBER", "12");
  const RunConfig config = load(
      "seed: ${BERTFT_TEST_NUMBER}\n"
      "data:\n"
      "  train: ${BERTFT_TEST_ROOT}/${BERTFT_TEST_NAME}/train.tsv\n"
      "  dev: ${BERTFT_TEST_EMPTY}\n"
      "  labels: [\"${BERTFT_TEST_NAME}\", $x, 'a}b']\n");
  REQUIRE(config.run.seed == 12);
  REQUIRE(config.data.train == StringList{"/mnt/nas/sst2/train.tsv"});
  REQUIRE(config.data.dev.empty());
  REQUIRE(config.data.labels == StringList{"sst2", "$x", "a}b"});
}

TEST_CASE("A wrong file is refused with line, key and remedy") {
  const ScopedVariable unset("BERTFT_TEST_UNSET", nullptr);
  struct Case {
    const char* text;
    const char* place;  // behind the path
    const char* fragment;
  };
  const std::vector<Case> cases = {
      // keys
      {"train:\n  epoch: 3\n", ":2: ", "unknown key 'train.epoch'; the nearest known key is 'train.epochs'"},
      {"optimiser:\n  learning_rate: 1\n", ":2: ", "nearest known key is 'optimizer.learning_rate'"},
      {"epochs: 3\n", ":1: ", "unknown key 'epochs'; the nearest known key is 'train.epochs'"},
      {"model:\n  learning_rate: 1\n", ":2: ", "nearest known key is 'optimizer.learning_rate'"},
      {"data:\n  columns:\n    txt: a\n", ":3: ", "nearest known key is 'data.columns.text'"},
      {"train: 5\n", ":1: ", "unknown key 'train'"},
      {"seed:\n  a: 5\n", ":2: ", "unknown key 'seed.a'"},
      {"zzzzzzzz: 1\n", ":1: ", "unknown key 'zzzzzzzz'; `bert_finetune help train` lists all keys"},
      {"<<: {seed: 1}\n", ":1: ", "unknown key '<<.seed'"},
      {"seed: 1\nseed: 2\n", ":2: ", "key 'seed' is set twice"},
      {"train: {epochs: 1}\ntrain: {max_steps: 2}\n", ":2: ", "key 'train' is set twice"},
      {"train.epochs: 1\ntrain:\n  epochs: 2\n", ":3: ", "key 'train.epochs' is set twice"},
      {"? [a, b]\n: 1\n", ":1: ", "a key must be a plain text"},
      // values
      {"train:\n  epochs: three\n", ":2: ", "train.epochs: 'three' is not of the expected type: an integer"},
      {"train:\n  epochs: 0\n", ":2: ", "train.epochs: 0 is out of range"},
      {"train:\n  epochs:\n", ":2: ", "train.epochs: there is no value"},
      {"train:\n  epochs: ~\n", ":2: ", "train.epochs: there is no value"},
      {"model:\n", ":1: ", "model: there is no value"},
      {"train:\n  epochs: [1, 2]\n", ":2: ", "train.epochs: an integer is needed, not a list"},
      {"optimizer:\n  betas: 0.9\n", ":2: ", "optimizer.betas: a list of two numbers is needed"},
      {"optimizer:\n  betas: [0.9, x]\n", ":2: ", "optimizer.betas: 'x' is not of the expected type"},
      {"data:\n  labels:\n    - a\n    - [b]\n", ":4: ", "data.labels: a list of plain values is needed"},
      {"data:\n  labels: [a, ~]\n", ":2: ", "data.labels: a list of plain values is needed"},
      {"deterministic: yes\n", ":1: ", "deterministic: 'yes' is not of the expected type: true or false"},
      {"device: gpu\n", ":1: ", "device: 'gpu' is not one of auto, cpu, cuda"},
      {"optimizer: {learning_rate: -1}\n", ":1: ", "optimizer.learning_rate: -1 is out of range"},
      {"model: {max_length: 2}\n", ":1: ", "model.max_length: 2 is out of range"},
      // what other builds have
      {"comm:\n  sharded_optimizer: true\n", ":2: ", "comm.sharded_optimizer: not in this build"},
      {"comm:\n  horovod:\n    cycle: 2\n", ":3: ", "horovod.cycle"},
      {"distill:\n  teacher: x\n", ":2: ", "distill: not in this build"},
      {"precision: fp16\n", ":1: ", "precision=fp16: not in this build; it needs CUDA"},
      {"task: sequence_labelling\n", ":1: ", "task=sequence_labelling: not in this build"},
      {"model: {truncation: sliding_window}\n", ":1: ", "model.truncation=sliding_window: not in this build"},
      {"data: {format: parquet}\n", ":1: ", "'parquet' is not one of auto, tsv, csv, jsonl"},
      {"eval:\n  early_stopping:\n    patience: 0\n", ":3: ", "eval.early_stopping.patience: 0 is out of range"},
      {"eval: {every: auto}\n", ":1: ", "'auto' is not of the expected type: an integer or epoch"},
      {"comm: {transport: nccl}\n", ":1: ", "comm.transport=nccl: not in this build; this build has no CUDA"},
      {"train: {cuda_graph: true}\n", ":1: ", "train.cuda_graph: not in this build"},
      // variables
      {"data:\n  train: ${BERTFT_TEST_UNSET}/x\n", ":2: ", "the environment variable BERTFT_TEST_UNSET is not set"},
      {"data: {train: \"${HOME\"}\n", ":1: ", "'${' without '}'"},
      {"data: {train: \"${}\"}\n", ":1: ", "environment variable"},
      // documents
      {"", ": ", "the file is empty"},
      {"# nothing but a comment\n", ": ", "the file is empty"},
      {"- a\n- b\n", ":1: ", "a map of sections is needed at the top"},
      {"just text\n", ":1: ", "a map of sections is needed at the top"},
      {"train:\n\tepochs: 3\n", ":2: ", "not valid YAML"},
      {"train: {epochs: 3\n", ":", "not valid YAML"},
      {"a: b: c\n", ":1: ", "not valid YAML"},
      {"a: *nowhere\n", ":1: ", "not valid YAML"},
      {"seed: 1\n---\nseed: 2\n", ": ", "the file holds 2 documents"},
      {"train: &a {b: *a}\n", ":1: ", "nested too deeply"},
      {"a: {b: {c: {d: {e: {f: {g: 1}}}}}}\n", ":1: ", "nested too deeply"},
  };
  for (const Case& c : cases) {
    INFO(c.text);
    const TempFolder folder;
    const std::string path = folder.write("run.yaml", c.text);
    const std::string message = error_text<ConfigError>([&] { load_run_config(path); });
    REQUIRE_THAT(message, Catch::StartsWith(path + c.place) && Contains(c.fragment));
  }
}

TEST_CASE("A file of brackets or of deep maps is refused, not followed to the end of the stack") {
  std::string maps;
  for (size_t level = 0; level < 2000; ++level) maps += std::string(level, ' ') + "a:\n";
  for (const std::string& text : {std::string(100000, '['), std::string(100000, '{'), maps}) {
    REQUIRE_THAT(error_text<ConfigError>([&] { load(text); }), Contains("run.yaml"));
  }
}

TEST_CASE("A file that cannot be read is an error of the command line") {
  const TempFolder folder;
  REQUIRE_THAT(error_text<ConfigError>([&] { load_run_config(folder / "missing.yaml"); }),
               Catch::StartsWith("--config: ") && Contains("missing.yaml"));
  REQUIRE_THAT(error_text<ConfigError>([&] { load_run_config(folder.path()); }), Contains("it is a folder"));
}

TEST_CASE("Values of a command line are texts or lists") {
  struct Case {
    const char* value;
    StringList texts;
  };
  for (const Case& c : {Case{"", {""}}, Case{"a b", {"a b"}}, Case{"a, b", {"a, b"}}, Case{"[]", {}},
                        Case{"[a]", {"a"}}, Case{"[a, 'b, c', 3]", {"a", "b, c", "3"}}, Case{"x[1]", {"x[1]"}}}) {
    INFO(c.value);
    REQUIRE(parse_value_texts(c.value, "--set") == c.texts);
  }
  for (const char* wrong : {"[a", "[a] b", "[[a], b]", "[a: b: c]", "[{]"}) {
    INFO(wrong);
    REQUIRE_THAT(error_text<ConfigError>([&] { parse_value_texts(wrong, "--set x"); }),
                 Catch::StartsWith("--set x: not a list"));
  }
}

}  // namespace
}  // namespace bertft
