// What a negotiation refuses, and what it tells of itself when it stands still.
#include "comm/decentral/negotiation.h"

#include <random>

#include "core/error.h"
#include "tests/support/errors.h"

namespace bertft {
namespace {

using Catch::Contains;
using test::error_text;

struct PlainSource final : ReadinessSource {
  Readiness read(int64_t) const override { return now; }
  Readiness now{UnitSet(2), 0};
};

std::string message(int64_t step, int round, int phase, uint64_t job = 5) {
  DecentralHeader header;
  header.job = job;
  header.step = step;
  header.round = round;
  header.phase = phase;
  return encode(header, Contribution(UnitSet(2), 0));
}

// Node 0 of three: phase 0 comes from node 2, phase 1 from node 1.
Negotiation first_of_three() { return Negotiation({5, 0, 3, 2}); }

TEST_CASE("Messages that no peer can have sent are refused with where both are") {
  const PlainSource nothing;
  Negotiation node = first_of_three();
  node.step_begin(4, nothing);
  const auto refusal = [&](int from, const std::string& bytes) {
    return error_text<CommError>([&] { node.receive(from, bytes, nothing); });
  };
  REQUIRE_THAT(refusal(2, message(4, 0, 0, 6)), Contains("node 2") && Contains("another job"));
  REQUIRE_THAT(refusal(1, message(4, 0, 0)), Contains("not that node's to send"));
  REQUIRE_THAT(refusal(2, message(4, 0, 2)), Contains("not that node's to send"));
  REQUIRE_THAT(refusal(2, message(3, 0, 0)), Contains("step 3, round 0") && Contains("too late or too early") &&
                                                 Contains("node 0 is at step 4, round 0"));
  REQUIRE_THAT(refusal(2, message(4, 2, 0)), Contains("too late or too early"));
  REQUIRE_THAT(refusal(2, message(5, 1, 0)), Contains("too late or too early"));
  REQUIRE_THAT(refusal(2, encode({5, 4, 0, 0, DecentralKind::kAgreement}, Agreement{})), Contains("of another kind"));
  REQUIRE(node.take_messages().empty());

  node.receive(1, message(4, 0, 1), nothing);  // phase 1 comes first: it waits, and the node joins
  REQUIRE(node.take_messages().size() == 1);
  REQUIRE_THAT(refusal(1, message(4, 0, 1)), Contains("was sent before"));
  node.receive(1, message(4, 1, 1), nothing);  // a round ahead
  REQUIRE_THAT(refusal(1, message(4, 1, 1)), Contains("was sent before"));
}

TEST_CASE("A message of the next step waits for it, one of another step is told when it begins") {
  const PlainSource nothing;
  Negotiation node = first_of_three();
  node.receive(2, message(7, 0, 0), nothing);
  REQUIRE(node.take_messages().empty());
  Negotiation other = node;
  node.step_begin(7, nothing);
  REQUIRE(node.take_messages().size() == 2);  // joined: phase 0, and phase 1 since phase 0 is here
  REQUIRE_THAT(error_text<CommError>([&] { other.step_begin(8, nothing); }),
               Contains("at step 7, round 0") && Contains("node 0 is at step 8"));
}

TEST_CASE("A position names the round, the phase and the node that is waited for") {
  PlainSource source;
  Negotiation node = first_of_three();
  REQUIRE(node.position().step == -1);
  node.step_begin(4, source);
  REQUIRE_FALSE(node.position().in_flight);
  REQUIRE(node.position().waiting_for == -1);
  source.now.ready.add(1);
  node.poll(source);
  REQUIRE(node.position().in_flight);
  REQUIRE(node.position().waiting_for == 2);
  node.receive(2, message(4, 0, 0), source);
  REQUIRE(node.position().phase == 1);
  REQUIRE(node.position().waiting_for == 1);
  node.receive(1, message(4, 0, 1), source);
  REQUIRE(node.position().round == 1);
  REQUIRE(node.take_agreed() == std::vector<AgreedRound>{{4, 0, {}, 0}});
}

TEST_CASE("Broken bytes are refused or harmless, never anything else") {
  const PlainSource nothing;
  std::mt19937 random(3);
  int refused = 0;
  for (int i = 0; i < 20000; ++i) {
    Negotiation node = first_of_three();
    node.step_begin(4, nothing);
    std::string bytes = message(4, static_cast<int>(random() % 2), 0);
    bytes.resize(random() % 4 == 0 ? random() % 64 : bytes.size());
    for (size_t changes = random() % 4; changes > 0 && !bytes.empty(); --changes) {
      bytes[random() % bytes.size()] = static_cast<char>(random());
    }
    try {
      node.receive(2, bytes, nothing);
    } catch (const CommError&) {
      ++refused;
    }
  }
  REQUIRE(refused > 1000);
  REQUIRE(refused < 20000);
}

TEST_CASE("Calls out of order are bugs that are caught") {
  PlainSource source;
  Negotiation node({5, 0, 1, 2});
  node.step_begin(1, source);
  REQUIRE_THROWS_AS(node.step_begin(2, source), InternalError);
  REQUIRE_THROWS_AS(node.flags(), InternalError);
  source.now.ready = UnitSet::all(2);
  source.now.flags = kFlagSave;
  node.poll(source);
  REQUIRE(node.flags() == kFlagSave);
  REQUIRE_THROWS_AS(node.step_begin(1, source), InternalError);
  REQUIRE_NOTHROW(node.step_begin(9, source));
}

}  // namespace
}  // namespace bertft
