// Turns a configuration into the parts of a training run. The only place that knows which concrete classes there are.
#pragma once

#include <ATen/core/Tensor.h>

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "comm/bootstrap.h"
#include "comm/communicator.h"
#include "comm/rank_link.h"
#include "comm/world.h"
#include "config/run_config.h"
#include "data/dataset.h"
#include "data/sampler.h"
#include "optim/optimizer.h"
#include "tokenize/tokenizer.h"
#include "train/compute.h"
#include "train/data_files.h"
#include "train/model_bundle.h"
#include "train/model_folder_writer.h"
#include "train/model_settings.h"
#include "train/ranks.h"
#include "train/weight_loader.h"

namespace bertft {

// Everything that "auto" left open, decided by rules before training and printed at start.
struct ResolvedRun {
  std::string device = "cpu";
  std::string precision = "fp32";
  int threads = 1;
  std::string threads_reason;
  std::string kernels_reason;  // ComputeSettings
  std::string products;        // what multiplies matrices: "own" kernels or the "blas"
  std::string blas_mode;       // MKL_CBWR
  int64_t world = 1;           // ranks
  int64_t global_batch_size = 0;
  int64_t micro_batch_tokens = 0;
  int64_t eval_batch_tokens = 0;
  int64_t steps_per_epoch = 0;
  int64_t total_steps = 0;
  int64_t warmup_steps = 0;
};

// The same by name, with the instruction set in use: for run.json and the training state.
std::vector<std::pair<std::string, std::variant<int64_t, std::string>>> resolved_values(const ResolvedRun& resolved);

struct TrainingJob {
  // Whether a resumed run now computes on another kind of machine or with other threads than before, so that results
  // agree up to the order of summation only.
  bool is_moved = false;
  RunConfig config;
  ResolvedRun resolved;
  ModelSettings settings;
  TokenizerSource tokenizer_source;
  Dataset train;
  std::optional<Dataset> dev = {};
  std::optional<Dataset> test = {};
  SplitFiles dev_files = {};  // where the rows of dev and test come from, for the texts in predictions
  SplitFiles test_files = {};
  std::string data_report = {};
  LoadSummary loaded = {};
  std::unique_ptr<ModelBundle> model = {};
  World world = {};
  std::unique_ptr<Communicator> communicator = {};  // made by connect()
  std::unique_ptr<Optimizer> optimizer = {};
  std::unique_ptr<Sampler> sampler = {};

  // The communicator's all_gather. REQUIRES connect().
  GatherTexts gather() const;

  // Split -> hash of the content of its files; not for one of which data.max_rows left a part unread.
  std::map<std::string, std::string> data_hashes() const;
};

// Parts of a job that `check` looks at one by one: how texts are prepared, the encoder with the run's dropout, the task
// before it knows its labels. Throw ConfigError and CheckpointError.
ModelSettings run_settings(const RunConfig& config);
EncoderConfig run_encoder_config(const std::string& folder, const ModelOptions& options);
std::unique_ptr<Task> make_run_task(const RunConfig& config);

// What "auto" stands for with that many training rows and processes. Warns when the learning rate never reaches its
// peak; throws ConfigError when the warm-up is longer than the run.
ResolvedRun resolve_run(const RunConfig& config, const ComputeSettings& compute, int64_t rows, int world);

// What must be the same on all ranks before any of them reads its data: the program and the values of all keys but
// those that name places of one machine.
Facts configuration_facts(RunConfig& config);

// Reads data and checkpoint and builds everything but the communicator; writes nothing. Throws ConfigError, DataError,
// CheckpointError. `compute`: what prepare_compute() of this process gave. `is_verified`: the content of data files is
// compared with what cached data sets were made of.
TrainingJob build_training_job(RunConfig config, const World& world, const ComputeSettings& compute,
                               bool is_verified = false);

// Collective: makes sure that all ranks have the same data, checkpoint and parameters, and makes the communicator.
// `link`: of connect_ranks(). Throws SharedError when the ranks differ, else as make_communicator().
void connect(TrainingJob& job, Bootstrap& bootstrap, std::shared_ptr<RankLink> link);

}  // namespace bertft
