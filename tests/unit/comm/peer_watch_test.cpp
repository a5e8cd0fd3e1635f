// Who is told what when a rank ends: the first cause stands, and an end is normal only after both good-byes. All orders
// of events with one and two deaths are in decentral/negotiation_model_test.cpp.
#include "comm/peer_watch.h"

#include "core/error.h"
#include "tests/support/test.h"

namespace bertft {
namespace {

using Kind = PeerNotice::Kind;

TEST_CASE("Ranks that are done say good-bye, wait for everybody's, and end without a fault") {
  PeerWatch rank(1, 3);
  REQUIRE_FALSE(rank.may_close());
  rank.bye_received(0);
  rank.finish();
  const std::vector<PeerNotice> notices = rank.take_notices();
  REQUIRE(notices.size() == 2);
  REQUIRE(notices[0].to == 0);
  REQUIRE(notices[1].to == 2);
  REQUIRE(notices[1].kind == Kind::kBye);
  REQUIRE_FALSE(rank.may_close());
  rank.end_of_stream(0, "rank 0 closed");
  REQUIRE_FALSE(rank.failed());
  rank.bye_received(2);
  REQUIRE(rank.may_close());
  rank.end_of_stream(2, "rank 2 closed");
  REQUIRE_FALSE(rank.failed());
  REQUIRE_THROWS_AS(rank.finish(), InternalError);
}

TEST_CASE("A connection that ends before both good-byes is the cause, told to everybody who is left") {
  for (const bool said_bye : {false, true}) {
    for (const bool finished : {false, true}) {
      if (said_bye && finished) continue;
      PeerWatch rank(0, 3);
      if (said_bye) rank.bye_received(1);
      if (finished) {
        rank.finish();
        rank.take_notices();
      }
      rank.end_of_stream(1, "rank 1 is gone");
      REQUIRE(rank.failed());
      REQUIRE(rank.cause() == "rank 1 is gone");
      REQUIRE(rank.is_gone(1));
      const std::vector<PeerNotice> notices = rank.take_notices();
      REQUIRE(notices.size() == 1);
      REQUIRE(notices[0].to == 2);
      REQUIRE(notices[0].kind == Kind::kAbort);
      REQUIRE(notices[0].cause == "rank 1 is gone");
      REQUIRE(rank.may_close());
    }
  }
}

TEST_CASE("The first cause stands and is passed on as it came") {
  PeerWatch rank(0, 4);
  rank.abort_received(2, "rank 3 is gone");
  rank.end_of_stream(2, "rank 2 is gone");
  rank.end_of_stream(1, "rank 1 is gone");
  rank.abort("no memory");
  REQUIRE(rank.cause() == "rank 3 is gone");
  const std::vector<PeerNotice> notices = rank.take_notices();
  REQUIRE(notices.size() == 3);
  for (const PeerNotice& notice : notices) REQUIRE(notice.cause == "rank 3 is gone");
  REQUIRE(rank.take_notices().empty());
  rank.finish();
  REQUIRE(rank.take_notices().empty());
}

TEST_CASE("A rank's own reason is told to all") {
  PeerWatch rank(2, 3);
  rank.abort("no memory");
  REQUIRE(rank.failed());
  REQUIRE(rank.take_notices().size() == 2);
}

}  // namespace
}  // namespace bertft
