// The content hash: known answers, every length of tail, and avalanche.
#include "core/hash.h"

#include <bit>
#include <set>
#include <vector>

#include "tests/support/test.h"
#include "tests/unit/core/known_answers.h"

namespace bertft {
namespace {

std::string pattern(size_t length) {
  std::string bytes(length, '\0');
  for (size_t i = 0; i < length; ++i) bytes[i] = static_cast<char>((31 * i + 7) % 256);
  return bytes;
}

TEST_CASE("Hashes equal independently computed ones, wherever the bytes lie") {
  const auto& rows = test::known_answers()["hash64_of_pattern"];
  REQUIRE(rows.size() == 36);
  for (const auto& row : rows) {
    const std::string bytes = pattern(row[0].get<size_t>());
    const uint64_t seed = test::word(row[1]);
    const uint64_t expected = test::word(row[2]);
    REQUIRE(hash64(bytes, seed) == expected);
    for (const size_t shift : {1, 3, 7}) {
      const std::string moved = std::string(shift, 'x') + bytes + "behind";
      REQUIRE(hash64(moved.data() + shift, bytes.size(), seed) == expected);
    }
  }
}

TEST_CASE("Zeros of every length, and one byte at every place, have hashes of their own") {
  std::set<uint64_t> seen;
  size_t texts = 0;
  for (size_t length = 0; length <= 130; ++length) {
    seen.insert(hash64(std::string(length, '\0')));
    ++texts;
    for (size_t place = 0; place < length; ++place) {
      std::string one(length, '\0');
      one[place] = 1;
      seen.insert(hash64(one));
      ++texts;
    }
  }
  REQUIRE(seen.size() == texts);
}

TEST_CASE("One changed bit changes half of the hash") {
  for (const size_t length : {1, 8, 31, 32, 33, 64, 100}) {
    const std::string bytes = pattern(length);
    const uint64_t base = hash64(bytes);
    int changed = 0;
    for (size_t bit = 0; bit < 8 * length; ++bit) {
      std::string other = bytes;
      other[bit / 8] = static_cast<char>(static_cast<unsigned char>(other[bit / 8]) ^ (1u << (bit % 8)));
      const int distance = std::popcount(base ^ hash64(other));
      REQUIRE(distance >= 10);  // of 64; a good hash is below that once in 10^8
      changed += distance;
    }
    const double mean = static_cast<double>(changed) / static_cast<double>(8 * length);
    INFO("length " << length);
    REQUIRE(mean > 28.0);
    REQUIRE(mean < 36.0);
  }
}

TEST_CASE("Seeds name different hashes of the same bytes") {
  std::set<uint64_t> seen;
  for (uint64_t seed = 0; seed < 1000; ++seed) seen.insert(hash64("the same text", seed));
  REQUIRE(seen.size() == 1000);
  REQUIRE(hash64("the same text", 3) == hash64(std::string("the same text"), 3));
}

TEST_CASE("The hash of a stream depends on its bytes, not on its pieces") {
  std::string content(3 * (1 << 20) + 17, 'x');
  for (size_t i = 0; i < content.size(); i += 101) content[i] = static_cast<char>(i);
  for (const size_t length : {size_t{0}, size_t{5}, size_t{1 << 20}, size_t{2 << 20}, content.size()}) {
    const std::string_view text = std::string_view(content).substr(0, length);
    StreamHash whole;
    whole.add(text);
    for (const size_t piece : {size_t{1'000}, size_t{1 << 20}, size_t{1'500'000}}) {
      StreamHash pieces;
      for (size_t at = 0; at < length; at += piece) pieces.add(text.substr(at, piece));
      REQUIRE(pieces.value() == whole.value());
    }
    if (length <= (1 << 20)) REQUIRE(whole.value() == hash64(text));
  }
  StreamHash shorter;
  shorter.add(std::string_view(content).substr(0, content.size() - 1));
  StreamHash all;
  all.add(content);
  REQUIRE(shorter.value() != all.value());
}

TEST_CASE("A hash is written as 16 hexadecimal digits") {
  REQUIRE(hash_text(0) == "0000000000000000");
  REQUIRE(hash_text(0xDEADBEEF) == "00000000deadbeef");
  REQUIRE(hash_text(~uint64_t{0}) == "ffffffffffffffff");
}

}  // namespace
}  // namespace bertft
