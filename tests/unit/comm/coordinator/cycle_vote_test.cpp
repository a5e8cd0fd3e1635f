// The vector of bits: its words by hand, what AND and OR make of it, impossible outcomes.
#include "comm/coordinator/cycle_vote.h"

#include "core/error.h"
#include "tests/support/test.h"

namespace bertft {

TEST_CASE("a vote has as many words as Horovod's: three status bits and one for each entry") {
  CHECK(CycleVote::word_count(0) == 1);
  CHECK(CycleVote::word_count(61) == 1);
  CHECK(CycleVote::word_count(62) == 2);
  CHECK(CycleVote::word_count(125) == 2);
  CHECK(CycleVote::word_count(126) == 3);
  CHECK(CycleVote::word_count(1024) == 17);
  CHECK(CycleVote(62, true).and_words().size() == 4);
}

TEST_CASE("status bits are inverted and hits lie behind them") {
  CHECK(CycleVote(10, false).and_words() == std::vector<uint64_t>{0b111});
  CycleVote vote(70, false);
  vote.add_hit(0);
  vote.add_hit(60);  // the last bit of the first word
  vote.add_hit(61);
  CHECK(vote.and_words() == std::vector<uint64_t>{(uint64_t{1} << 63) | 0b1111, 1});
  vote.say_uncached();
  CHECK(vote.and_words()[0] == ((uint64_t{1} << 63) | 0b1101));
  vote.say_shutdown();
  CHECK(vote.and_words()[0] == ((uint64_t{1} << 63) | 0b1100));
  vote.add_invalid(0);  // says uncached as well, and takes the hit back
  CHECK(vote.and_words()[0] == (uint64_t{1} << 63));
  CHECK(vote.or_words() == std::vector<uint64_t>{1, 0});
}

TEST_CASE("the AND leaves common hits and what any rank says, the OR what is to be erased") {
  CycleVote a(70, true);
  CycleVote b(70, true);
  a.add_hit(3);
  a.add_hit(65);
  b.add_hit(65);
  b.add_hit(7);
  b.add_invalid(9);
  a.add_hit(9);
  std::vector<uint64_t> words = a.and_words();
  const std::vector<uint64_t> other = b.and_words();
  REQUIRE(words.size() == 4);
  for (size_t i = 0; i < words.size(); ++i) {
    words[i] &= other[i];
  }
  for (CycleVote* vote : {&a, &b}) {
    vote->apply_and(words);
    CHECK(vote->hits().to_vector() == std::vector<int>{65});
    CHECK(vote->is_invalid());
    CHECK(vote->is_uncached());
    CHECK_FALSE(vote->is_shutdown());
    CHECK(vote->any_hits().to_vector() == std::vector<int>{3, 7, 9, 65});
  }
  CHECK(a.or_words() == std::vector<uint64_t>{0, 0});
  for (CycleVote* vote : {&a, &b}) {
    vote->apply_or({uint64_t{1} << 9, 0});
    CHECK(vote->invalid().to_vector() == std::vector<int>{9});
    CHECK(vote->any_hits().to_vector() == std::vector<int>{3, 7, 65});
  }
}

TEST_CASE("impossible outcomes of a vote are refused") {
  CycleVote vote(61, false);
  CHECK_THROWS_AS(vote.apply_and({0b1111}), CommError);  // a hit that this rank never had
  CycleVote wide(62, false);
  wide.add_hit(61);
  CHECK_THROWS_AS(wide.apply_and({0b111, 2}), CommError);  // bit 62 of entries 0..61
  CycleVote erase(62, false);
  CHECK_THROWS_AS(erase.apply_or({0, 1}), CommError);
  CHECK_THROWS_AS(erase.apply_or({uint64_t{1} << 62, 0}), CommError);
  CycleVote none(0, false);
  none.apply_and({0b111});
  CHECK(none.hits().to_vector().empty());
  CHECK_THROWS_AS(none.apply_or({1}), CommError);
}

}  // namespace bertft
