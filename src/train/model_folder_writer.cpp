#include "train/model_folder_writer.h"

#include <ATen/ops/isfinite.h>
#include <fmt/format.h>

#include <filesystem>
#include <nlohmann/json.hpp>

#include "checkpoint/safetensors.h"
#include "core/error.h"
#include "core/files.h"

namespace bertft {
namespace {

void require_finite_weights(const ModelBundle& model) {
  const ParameterStore& store = model.store();
  if (store.weights().isfinite().all().item<bool>()) return;
  for (const LayoutEntry& entry : store.layout().entries) {
    if (!store.weights().narrow(0, entry.offset, entry.size).isfinite().all().item<bool>()) {
      throw DivergedError("weights of " + entry.spec.name +
                          " are not finite; the model is not written. Lower optimizer.learning_rate");
    }
  }
}

std::vector<TensorView> tensor_views(const ModelBundle& model) {
  const ParameterStore& store = model.store();
  const bool is_double = store.weights().scalar_type() == at::kDouble;
  const size_t element_bytes = is_double ? sizeof(double) : sizeof(float);
  const auto* base = static_cast<const std::byte*>(store.weights().const_data_ptr());
  std::vector<TensorView> views;
  for (const LayoutEntry& entry : store.layout().entries) {
    views.push_back({model.published_name(entry.spec.name), is_double ? DType::kF64 : DType::kF32, entry.spec.shape,
                     base + static_cast<size_t>(entry.offset) * element_bytes,
                     static_cast<size_t>(entry.size) * element_bytes});
  }
  return views;
}

}  // namespace

std::string written_config(const EncoderConfig& config, const HeadDescription& head, at::ScalarType type) {
  auto json = nlohmann::ordered_json::parse(config.source_text);
  for (const char* key :
       {"_name_or_path", "torch_dtype", "dtype", "id2label", "label2id", "num_labels", "finetuning_task"}) {
    json.erase(key);
  }
  json["architectures"] = {head.architecture};
  json["problem_type"] = head.problem_type;
  json["dtype"] = type == at::kDouble ? "float64" : "float32";
  json["hidden_dropout_prob"] = config.dropout;
  json["attention_probs_dropout_prob"] = config.attention_dropout;
  if (config.classifier_dropout) json["classifier_dropout"] = *config.classifier_dropout;
  for (size_t id = 0; id < head.labels.size(); ++id) {
    json["id2label"][std::to_string(id)] = head.labels[id];
    json["label2id"][head.labels[id]] = id;
  }
  return json.dump(2) + "\n";
}

void write_model_folder(const ModelBundle& model, const ModelSettings& settings, const TokenizerSource& tokenizer,
                        const std::string& folder) {
  require_finite_weights(model);
  const std::string temporary = folder + ".tmp";
  std::error_code ignored;
  std::filesystem::remove_all(temporary, ignored);
  make_folders(temporary);
  write_safetensors(temporary + "/model.safetensors", tensor_views(model));
  write_file_atomically(temporary + "/config.json",
                        written_config(model.config(), model.task().describe_head(model.config()),
                                       model.store().weights().scalar_type()));
  for (const std::string& name : tokenizer.files) {
    if (name == "config.json") continue;
    write_file_atomically(temporary + "/" + name, read_file(tokenizer.folder + "/" + name));
  }
  write_file_atomically(temporary + "/bert_finetune.json", settings_text(settings));
  std::error_code error;
  std::filesystem::remove_all(folder, error);
  if (!error) std::filesystem::rename(temporary, folder, error);
  if (error) throw ResourceError(fmt::format("cannot publish {}: {}", folder, error.message()));
  sync_folder(std::filesystem::path(folder).parent_path().string());
}

}  // namespace bertft
