// Greedy longest match: what is one unknown token, what is pieces, and the limit on the length of a word.
#include "tokenize/wordpiece.h"

#include <string>
#include <vector>

#include "tests/support/test.h"

namespace bertft {
namespace {

using Ids = std::vector<int32_t>;

Ids pieces(const WordPiece& wordpiece, const std::string& word, int32_t characters) {
  Ids ids = {-7};  // what was there before stays
  wordpiece.tokenize(word, characters, &ids);
  return Ids(ids.begin() + 1, ids.end());
}

Ids pieces(const WordPiece& wordpiece, const std::string& word) {
  return pieces(wordpiece, word, static_cast<int32_t>(word.size()));
}

}  // namespace

TEST_CASE("words are cut greedily, the longest piece first") {
  const Vocab vocab = Vocab::from_text("[UNK]\nun\nunaff\n##aff\n##able\n##a\nword\n\u4eba\n##\u4eba\n", "v");
  const WordPiece wordpiece(vocab, {.unk_id = 0});
  CHECK(pieces(wordpiece, "unaffable") == Ids{2, 4});
  CHECK(pieces(wordpiece, "unable") == Ids{1, 4});
  CHECK(pieces(wordpiece, "unaffaff") == Ids{2, 3});
  CHECK(pieces(wordpiece, "unaffx") == Ids{0});
  CHECK(pieces(wordpiece, "xun") == Ids{0});
  CHECK(pieces(wordpiece, "able") == Ids{0});
  CHECK(pieces(wordpiece, "\u4eba\u4eba", 2) == Ids{7, 8});
  CHECK(pieces(wordpiece, "").empty());
}

TEST_CASE("a word beyond the limit is one unknown token, counted in characters") {
  const Vocab vocab = Vocab::from_text("[UNK]\n\u4eba\n##\u4eba\n", "v");
  const WordPiece wordpiece(vocab, {.unk_id = 0, .max_input_chars_per_word = 3});
  CHECK(pieces(wordpiece, "\u4eba\u4eba\u4eba", 3) == Ids{1, 2, 2});
  CHECK(pieces(wordpiece, "\u4eba\u4eba\u4eba\u4eba", 4) == Ids{0});
}

TEST_CASE("vocabularies without continuations, with another prefix, with an empty piece") {
  const Vocab plain = Vocab::from_text("[UNK]\na\nab\n", "v");
  CHECK(pieces(WordPiece(plain, {.unk_id = 0}), "ab") == Ids{2});
  CHECK(pieces(WordPiece(plain, {.unk_id = 0}), "aa") == Ids{0});
  const Vocab other = Vocab::from_text("[UNK]\na\n@@b\n\n##\n", "v");
  CHECK(pieces(WordPiece(other, {.unk_id = 0, .continuation_prefix = "@@"}), "ab") == Ids{1, 2});
  CHECK(pieces(WordPiece(other, {.unk_id = 0}), "ab") == Ids{0});
}

}  // namespace bertft
