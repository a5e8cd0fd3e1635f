#include "tokenize/tokenizer_class.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <string_view>
#include <system_error>

#include "core/error.h"

namespace bertft {
namespace {

// Classes that transformers 5.24 makes a BertTokenizer of ("Fast" behind the name is the same).
constexpr std::array<std::string_view, 7> kBertClasses = {
    "BertTokenizer",        "DistilBertTokenizer", "ElectraTokenizer", "MobileBertTokenizer",
    "SqueezeBertTokenizer", "LayoutLMTokenizer",   "LxmertTokenizer"};

constexpr std::array<std::string_view, 2> kTokenizerJsonClasses = {"PreTrainedTokenizerFast", "TokenizersBackend"};

// Model types for which AutoTokenizer takes BertTokenizer when no class is named.
constexpr std::array<std::string_view, 14> kBertModelTypes = {
    "bert",  "distilbert",    "electra", "ernie",      "mobilebert", "convbert",    "squeezebert",
    "nezha", "megatron-bert", "qdqbert", "nomic_bert", "layoutlm",   "visual_bert", "retribert"};

constexpr std::string_view kSupported =
    "This build reads BERT WordPiece tokenizers: BertTokenizer, DistilBertTokenizer, ElectraTokenizer, "
    "MobileBertTokenizer, or PreTrainedTokenizerFast with a BERT tokenizer.json. Use a checkpoint that comes with one";

template <size_t N>
bool contains(const std::array<std::string_view, N>& names, std::string_view name) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

std::string_view why_not(std::string_view name) {
  if (name.find("Japanese") != name.npos) return " (words are found by a morphological analyser)";
  if (name.find("Roberta") != name.npos && name.find("XLM") == name.npos) return " (byte-level BPE)";
  if (name.find("XLM") != name.npos || name.find("Albert") != name.npos) return " (SentencePiece)";
  return "";
}

[[noreturn]] void refuse_class(const std::string& name, const std::string& file) {
  throw DataError(fmt::format("{}: tokenizer class {}{} is not supported. {}", file, name, why_not(name), kSupported));
}

// Options of Japanese tokenizers: a class may be missing beside them, their effect not.
void refuse_other_splitters(const JsonFile& tokenizer_config) {
  const auto refuse_unless = [&](const char* key, const char* harmless) {
    const auto value = tokenizer_config.text(key);
    if (!value || *value == harmless) return;
    throw DataError(fmt::format("{}: {} \"{}\" (class BertJapaneseTokenizer) is not supported. {}",
                                tokenizer_config.path(), key, *value, kSupported));
  };
  refuse_unless("word_tokenizer_type", "basic");
  refuse_unless("subword_tokenizer_type", "wordpiece");
}

void refuse_custom_code(const JsonFile& tokenizer_config) {
  if (!tokenizer_config.has("auto_map")) return;
  const nlohmann::json& map = tokenizer_config.root()["auto_map"];
  if (map.is_array() || (map.is_object() && map.contains("AutoTokenizer"))) {
    throw DataError(
        fmt::format("{}: auto_map: the tokenizer is Python code of its own, which is never executed here. {}",
                    tokenizer_config.path(), kSupported));
  }
}

TokenizerKind kind_of_class(std::string name, const std::string& file) {
  if (contains(kTokenizerJsonClasses, name)) return TokenizerKind::kTokenizerJson;
  const std::string full_name = name;
  constexpr std::string_view kFast = "Fast";
  if (name.size() > kFast.size() && name.ends_with(kFast)) name.resize(name.size() - kFast.size());
  if (!contains(kBertClasses, name)) refuse_class(full_name, file);
  return TokenizerKind::kBert;
}

}  // namespace

bool TokenizerFolder::has(const std::string& name) const {
  return std::find(files.begin(), files.end(), name) != files.end();
}

TokenizerFolder read_tokenizer_folder(const std::string& path) {
  namespace fs = std::filesystem;
  std::error_code error;
  if (!fs::is_directory(path, error)) {
    throw DataError(fmt::format("{}: not a folder. Name the folder that holds the model with its vocab.txt", path));
  }
  TokenizerFolder folder;
  folder.path = path;
  const auto full = [&](const std::string& name) { return (fs::path(path) / name).string(); };
  const auto read_if_there = [&](const std::string& name, JsonFile* file) {
    if (!fs::exists(full(name), error)) return;
    folder.files.push_back(name);
    if (file != nullptr) *file = JsonFile::read(full(name));
  };
  read_if_there("vocab.txt", nullptr);
  read_if_there("tokenizer_config.json", &folder.tokenizer_config);
  read_if_there("special_tokens_map.json", &folder.special_tokens_map);
  read_if_there("added_tokens.json", &folder.added_tokens);
  read_if_there("tokenizer.json", &folder.tokenizer_json);
  if (fs::exists(full("config.json"), error)) folder.config = JsonFile::read(full("config.json"));
  return folder;
}

TokenizerKind choose_tokenizer_kind(const TokenizerFolder& folder) {
  refuse_custom_code(folder.tokenizer_config);
  const auto own_class = folder.tokenizer_config.text("tokenizer_class");
  const auto model_class = folder.config.text("tokenizer_class");
  TokenizerKind kind = TokenizerKind::kBert;
  if (own_class) {
    kind = kind_of_class(*own_class, folder.tokenizer_config.path());
  } else if (model_class) {
    kind = kind_of_class(*model_class, folder.config.path());
  } else if (const auto type = folder.config.text("model_type"); type && !contains(kBertModelTypes, *type)) {
    throw DataError(
        fmt::format("{}: model_type {} names no BERT WordPiece tokenizer, and no tokenizer_class is given. {}",
                    folder.config.path(), *type, kSupported));
  }
  refuse_other_splitters(folder.tokenizer_config);
  if (kind == TokenizerKind::kTokenizerJson && !folder.has("tokenizer.json")) {
    throw DataError(fmt::format(
        "{}: tokenizer.json is missing, which {} names as the tokenizer. Copy it from where the model came from",
        folder.path, own_class ? *own_class : *model_class));
  }
  if (!folder.has("tokenizer.json") && !folder.has("vocab.txt")) {
    throw DataError(
        fmt::format("{}: neither vocab.txt nor tokenizer.json is there. Copy vocab.txt from where the model came from",
                    folder.path));
  }
  return kind;
}

}  // namespace bertft
