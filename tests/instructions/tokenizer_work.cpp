// The tokenizer over the sample texts of data/, with a vocabulary made from them: whole words, two of three, and the
// parts that the others are cut into.
#include <fstream>
#include <memory>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "core/error.h"
#include "tests/instructions/workloads.h"
#include "tests/support/temp_folder.h"
#include "tokenize/bert_normalizer.h"
#include "tokenize/tokenizer.h"
#include "tokenize/utf8.h"

namespace bertft {
namespace {

// The second column of each line but the first.
std::vector<std::string> texts_of(const std::string& path) {
  std::ifstream file(path);
  if (!file) throw DataError("cannot read " + path + ": run in the repository's root");
  std::vector<std::string> texts;
  std::string line;
  std::getline(file, line);
  while (std::getline(file, line)) texts.push_back(line.substr(line.find('\t') + 1));
  return texts;
}

std::vector<std::string> characters_of(std::string_view word) {
  std::vector<std::string> characters;
  for (size_t at = 0; at < word.size();) {
    const size_t bytes = decode_utf8(word, at).bytes;
    characters.emplace_back(word.substr(at, bytes));
    at += bytes;
  }
  return characters;
}

std::string vocabulary_of(const std::vector<std::string>& texts) {
  const BertNormalizer normalizer{NormalizerOptions{}};
  std::set<std::string> words;
  for (const std::string& text : texts) {
    for (const std::string& word : words_of(normalizer, text)) words.insert(word);
  }
  std::set<std::string> pieces;
  size_t number = 0;
  for (const std::string& word : words) {
    if (number++ % 3 != 0) pieces.insert(word);
    const std::vector<std::string> characters = characters_of(word);
    for (size_t i = 0; i < characters.size(); ++i) {
      pieces.insert((i == 0 ? "" : "##") + characters[i]);
      if (i + 2 < characters.size()) pieces.insert("##" + characters[i + 1] + characters[i + 2]);
    }
  }
  std::string vocabulary = "[PAD]\n[UNK]\n[CLS]\n[SEP]\n[MASK]\n";
  for (const std::string& piece : pieces) vocabulary += piece + "\n";
  return vocabulary;
}

std::function<void()> encode_all(const std::string& path, int32_t max_length) {
  struct Data {
    explicit Data(const std::string& file) : texts(texts_of(file)), tokenizer(load(texts)) {}
    static Tokenizer load(const std::vector<std::string>& texts) {
      const test::TempFolder folder;
      folder.write("vocab.txt", vocabulary_of(texts));
      return Tokenizer::load(folder.path(), Compat::kHf);
    }
    std::vector<std::string> texts;
    Tokenizer tokenizer;
    Encoding encoding;
  };
  const auto data = std::make_shared<Data>(path);
  EncodeOptions options;
  options.max_length = max_length;
  const auto work = [data, options] {
    for (const std::string& text : data->texts) data->tokenizer.encode(text, options, &data->encoding);
  };
  work();  // memory that is used again has its size from here on
  return work;
}

}  // namespace

std::vector<Workload> tokenizer_workloads() {
  return {
      {"tokenizer_english", [] { return encode_all("data/en/train.tsv", 128); }},
      {"tokenizer_chinese", [] { return encode_all("data/zh/train.tsv", 128); }},
      {"tokenizer_truncation", [] { return encode_all("data/en/train.tsv", 5); }},
  };
}

}  // namespace bertft
