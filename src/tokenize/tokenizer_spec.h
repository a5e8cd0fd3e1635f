// Everything that the files of a folder say about its tokenizer, checked and resolved: the step between files and
// Tokenizer. Where files disagree AutoTokenizer of transformers 5.24 is followed, and a note says so.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "tokenize/options.h"
#include "tokenize/special_tokens.h"
#include "tokenize/vocab.h"
#include "tokenize/wordpiece.h"

namespace bertft {

struct TokenizerSpec {
  Vocab vocab;
  NormalizerOptions normalizer = {};
  WordPieceOptions wordpiece = {};
  AddedTokens added = {};  // add() done, finish() not yet
  SpecialIds ids = {};
  bool keep_special_text = false;       // split_special_tokens: special tokens in a text are ordinary text
  bool truncate_left = false;           // truncation_side: "left"
  int64_t model_max_length = 0;         // 0: none given
  std::vector<std::string> files = {};  // names of the tokenizer files in the folder
  std::vector<std::string> notes = {};  // what a user should know: files that disagree, defaults that were taken
};

// Throws DataError when a file is missing, broken or no BERT WordPiece tokenizer, or when a special token that every
// text needs (unknown, padding, first, separator) is not in the vocabulary; the message names the tokens.
TokenizerSpec read_tokenizer_spec(const std::string& folder, Compat compat);

}  // namespace bertft
