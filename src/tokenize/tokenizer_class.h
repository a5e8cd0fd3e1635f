// Decides from the files of a model folder whether its tokenizer is BERT WordPiece, and which of them rule it.
// A folder that needs anything else is refused by name: plain WordPiece would give plausible, wrong ids.
#pragma once

#include <string>

#include "tokenize/json_file.h"

namespace bertft {

// What lies in a folder. Files that are not there are empty objects; the flags tell.
struct TokenizerFolder {
  std::string path;
  JsonFile config;                 // config.json (of the model; only the names of classes are read)
  JsonFile tokenizer_config;       // tokenizer_config.json
  JsonFile special_tokens_map;     // special_tokens_map.json
  JsonFile added_tokens;           // added_tokens.json
  JsonFile tokenizer_json;         // tokenizer.json
  std::vector<std::string> files;  // names of the tokenizer files that are there, vocab.txt among them

  bool has(const std::string& name) const;
};

TokenizerFolder read_tokenizer_folder(const std::string& path);

enum class TokenizerKind {
  kBert,           // BertTokenizer of transformers: options from tokenizer_config.json; of tokenizer.json only the
                   // vocabulary and the added tokens count
  kTokenizerJson,  // PreTrainedTokenizerFast: tokenizer.json rules
};

// Throws DataError naming the class or model type, the file that says so, and what is supported.
TokenizerKind choose_tokenizer_kind(const TokenizerFolder& folder);

}  // namespace bertft
