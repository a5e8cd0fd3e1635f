#include "train/model_folder_reader.h"

#include <fmt/format.h>

#include <utility>

#include "checkpoint/model_folder.h"
#include "core/error.h"
#include "tasks/registry.h"

namespace bertft {

void check_model_fits(const EncoderConfig& config, const Tokenizer& tokenizer, int64_t max_length,
                      const std::string& what) {
  if (tokenizer.vocab_size() > config.vocab_size) {
    throw CheckpointError(
        fmt::format("the vocabulary has {} tokens but vocab_size in config.json is {}: tokenizer and weights do not "
                    "belong together. Take all files from the same checkpoint",
                    tokenizer.vocab_size(), config.vocab_size));
  }
  if (max_length > config.max_positions) {
    throw ConfigError(fmt::format("{}: {} is more than the {} positions of the checkpoint (max_position_embeddings)",
                                  what, max_length, config.max_positions));
  }
}

namespace {

std::unique_ptr<Task> task_of(const ModelSettings& settings, const std::string& folder) {
  try {
    return make_task(settings.task, {settings.label_settings, settings.labels});
  } catch (const ConfigError& failure) {
    throw CheckpointError(folder + "/bert_finetune.json: " + failure.what());
  }
}

}  // namespace

OpenedModel open_model(const std::string& folder) {
  const ModelFiles files = find_model_files(folder);
  ModelSettings settings = read_model_settings(files.folder);
  EncoderConfig config = read_encoder_config(files.folder + "/config.json");
  Tokenizer tokenizer = Tokenizer::load(files.folder, settings.compat);
  if (settings.max_length == 0) settings.max_length = foreign_max_length(tokenizer, config);
  check_model_fits(config, tokenizer, settings.max_length, files.folder + "/bert_finetune.json: max_length");
  const TensorFile file = TensorFile::open(files.weights);
  auto model = std::make_unique<ModelBundle>(std::move(config), task_of(settings, files.folder), stored_type(file));
  LoadSummary loaded = load_weights(*model, file, HeadUse::kKeep, 0);
  return {std::move(settings), std::move(tokenizer), std::move(model), std::move(loaded)};
}

}  // namespace bertft
