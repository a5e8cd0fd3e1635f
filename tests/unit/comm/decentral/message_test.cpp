// The bytes of negotiation and agreement messages: where each field lies, and that bad bytes are refused.
#include "comm/decentral/message.h"

#include <limits>
#include <random>

#include "comm/agreed.h"
#include "core/error.h"
#include "tests/support/errors.h"

namespace bertft {
namespace {

using Catch::Contains;
using test::error_text;

UnitSet set_of(int units, const std::vector<int>& members) {
  UnitSet set(units);
  for (const int unit : members) set.add(unit);
  return set;
}

std::string hex(const std::string& bytes) {
  std::string text;
  for (const char byte : bytes) {
    const auto value = static_cast<unsigned char>(byte);
    text += "0123456789abcdef"[value >> 4];
    text += "0123456789abcdef"[value & 15];
  }
  return text;
}

DecentralHeader header_of(DecentralKind kind) {
  DecentralHeader header;
  header.job = 0x1122334455667788;
  header.step = 258;
  header.round = 3;
  header.phase = 2;
  header.kind = kind;
  return header;
}

TEST_CASE("A negotiation message is a header of 24 bytes and the bits of units and flags, all little-endian") {
  // Units 0 and 2 of 3 are ready: bits 0 and 2. Flags: abort raised (bit 3 zero), the other four not (bits 4-7).
  const std::string bytes = encode(header_of(DecentralKind::kNegotiation), Contribution(set_of(3, {0, 2}), kFlagAbort));
  REQUIRE(hex(bytes) ==
          "8877665544332211"
          "0201000000000000"
          "03000000"
          "0200"
          "0100"
          "f500000000000000");
  REQUIRE(bytes.size() == Contribution::message_bytes(3));
}

TEST_CASE("An agreement message is a header and three numbers of 8 bytes") {
  const std::string bytes = encode(header_of(DecentralKind::kAgreement), Agreement{5, -2.0, 1.0});
  REQUIRE(hex(bytes) ==
          "8877665544332211"
          "0201000000000000"
          "03000000"
          "0200"
          "0200"
          "0500000000000000"
          "00000000000000c0"
          "000000000000f03f");
  const Agreement back = decode_agreement(bytes);
  REQUIRE(back.flags == 5);
  REQUIRE(back.min == -2.0);
  REQUIRE(back.max == 1.0);
}

TEST_CASE("Message sizes: 24 bytes and 8 for each 64 units and flags") {
  for (const auto& [units, bytes] : {std::pair{1, 32}, {59, 32}, {60, 40}, {123, 40}, {124, 48}, {201, 56}}) {
    REQUIRE(Contribution::message_bytes(units) == static_cast<size_t>(bytes));
    REQUIRE(encode({}, Contribution(UnitSet::all(units), 0)).size() == static_cast<size_t>(bytes));
  }
}

TEST_CASE("Contributions come back as they were sent, and combine to what all have and any raised") {
  std::mt19937 random(7);
  for (const int units : {1, 3, 58, 59, 60, 61, 63, 64, 65, 128, 201}) {
    UnitSet a(units), b(units);
    for (int unit = 0; unit < units; ++unit) {
      if (random() % 2 != 0) a.add(unit);
      if (random() % 2 != 0) b.add(unit);
    }
    const uint32_t a_flags = random() & kAllStatusFlags, b_flags = random() & kAllStatusFlags;
    const Contribution sent(a, a_flags);
    Contribution back = decode_contribution(encode(header_of(DecentralKind::kNegotiation), sent), units);
    REQUIRE(back == sent);
    REQUIRE(back.ready() == a);
    REQUIRE(back.flags() == a_flags);
    back.combine(Contribution(b, b_flags));
    REQUIRE(back.ready() == (a & b));
    REQUIRE(back.flags() == (a_flags | b_flags));
  }
}

TEST_CASE("A header comes back as it was sent") {
  DecentralHeader sent = header_of(DecentralKind::kAgreement);
  sent.step = std::numeric_limits<int64_t>::max();
  sent.round = std::numeric_limits<int32_t>::max();
  const DecentralHeader back = decode_header(encode(sent, Agreement{}));
  REQUIRE(back.job == sent.job);
  REQUIRE(back.step == sent.step);
  REQUIRE(back.round == sent.round);
  REQUIRE(back.phase == sent.phase);
  REQUIRE(back.kind == sent.kind);
}

TEST_CASE("Bytes that are no message are refused") {
  const std::string good = encode(header_of(DecentralKind::kNegotiation), Contribution(set_of(3, {0, 2}), 0));
  const auto header_fault = [&](size_t offset, char value) {
    std::string bad = good;
    bad[offset] = value;
    return error_text<CommError>([&] { decode_header(bad); });
  };
  for (size_t length = 0; length < kDecentralHeaderBytes; ++length) {
    REQUIRE_THROWS_AS(decode_header(std::string_view(good).substr(0, length)), CommError);
  }
  REQUIRE_THAT(header_fault(22, 3), Contains("unknown kind 3"));
  REQUIRE_THAT(header_fault(22, 0), Contains("unknown kind 0"));
  REQUIRE_THAT(header_fault(15, '\x80'), Contains("of step -"));
  REQUIRE_THAT(header_fault(19, '\x80'), Contains("round -"));
  for (size_t length = kDecentralHeaderBytes; length < good.size(); ++length) {
    REQUIRE_THROWS_AS(decode_contribution(std::string_view(good).substr(0, length), 3), CommError);
  }
  REQUIRE_THAT(error_text<CommError>([&] { decode_contribution(good, 60); }),
               Contains("8 bytes behind its header, not 16"));
  REQUIRE_THROWS_AS(decode_contribution(good + good, 3), CommError);
  std::string beyond = good;
  beyond[kDecentralHeaderBytes + 1] = 1;
  REQUIRE_THAT(error_text<CommError>([&] { decode_contribution(beyond, 3); }), Contains("beyond those of 3 units"));
  REQUIRE_THROWS_AS(decode_agreement(good), CommError);
  std::string flags = encode(header_of(DecentralKind::kAgreement), Agreement{});
  flags[kDecentralHeaderBytes + 4] = 1;
  REQUIRE_THROWS_AS(decode_agreement(flags), CommError);
}

}  // namespace
}  // namespace bertft
