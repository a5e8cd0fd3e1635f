#include "train/new_checkpoint.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <map>
#include <nlohmann/json.hpp>
#include <string_view>
#include <vector>

#include "checkpoint/safetensors.h"
#include "core/error.h"
#include "core/files.h"
#include "core/text.h"
#include "model/config.h"
#include "model/encoder.h"
#include "model/initializer.h"
#include "model/sequence_head.h"
#include "tokenize/tokenizer.h"
#include "tokenize/vocab.h"

namespace bertft {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::ordered_json;

struct SizeRow {
  std::string_view name;
  int64_t layers;
  int64_t hidden;
  int64_t heads;
  int64_t intermediate;
};

// github.com/google-research/bert, "Smaller BERT models", and bert-base.
constexpr std::array<SizeRow, 4> kSizes = {
    {{"tiny", 2, 128, 2, 512}, {"mini", 4, 256, 4, 1024}, {"small", 4, 512, 8, 2048}, {"base", 12, 768, 12, 3072}}};

constexpr int64_t kPositions = 512;
constexpr const char* kFamily = "bert";
constexpr std::array<const char*, 5> kSpecialTokens = {"[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"};
constexpr std::array<const char*, 5> kSpecialRoles = {"pad_token", "unk_token", "cls_token", "sep_token", "mask_token"};

const SizeRow& find_size(const std::string& name) {
  const auto* row = std::find_if(kSizes.begin(), kSizes.end(), [&](const SizeRow& r) { return r.name == name; });
  if (row == kSizes.end()) throw ConfigError("--size: '" + name + "' is unknown; known: tiny, mini, small, base");
  return *row;
}

void require_free_output(const std::string& output) {
  std::error_code error;
  if (!fs::exists(output, error)) return;
  if (!fs::is_directory(output, error)) throw ConfigError("--output: " + output + " is a file; name a new folder");
  if (!fs::is_empty(output, error) || error) {
    throw ConfigError("--output: " + output + " is not empty; name a new folder, nothing is overwritten");
  }
}

// What Vocab accepts, since published vocabularies have it, but nobody would train a new model with.
void check_lines(std::string_view content, const std::string& path) {
  std::map<std::string_view, size_t> line_of;
  size_t number = 0;
  while (!content.empty()) {
    ++number;
    const size_t end = std::min(content.find('\n'), content.size());
    std::string_view line = content.substr(0, end);
    if (line.ends_with('\r')) line.remove_suffix(1);
    if (line.empty()) {
      throw DataError(
          fmt::format("{}:{}: an empty line, which would take an id that no text can have. Remove it", path, number));
    }
    const auto [first, is_new] = line_of.emplace(line, number);
    if (!is_new) {
      throw DataError(fmt::format("{}:{}: the token \"{}\" is already in line {}. Remove one of them", path, number,
                                  excerpt(line), first->second));
    }
    content.remove_prefix(std::min(end + 1, content.size()));
  }
}

Vocab read_vocab(const std::string& path, std::string_view content) {
  Vocab vocab = Vocab::from_text(content, path);
  check_lines(content, path);
  std::vector<std::string> missing;
  for (const char* token : kSpecialTokens) {
    if (vocab.find(token) < 0) missing.emplace_back(token);
  }
  if (missing.empty()) return vocab;
  throw DataError(
      fmt::format("{}: special tokens not found in the vocabulary: {}. A BERT vocabulary has each of {} on a "
                  "line of its own",
                  path, join(missing, ", "), fmt::join(kSpecialTokens, " ")));
}

std::string config_text(const SizeRow& size, const Vocab& vocab) {
  const Json json = {{"architectures", Json::array({"BertModel"})},
                     {"attention_probs_dropout_prob", 0.1},
                     {"dtype", "float32"},
                     {"hidden_act", "gelu"},
                     {"hidden_dropout_prob", 0.1},
                     {"hidden_size", size.hidden},
                     {"initializer_range", 0.02},
                     {"intermediate_size", size.intermediate},
                     {"layer_norm_eps", 1e-12},
                     {"max_position_embeddings", kPositions},
                     {"model_type", kFamily},
                     {"num_attention_heads", size.heads},
                     {"num_hidden_layers", size.layers},
                     {"pad_token_id", vocab.find("[PAD]")},
                     {"type_vocab_size", 2},
                     {"vocab_size", vocab.size()}};
  return json.dump(2) + "\n";
}

std::string special_tokens_text(Json json) {
  for (size_t i = 0; i < kSpecialTokens.size(); ++i) json[kSpecialRoles[i]] = kSpecialTokens[i];
  return json.dump(2) + "\n";
}

void write_tokenizer(const std::string& folder, std::string_view vocab_text, bool keeps_case) {
  write_file_atomically(folder + "/vocab.txt", vocab_text);
  write_file_atomically(folder + "/special_tokens_map.json", special_tokens_text(Json::object()));
  write_file_atomically(folder + "/tokenizer_config.json", special_tokens_text({{"tokenizer_class", "BertTokenizer"},
                                                                                {"do_lower_case", !keeps_case},
                                                                                {"tokenize_chinese_chars", true},
                                                                                {"model_max_length", kPositions}}));
}

// The parameters of encoder and pooler, as BertModel has them.
std::vector<ParameterSpec> published_parameters(const EncoderConfig& config) {
  std::vector<ParameterSpec> specs;
  SequenceHead::append_specs(config, 2, specs);
  std::erase_if(specs, [](const ParameterSpec& spec) { return !spec.name.starts_with("pooler."); });
  Encoder::append_specs(config, specs);
  return specs;
}

std::vector<float> initial_values(const ParameterSpec& spec, const EncoderConfig& config, int32_t pad, uint64_t seed) {
  const auto count = static_cast<size_t>(element_count(spec.shape));
  std::vector<double> values(count);
  fill_initial(spec.name, config.initializer_range, seed, values);
  if (spec.name == "embeddings.word_embeddings.weight") {
    std::fill_n(values.begin() + pad * config.hidden_size, config.hidden_size, 0.0);
  }
  return {values.begin(), values.end()};
}

int64_t write_weights(const std::string& folder, const EncoderConfig& config, int32_t pad, uint64_t seed) {
  const std::vector<ParameterSpec> specs = published_parameters(config);
  std::vector<std::vector<float>> values;
  std::vector<TensorView> views;
  int64_t parameters = 0;
  for (const ParameterSpec& spec : specs) {
    values.push_back(initial_values(spec, config, pad, seed));
    views.push_back({spec.name, DType::kF32, spec.shape, reinterpret_cast<const std::byte*>(values.back().data()),
                     values.back().size() * sizeof(float)});
    parameters += element_count(spec.shape);
  }
  write_safetensors(folder + "/model.safetensors", views);
  return parameters;
}

// Removes the folder unless it was published.
class BuildFolder {
 public:
  explicit BuildFolder(const std::string& output) : output_(output), path_(output + ".tmp") {
    std::error_code ignored;
    fs::remove_all(path_, ignored);
    make_folders(path_);
  }
  ~BuildFolder() {
    std::error_code ignored;
    fs::remove_all(path_, ignored);
  }
  BuildFolder(const BuildFolder&) = delete;
  BuildFolder& operator=(const BuildFolder&) = delete;

  const std::string& path() const { return path_; }

  void publish() const {
    std::error_code error;
    fs::remove(output_, error);  // an empty folder
    fs::rename(path_, output_, error);
    if (error) throw ResourceError(fmt::format("cannot publish {}: {}", output_, error.message()));
    sync_folder(fs::path(output_).parent_path().string());
  }

 private:
  std::string output_;
  std::string path_;
};

}  // namespace

NewCheckpointFacts write_new_checkpoint(const NewCheckpoint& settings) {
  if (settings.family != kFamily) {
    throw ConfigError(fmt::format("--family: {} is not in this build; known: {}", settings.family, kFamily));
  }
  const SizeRow& size = find_size(settings.size);
  const std::string output = (fs::path(settings.output) / "").parent_path().string();  // without a '/' at its end
  require_free_output(output);
  const std::string vocab_text = read_file(settings.vocab_path);
  const Vocab vocab = read_vocab(settings.vocab_path, vocab_text);

  const BuildFolder folder(output);
  write_file_atomically(folder.path() + "/config.json", config_text(size, vocab));
  write_tokenizer(folder.path(), vocab_text, settings.keeps_case);
  const EncoderConfig config = read_encoder_config(folder.path() + "/config.json");
  const Tokenizer tokenizer = Tokenizer::load(folder.path(), Compat::kHf);
  check(tokenizer.vocab_size() == config.vocab_size, "a new checkpoint's tokenizer and table must have one size");
  NewCheckpointFacts facts{0, config.vocab_size, config.layers, config.hidden_size};
  facts.parameters = write_weights(folder.path(), config, tokenizer.pad_id(), settings.seed);
  folder.publish();
  return facts;
}

}  // namespace bertft
