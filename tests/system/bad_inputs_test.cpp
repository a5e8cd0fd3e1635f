// Bad input of every kind: one message with place and remedy, the right exit code, and nothing written or lost.
#include <filesystem>
#include <string>
#include <vector>

#include "core/files.h"
#include "tests/support/job_folder.h"
#include "tests/support/test.h"
#include "tests/system/bad_input.h"

namespace bertft::test {
namespace {

std::string header_length(uint64_t bytes) {
  std::string text;
  for (int i = 0; i < 8; ++i) text += static_cast<char>(bytes >> (8 * i) & 0xff);
  return text;
}

std::vector<BadInput> config_cases() {
  return {
      {"misspelt section",
       set_line("optimizer:", "optimiser:"),
       2,
       {"c.yaml:", "optimiser.learning_rate", "optimizer.learning_rate"}},
      {"misspelt key", set_line("epochs: 2", "epoch: 2"), 2, {"c.yaml:9", "unknown key 'train.epoch'", "train.epochs"}},
      {"key in no section",
       set_line("train:\n  epochs: 2", "epochs: 2\ntrain:"),
       2,
       {"unknown key 'epochs'", "train.epochs"}},
      {"key set twice",
       set_line("epochs: 2", "epochs: 2\n  epochs: 3"),
       2,
       {"c.yaml:10", "'train.epochs' is set twice"}},
      {"text for an integer",
       set_line("epochs: 2", "epochs: two"),
       2,
       {"c.yaml:9: train.epochs", "'two'", "an integer"}},
      {"fraction for an integer", set_line("epochs: 2", "epochs: 2.5"), 2, {"c.yaml:9: train.epochs", "an integer"}},
      {"zero epochs", set_line("epochs: 2", "epochs: 0"), 2, {"c.yaml:9: train.epochs", "out of range", "between 1"}},
      {"negative rate", set_line("1.0e-3", "-1.0e-3"), 2, {"optimizer.learning_rate", "out of range"}},
      {"rate that is no number", set_line("1.0e-3", ".nan"), 2, {"optimizer.learning_rate", "a number"}},
      {"list for a number", set_line("1.0e-3", "[1, 2]"), 2, {"optimizer.learning_rate", "not a list"}},
      {"map for a value", set_line("epochs: 2", "epochs: {a: 2}"), 2, {"unknown key 'train.epochs.a'"}},
      {"no value", set_line("epochs: 2", "epochs:"), 2, {"c.yaml:9", "train.epochs: there is no value"}},
      {"unknown choice", set_line("max_length: 16", "truncation: longest"), 2, {"model.truncation", "longest_first"}},
      {"yes for a boolean",
       set_line("model:", "deterministic: yes\nmodel:"),
       2,
       {"c.yaml:1: deterministic", "true or false"}},
      {"broken YAML", set_line("model:", "model: ["), 2, {"c.yaml:", "not valid YAML"}},
      {"empty file", [](const JobFolder& job) { job.write("c.yaml", ""); }, 2, {"c.yaml", "empty"}},
      {"a list at the top",
       [](const JobFolder& job) { job.write("c.yaml", "- a\n- b\n"); },
       2,
       {"c.yaml:1", "a map of sections"}},
      {"unset variable",
       set_line("dir: run", "dir: ${BERTFT_NOT_SET}/run"),
       2,
       {"output.dir", "BERTFT_NOT_SET is not set"}},
      {"variable without end", set_line("dir: run", "dir: ${HOME/run"), 2, {"output.dir", "without '}'"}},
      {"no training file named", set_line("  train: train.tsv\n", ""), 2, {"data.train: not set"}},
      {"no checkpoint named", set_line("  checkpoint: checkpoint\n", ""), 2, {"model.checkpoint: not set"}},
      {"no output named", set_line("output:\n  dir: run", ""), 2, {"output.dir: not set"}},
      {"two batch sizes",
       set_line("epochs: 2", "epochs: 2\n  batch_size_per_rank: 4"),
       2,
       {"train.global_batch_size (4", "set exactly one"}},
      {"epochs and steps",
       set_line("epochs: 2", "epochs: 2\n  max_steps: 4"),
       2,
       {"train.epochs", "train.max_steps", "set exactly one"}},
      {"warm-up longer than the run",
       set_line("optimizer:", "schedule: {warmup_steps: 100}\noptimizer:"),
       2,
       {"schedule.warmup_steps (100)", "6 steps"}},
      {"key of another build",
       set_line("epochs: 2", "epochs: 2\n  cuda_graph: true"),
       2,
       {"train.cuda_graph: not in this build"}},
      {"value of another build",
       set_line("model:", "task: text_matching\nmodel:"),
       2,
       {"task=text_matching: not in this build", "text_classification"}},
      {"option of another optimizer",
       set_line("learning_rate: 1.0e-3", "momentum: 0.9"),
       2,
       {"optimizer.momentum (0.9)", "sgd", "adamw"}},
      {"more frozen layers than there are",
       set_line("max_length: 16", "max_length: 16\n  freeze: 99"),
       2,
       {"model.freeze: 99 layers", "the checkpoint has"}},
      {"part that cannot be frozen",
       set_line("max_length: 16", "max_length: 16\n  freeze: head"),
       2,
       {"model.freeze: 'head'", "none, embeddings"}},
      {"section of another build",
       set_line("output:", "distill: {teacher: x}\noutput:"),
       2,
       {"distill", "not in this build"}},
      {"precision of another build",
       set_line("model:", "precision: fp16\nmodel:"),
       2,
       {"precision=fp16: not in this build", "bf16"}},
      {"no such device", set_line("model:", "device: cuda\nmodel:"), 2, {"device: cuda", "CPU"}},
      {"max_length beyond the positions",
       set_line("max_length: 16", "max_length: 33"),
       2,
       {"model.max_length: 33", "32 positions"}},
      {"one column for two things",
       set_line("  test: test.tsv", "  columns: {text: text, text_pair: text}"),
       2,
       {"data.columns.text", "same column"}},
      {"override without a value",
       nothing(),
       2,
       {"--set train.epochs", "section.key=value"},
       {"--set", "train.epochs"}},
      {"override of no key", nothing(), 2, {"--set", "'train.epoch'", "train.epochs"}, {"--set", "train.epoch=1"}},
      {"unknown option", nothing(), 2, {"--overwite", "--overwrite"}, {"--overwite"}, true},
      {"dump of no step", nothing(), 2, {"--dump-step", "'x' is not a step"}, {"--dump-step", "x", "y"}, true},
      {"unknown mode", nothing(), 2, {"comm.mode", "'nccl'", "aiacc, horovod"}, {"--comm=nccl"}, true},
      {"resume and overwrite", nothing(), 2, {"--resume and --overwrite"}, {"--resume", "--overwrite"}, true},
      {"resume from nowhere", nothing(), 2, {"neither the folder of a run"}, {"--resume=nowhere"}, true},
  };
}

std::vector<BadInput> checkpoint_cases() {
  return {
      {"no checkpoint", set_line("checkpoint: checkpoint", "checkpoint: nowhere"), 3, {"nowhere"}},
      {"folder without weights",
       [](const JobFolder& job) { job.remove("checkpoint/model.safetensors"); },
       3,
       {"model.safetensors"}},
      {"PyTorch weights that are none",
       [](const JobFolder& job) {
         job.remove("checkpoint/model.safetensors");
         job.write("checkpoint/pytorch_model.bin", "PK");
       },
       3,
       {"pytorch_model.bin", "no file of torch.save"}},
      {"PyTorch weights that would run code",
       [](const JobFolder& job) {
         job.remove("checkpoint/model.safetensors");
         job.write("checkpoint/pytorch_model.bin", read_file("tests/golden/checkpoint/hostile_os_system.bin"));
       },
       3,
       {"pytorch_model.bin, data.pkl: at byte ", "global posix.system is not allowed", "Nothing of it was executed"}},
      {"a shard that is missing",
       [](const JobFolder& job) {
         job.remove("checkpoint/model.safetensors");
         job.write("checkpoint/model.safetensors.index.json", R"({"weight_map": {"a": "model-00001.safetensors"}})");
       },
       3,
       {"model.safetensors.index.json", "the shard model-00001.safetensors is missing"}},
      {"TensorFlow weights alone",
       [](const JobFolder& job) {
         job.remove("checkpoint/model.safetensors");
         job.write("checkpoint/tf_model.h5", "\x89HDF");
       },
       3,
       {"tf_model.h5", "not in this build", "from_tf=True"}},
      {"no config.json", [](const JobFolder& job) { job.remove("checkpoint/config.json"); }, 3, {"config.json"}},
      {"config.json cut short",
       [](const JobFolder& job) { job.write("checkpoint/config.json", "{\"model_type\": "); },
       3,
       {"config.json", "not valid JSON"}},
      {"another family",
       replace_in("checkpoint/config.json", "\"bert\"", "\"gpt2\""),
       3,
       {"config.json", "gpt2", "known: bert"}},
      {"another activation", replace_in("checkpoint/config.json", "\"gelu\"", "\"swish\""), 3, {"hidden_act", "swish"}},
      {"heads that do not divide",
       replace_in("checkpoint/config.json", "\"num_attention_heads\": 2", "\"num_attention_heads\": 3"),
       3,
       {"num_attention_heads", "must divide"}},
      {"more layers than weights",
       replace_in("checkpoint/config.json", "\"num_hidden_layers\": 2", "\"num_hidden_layers\": 3"),
       3,
       {"encoder.layer.2"}},
      {"fewer layers than weights",
       replace_in("checkpoint/config.json", "\"num_hidden_layers\": 2", "\"num_hidden_layers\": 1"),
       3,
       {"encoder.layer.1"}},
      {"another hidden size",
       replace_in("checkpoint/config.json", "\"hidden_size\": 16", "\"hidden_size\": 32"),
       3,
       {"model.safetensors", "[16", "[32"}},
      {"vocabulary larger than the table",
       [](const JobFolder& job) { job.append("checkpoint/vocab.txt", "more\n"); },
       3,
       {"17", "16", "vocab"}},
      {"no vocabulary", [](const JobFolder& job) { job.remove("checkpoint/vocab.txt"); }, 3, {"vocab.txt"}},
      {"vocabulary without [CLS]", replace_in("checkpoint/vocab.txt", "[CLS]", "[cls]"), 3, {"[CLS]"}},
      {"another tokenizer",
       replace_in("checkpoint/tokenizer_config.json", "BertTokenizer", "XLMRobertaTokenizer"),
       3,
       {"XLMRobertaTokenizer", "tokenizer_config.json"}},
      {"weights cut short",
       [](const JobFolder& job) {
         const std::string all = read_file(job.path("checkpoint/model.safetensors"));
         job.write("checkpoint/model.safetensors", all.substr(0, all.size() - 100));
       },
       3,
       {"model.safetensors"}},
      {"weights of a few bytes",
       [](const JobFolder& job) { job.write("checkpoint/model.safetensors", "abc"); },
       3,
       {"model.safetensors"}},
      {"absurd header size",
       [](const JobFolder& job) { job.write("checkpoint/model.safetensors", header_length(uint64_t{1} << 62) + "{}"); },
       3,
       {"model.safetensors"}},
      {"header that is no JSON",
       [](const JobFolder& job) { job.write("checkpoint/model.safetensors", header_length(8) + "{\"a\": [}"); },
       3,
       {"model.safetensors"}},
      {"LFS pointer as weights",
       [](const JobFolder& job) {
         job.write("checkpoint/model.safetensors",
                   "version https://git-lfs.github.com/spec/v1\noid sha256:00\nsize 437999801\n");
       },
       3,
       {"Git LFS pointer", "437999801"}},
      {"head that must be kept",
       set_line("max_length: 16", "max_length: 16\n  head: keep"),
       3,
       {"model.head is keep", "classifier"}},
      {"weights that are not finite",
       [](const JobFolder& job) {
         std::string all = read_file(job.path("checkpoint/model.safetensors"));
         for (size_t i = 0; i < 4; ++i) all[all.size() - 1 - i] = static_cast<char>(0xff);
         job.write("checkpoint/model.safetensors", all);
       },
       3,
       {"pooler.dense", "not a finite number"}},
  };
}

std::vector<BadInput> output_cases() {
  return {
      {"output is not empty",
       [](const JobFolder& job) { job.write("run/note.txt", "mine"); },
       2,
       {"output.dir", "not empty", "--overwrite"}},
      {"output is no run",
       [](const JobFolder& job) { job.write("run/note.txt", "mine"); },
       2,
       {"output.dir", "no run.json of a run"},
       {"--overwrite"},
       true},
      {"output is a file", [](const JobFolder& job) { job.write("run", "mine"); }, 2, {"output.dir", "is a file"}},
  };
}

TEST_CASE("bad configurations are refused with file, line, key and remedy") { check_cases(config_cases()); }
TEST_CASE("bad checkpoints are refused by what is wrong with them") { check_cases(checkpoint_cases()); }
TEST_CASE("what a new run would destroy cannot be its input, and outputs are never inputs") {
  const JobFolder job;
  REQUIRE(job.train().exit_code == 0);
  const std::string before = read_file(job.path("run/results.json"));
  const std::vector<std::vector<std::string>> requests = {
      {"--overwrite", "--set", "model.checkpoint=" + job.path("run/best")},
      {"--overwrite", "--set", "data.train=" + job.path("run/predictions/dev.tsv")},
      {"--overwrite", "--dump-step", "99", job.path("d.safetensors")},
      {"--overwrite", "--trace", job.path("nowhere/t")},
      {"--overwrite", "--trace", job.path("train.tsv")},
  };
  for (const std::vector<std::string>& request : requests) {
    CAPTURE(request.back());
    const RunResult result = job.train(request);
    CAPTURE(result.err);
    CHECK(result.exit_code == 2);
    CHECK(read_file(job.path("run/results.json")) == before);
    CHECK(std::filesystem::exists(job.path("run/best/model.safetensors")));
  }
  const std::string rows = read_file(job.path("dev.tsv"));
  CHECK(run_binary({"predict", "--model", job.path("run/best"), "--data", job.path("dev.tsv"), "--output",
                    job.path("dev.tsv")})
            .exit_code == 2);
  CHECK(read_file(job.path("dev.tsv")) == rows);
}

TEST_CASE("an output folder that is in use is left alone") { check_cases(output_cases()); }

}  // namespace
}  // namespace bertft::test
