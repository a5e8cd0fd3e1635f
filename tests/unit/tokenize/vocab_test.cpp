// Vocabularies from text and from ids, the quirks of vocab.txt, and the trie over the pieces.
#include "tokenize/vocab.h"

#include <algorithm>
#include <string>
#include <vector>

#include "core/error.h"
#include "tests/support/test.h"
#include "tokenize/piece_trie.h"

namespace bertft {

TEST_CASE("vocab.txt: ids are line numbers, lines end at LF only") {
  const Vocab vocab = Vocab::from_text("a\nb\n\u2028x\n##b\n", "v");
  CHECK(vocab.size() == 4);
  CHECK(vocab.find("##b") == 3);
  CHECK(vocab.find("\u2028x") == 2);
  CHECK(vocab.find("x") == -1);
  CHECK(vocab.piece(1) == "b");
  CHECK_FALSE(vocab.has_crlf());
}

TEST_CASE("vocab.txt: a missing last line end, blank lines, CRLF, white space at the end, repeated pieces") {
  CHECK(Vocab::from_text("a\nb", "v").size() == 2);
  CHECK(Vocab::from_text("a\nb\n\n", "v").size() == 3);
  CHECK(Vocab::from_text("a\nb\n\n", "v").piece(2).empty());
  const Vocab crlf = Vocab::from_text("a\r\nb\r\n", "v");
  CHECK(crlf.has_crlf());
  CHECK(crlf.find("b") == 1);
  CHECK(Vocab::from_text("a \u3000\t\nb\n", "v").find("a") == 0);
  CHECK(Vocab::from_text(" a\n", "v").find("a") == -1);
  const Vocab twice = Vocab::from_text("a\nb\na\n", "v");
  CHECK(twice.find("a") == 2);
  CHECK(twice.size() == 3);
  CHECK(twice.different_pieces() == 2);
}

TEST_CASE("a vocabulary with explicit ids may have gaps, but no id twice or out of range") {
  const Vocab vocab = Vocab::from_ids({{"a", 5}, {"b", 2}}, "t.json");
  CHECK(vocab.size() == 6);
  CHECK(vocab.different_pieces() == 2);
  CHECK(vocab.find("a") == 5);
  CHECK(vocab.piece(3).empty());
  CHECK_THROWS_WITH(Vocab::from_ids({{"a", 1}, {"b", 1}}, "t.json"),
                    Catch::Contains("t.json") && Catch::Contains("id 1"));
  CHECK_THROWS_WITH(Vocab::from_ids({{"a", -1}}, "t.json"), Catch::Contains("out of range"));
  CHECK_THROWS_WITH(Vocab::from_ids({{"a", int64_t{1} << 40}}, "t.json"), Catch::Contains("out of range"));
  CHECK_THROWS_AS(Vocab::from_ids({}, "t.json"), DataError);
}

TEST_CASE("a moved vocabulary still finds its pieces") {
  Vocab vocab = Vocab::from_text("short\na piece too long to be stored inside the string object itself\n", "v");
  const Vocab moved = std::move(vocab);
  CHECK(moved.find("short") == 0);
  CHECK(moved.find("a piece too long to be stored inside the string object itself") == 1);
}

TEST_CASE("the trie finds every key, the longest prefix, and nothing else") {
  // Pseudo-random keys over a small alphabet, so that many share prefixes, and a few long ones.
  std::vector<std::string> keys;
  uint32_t state = 1;
  for (int i = 0; i < 5000; ++i) {
    std::string key;
    do {
      state = state * 1664525 + 1013904223;
      key += static_cast<char>((state >> 24) % 5 == 0 ? 0xE4 + (state >> 20) % 8 : 'a' + (state >> 16) % 4);
    } while ((state >> 8) % 8 != 0);
    keys.push_back(key);
  }
  keys.push_back(std::string(100000, 'z'));
  std::sort(keys.begin(), keys.end());
  keys.erase(std::unique(keys.begin(), keys.end()), keys.end());
  std::vector<std::pair<std::string_view, int32_t>> sorted;
  for (const std::string& key : keys) sorted.emplace_back(key, static_cast<int32_t>(sorted.size()));
  const PieceTrie trie(sorted);
  for (const auto& [key, id] : sorted) {
    const auto exact = trie.longest_prefix(PieceTrie::kRoot, key);
    CHECK(exact.id == id);
    CHECK(exact.bytes == key.size());
  }
  for (size_t i = 0; i < keys.size(); i += 7) {
    const std::string text = keys[i] + keys[(i * 31) % keys.size()];
    size_t longest = 0;
    int32_t id = -1;
    for (const auto& [key, key_id] : sorted) {
      if (key.size() > longest && text.compare(0, key.size(), key) == 0) {
        longest = key.size();
        id = key_id;
      }
    }
    const auto match = trie.longest_prefix(PieceTrie::kRoot, text);
    CHECK(match.bytes == longest);
    CHECK(match.id == id);
  }
  CHECK(trie.longest_prefix(PieceTrie::kRoot, "q").id == -1);
  CHECK(trie.longest_prefix(PieceTrie::kRoot, "").id == -1);
  CHECK(trie.walk(PieceTrie::kRoot, "q") == PieceTrie::kNowhere);
}

}  // namespace bertft
