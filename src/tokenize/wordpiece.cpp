#include "tokenize/wordpiece.h"

namespace bertft {

WordPiece::WordPiece(const Vocab& vocab, const WordPieceOptions& options)
    : options_(options),
      trie_(vocab.sorted()),
      continuation_(trie_.walk(PieceTrie::kRoot, options.continuation_prefix)) {}

void WordPiece::tokenize(std::string_view word, int32_t characters, std::vector<int32_t>* ids) const {
  const size_t old_size = ids->size();
  bool is_unknown = characters > options_.max_input_chars_per_word;
  uint32_t start = PieceTrie::kRoot;
  while (!word.empty() && !is_unknown) {
    const PieceTrie::Match match =
        start == PieceTrie::kNowhere ? PieceTrie::Match{-1, 0} : trie_.longest_prefix(start, word);
    is_unknown = match.id < 0;
    if (!is_unknown) {
      ids->push_back(match.id);
      word.remove_prefix(match.bytes);
      start = continuation_;
    }
  }
  if (is_unknown) {
    ids->resize(old_size);
    ids->push_back(options_.unk_id);
  }
}

}  // namespace bertft
