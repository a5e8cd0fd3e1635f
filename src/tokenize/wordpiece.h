// One normalized word -> ids of its pieces, greedily the longest first (Wu et al. 2016; Devlin et al. 2019).
// Immutable: any number of threads may use one object.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "tokenize/piece_trie.h"
#include "tokenize/vocab.h"

namespace bertft {

struct WordPieceOptions {
  int32_t unk_id = 0;
  int32_t max_input_chars_per_word = 100;  // a longer word is one [UNK]; Google: 200
  std::string continuation_prefix = "##";
};

class WordPiece {
 public:
  WordPiece(const Vocab& vocab, const WordPieceOptions& options);

  // Appends the ids of `word` (`characters` characters of UTF-8) to `*ids`; a single unk_id when some part of it is in
  // no piece or it is too long. An empty word has no ids.
  void tokenize(std::string_view word, int32_t characters, std::vector<int32_t>* ids) const;

 private:
  WordPieceOptions options_;
  PieceTrie trie_;
  uint32_t continuation_;  // the node of "##", or PieceTrie::kNowhere when no piece continues a word
};

}  // namespace bertft
