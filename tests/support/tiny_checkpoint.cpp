#include "tests/support/tiny_checkpoint.h"

#include <deque>

#include "checkpoint/safetensors.h"
#include "core/files.h"
#include "core/rng.h"

namespace bertft::test {
namespace {

// Collects tensors of random values and their views.
class TensorMaker {
 public:
  void add(const std::string& name, const std::vector<int64_t>& shape) {
    const auto count = static_cast<size_t>(element_count(shape));
    std::vector<float>& values = storage_.emplace_back(count);
    const bool is_scale = name.find("LayerNorm.weight") != std::string::npos;
    const uint64_t key = stream_key(7, storage_.size());
    for (size_t i = 0; i < count; ++i)
      values[i] = static_cast<float>((is_scale ? 1.0 : 0.0) + 0.2 * counter_normal(key, i));
    views_.push_back(
        {name, DType::kF32, shape, reinterpret_cast<const std::byte*>(values.data()), count * sizeof(float)});
  }
  const std::vector<TensorView>& views() const { return views_; }

 private:
  std::deque<std::vector<float>> storage_;
  std::vector<TensorView> views_;
};

void add_dense(TensorMaker& maker, const std::string& scope, int64_t outputs, int64_t inputs) {
  maker.add(scope + ".weight", {outputs, inputs});
  maker.add(scope + ".bias", {outputs});
}

void add_norm(TensorMaker& maker, const std::string& scope, int64_t width) {
  maker.add(scope + ".weight", {width});
  maker.add(scope + ".bias", {width});
}

}  // namespace

std::string TinyCheckpoint::vocab_text() const {
  std::string text = "[PAD]\n[UNK]\n[CLS]\n[SEP]\n[MASK]\n";
  for (const std::string& word : words) text += word + "\n";
  return text;
}

std::string TinyCheckpoint::config_text() const {
  return R"({"model_type": "bert", "architectures": ["BertModel"], "hidden_act": "gelu", "vocab_size": )" +
         std::to_string(words.size() + 5) + R"(, "hidden_size": )" + std::to_string(hidden) +
         R"(, "num_hidden_layers": )" + std::to_string(layers) + R"(, "num_attention_heads": )" +
         std::to_string(heads) + R"(, "intermediate_size": )" + std::to_string(intermediate) +
         R"(, "max_position_embeddings": )" + std::to_string(positions) +
         R"(, "type_vocab_size": 2, "layer_norm_eps": 1e-12})";
}

void TinyCheckpoint::write(const std::string& folder) const {
  make_folders(folder);
  write_file_atomically(folder + "/config.json", config_text());
  write_file_atomically(folder + "/vocab.txt", vocab_text());
  write_file_atomically(folder + "/tokenizer_config.json",
                        R"({"tokenizer_class": "BertTokenizer", "do_lower_case": true})");
  TensorMaker maker;
  maker.add("bert.embeddings.word_embeddings.weight", {static_cast<int64_t>(words.size()) + 5, hidden});
  maker.add("bert.embeddings.position_embeddings.weight", {positions, hidden});
  maker.add("bert.embeddings.token_type_embeddings.weight", {2, hidden});
  add_norm(maker, "bert.embeddings.LayerNorm", hidden);
  for (int64_t layer = 0; layer < layers; ++layer) {
    const std::string scope = "bert.encoder.layer." + std::to_string(layer);
    for (const char* part : {"query", "key", "value"}) {
      add_dense(maker, scope + ".attention.self." + part, hidden, hidden);
    }
    add_dense(maker, scope + ".attention.output.dense", hidden, hidden);
    add_norm(maker, scope + ".attention.output.LayerNorm", hidden);
    add_dense(maker, scope + ".intermediate.dense", intermediate, hidden);
    add_dense(maker, scope + ".output.dense", hidden, intermediate);
    add_norm(maker, scope + ".output.LayerNorm", hidden);
  }
  add_dense(maker, "bert.pooler.dense", hidden, hidden);
  write_safetensors(folder + "/model.safetensors", maker.views());
}

}  // namespace bertft::test
