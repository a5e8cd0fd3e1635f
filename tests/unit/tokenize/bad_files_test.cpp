// Tokenizer folders that cannot be used: each is refused with one message that names the file and what to do.
#include <string>
#include <vector>

#include "core/error.h"
#include "tests/support/temp_folder.h"
#include "tests/support/test.h"
#include "tokenize/tokenizer.h"

namespace bertft::test {
namespace {

const std::string kVocab = "[PAD]\n[UNK]\n[CLS]\n[SEP]\n[MASK]\na\n##b\n";

struct File {
  std::string name;
  std::string content;
};

struct BadFolder {
  std::vector<File> files;
  std::vector<std::string> message;  // all of these are in it
};

File config(const std::string& json) { return {"tokenizer_config.json", json}; }

// A tokenizer.json with one part given.
std::string pipeline(const std::string& part) {
  const std::string model =
      R"("model": {"type": "WordPiece", "unk_token": "[UNK]", "vocab": {"[PAD]": 0, "[UNK]": 1}})";
  const std::string normalizer = R"("normalizer": {"type": "BertNormalizer", "lowercase": true})";
  const std::string splitter = R"("pre_tokenizer": {"type": "BertPreTokenizer"})";
  std::string text = "{" + part;
  for (const std::string& other : {model, normalizer, splitter}) {
    const std::string key = other.substr(0, other.find(':'));
    if (part.find(key) == std::string::npos) text += (text.size() > 1 ? ", " : "") + other;
  }
  return text + "}";
}

const File kFast = config(R"({"tokenizer_class": "PreTrainedTokenizerFast"})");

const std::vector<BadFolder> kBadFolders = {
    {{}, {"vocab.txt", "Copy vocab.txt"}},
    {{{"vocab.txt", ""}}, {"vocab.txt", "empty"}},
    {{{"vocab.txt", "[PAD]\r[UNK]\r[CLS]\r[SEP]\ra\r"}}, {"vocab.txt:1", "CR alone", "LF"}},
    {{{"vocab.txt", "\xEF\xBB\xBF" + kVocab}}, {"vocab.txt:1", "byte order mark"}},
    {{{"vocab.txt", kVocab + "caf\xE9\n"}}, {"vocab.txt:8", "UTF-8"}},
    {{{"vocab.txt", "<!DOCTYPE html>\n<html><body>404</body></html>\n"}}, {"vocab.txt", "web page"}},
    {{{"vocab.txt", "version https://git-lfs.github.com/spec/v1\noid sha256:0\nsize 231508\n"}},
     {"vocab.txt", "Git LFS pointer", "231508"}},
    {{{"vocab.txt", "a\nb\n"}}, {"vocab.txt", "[UNK] (unk_token)", "[CLS] (cls_token)", "not found"}},
    {{{"vocab.txt", kVocab}, config("{\"do_lower_case\": tru}")}, {"tokenizer_config.json:1", "byte 22", "JSON"}},
    {{{"vocab.txt", kVocab}, config("{\n\"a\": 1,\n}")}, {"tokenizer_config.json:3", "JSON"}},
    {{{"vocab.txt", kVocab}, config("")}, {"tokenizer_config.json:1", "JSON"}},
    {{{"vocab.txt", kVocab}, config("[1]")}, {"tokenizer_config.json:1", "object", "array"}},
    {{{"vocab.txt", kVocab}, config(R"({"do_lower_case": "yes"})")},
     {"tokenizer_config.json", "do_lower_case", "true or false"}},
    {{{"vocab.txt", kVocab}, config(R"({"tokenizer_class": 5})")},
     {"tokenizer_config.json", "tokenizer_class", "text"}},
    {{{"vocab.txt", kVocab}, config(R"({"model_max_length": "512"})")}, {"model_max_length", "number"}},
    {{{"vocab.txt", kVocab}, config(R"({"cls_token": 7})")}, {"tokenizer_config.json", "cls_token"}},
    {{{"vocab.txt", kVocab}, config(R"({"cls_token": null})")}, {"cls_token", "none"}},
    {{{"vocab.txt", kVocab}, config(R"({"mask_token": {"lstrip": true}})")}, {"mask_token", "content"}},
    {{{"vocab.txt", kVocab}, config(R"({"mask_token": {"content": "[MASK]", "lstrip": 1}})")},
     {"mask_token", "lstrip"}},
    {{{"vocab.txt", kVocab}, config(R"({"added_tokens_decoder": {"x": {"content": "a"}}})")},
     {"added_tokens_decoder", "\"x\""}},
    {{{"vocab.txt", kVocab}, config(R"({"added_tokens_decoder": [1]})")}, {"added_tokens_decoder", "object"}},
    {{{"vocab.txt", kVocab}, config(R"({"additional_special_tokens": "a"})")}, {"additional_special_tokens", "list"}},
    {{{"vocab.txt", kVocab}, config(R"({"additional_special_tokens": [{"content": "\u200b", "normalized": true}]})")},
     {"empty after normalization"}},
    {{{"vocab.txt", kVocab}, {"special_tokens_map.json", "{"}}, {"special_tokens_map.json:1", "JSON"}},
    {{{"vocab.txt", kVocab}, {"added_tokens.json", R"({"a": "b"})"}}, {"added_tokens.json", "id"}},
    {{{"vocab.txt", kVocab}, {"config.json", R"({"model_type": "roberta"})"}},
     {"config.json", "roberta", "BertTokenizer"}},
    {{{"vocab.txt", kVocab}, {"config.json", R"({"tokenizer_class": "AlbertTokenizer"})"}},
     {"config.json", "AlbertTokenizer", "SentencePiece"}},
    {{{"vocab.txt", kVocab}, config(R"({"tokenizer_class": "RobertaTokenizerFast"})")},
     {"RobertaTokenizerFast", "byte-level"}},
    {{{"vocab.txt", kVocab}, config(R"({"word_tokenizer_type": "mecab"})")}, {"word_tokenizer_type", "mecab"}},
    {{{"vocab.txt", kVocab}, config(R"({"auto_map": {"AutoTokenizer": ["a.B", null]}})")},
     {"auto_map", "never executed"}},
    {{{"vocab.txt", kVocab}, kFast}, {"tokenizer.json is missing", "PreTrainedTokenizerFast"}},
    {{{"tokenizer.json", "{}"}}, {"tokenizer.json", "model", "missing"}},
    {{{"tokenizer.json", pipeline(R"("model": {"type": "BPE", "vocab": {}})")}},
     {"tokenizer.json", "BPE", "WordPiece"}},
    {{{"tokenizer.json", pipeline(R"("model": {"type": "WordPiece", "vocab": {"a": "0"}})")}}, {"whole number"}},
    {{{"tokenizer.json", pipeline(R"("model": {"type": "WordPiece", "vocab": {"a": 0, "b": 0}})")}},
     {"two tokens have the id 0"}},
    {{{"tokenizer.json", pipeline(R"("added_tokens": [{"content": "a"}])")}}, {"added_tokens", "no id"}},
    {{{"tokenizer.json", pipeline(R"("normalizer": {"type": "NFC"})")}, kFast},
     {"normalizer", "NFC", "BertNormalizer"}},
    {{{"tokenizer.json", pipeline(R"("pre_tokenizer": {"type": "Metaspace"})")}, kFast},
     {"pre_tokenizer", "Metaspace"}},
    {{{"tokenizer.json", pipeline(R"("post_processor": {"type": "RobertaProcessing"})")}, kFast}, {"post_processor"}},
    {{{"tokenizer.json",
       pipeline(R"("post_processor": {"type": "BertProcessing", "cls": ["[PAD]", 0], "sep": ["a", 99]})")},
      kFast},
     {"post_processor", "99"}},
    {{{"tokenizer.json", pipeline("")}, kFast}, {"post_processor", "missing"}},
};

}  // namespace

TEST_CASE("tokenizer folders that cannot be used are refused with file and remedy") {
  for (const BadFolder& bad : kBadFolders) {
    const TempFolder folder;
    for (const File& file : bad.files) folder.write(file.name, file.content);
    for (const Compat compat : {Compat::kHf, Compat::kGoogle}) {
      std::string message = "(loaded)";
      try {
        Tokenizer::load(folder.path(), compat);
      } catch (const DataError& error) {
        message = error.what();
      }
      for (const std::string& part : bad.message) {
        INFO(message << "\nlacks: " << part);
        CHECK(message.find(part) != std::string::npos);
      }
    }
  }
  CHECK_THROWS_WITH(Tokenizer::load("/nonexistent/model", Compat::kHf), Catch::Contains("/nonexistent/model"));
}

}  // namespace bertft::test
