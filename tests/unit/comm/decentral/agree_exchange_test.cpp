// Numbers combined over all ranks: the same bits everywhere, in exactly ceil(log2 n) messages a rank, in any order.
#include "comm/decentral/agree_exchange.h"

#include <bit>
#include <cmath>
#include <deque>
#include <limits>
#include <random>

#include "comm/decentral/message.h"
#include "core/error.h"
#include "tests/support/errors.h"

namespace bertft {
namespace {

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
constexpr double kInfinity = std::numeric_limits<double>::infinity();

uint64_t bits(double value) { return std::bit_cast<uint64_t>(value); }

TEST_CASE("Combining is the same in any order, bit for bit") {
  const double values[] = {-kInfinity, -1.5, -0.0, 0.0, 5e-324, 2.0, kInfinity, kNan, -kNan};
  for (const double a : values) {
    for (const double b : values) {
      const Agreement ab = combine({1, a, a}, {4, b, b}), ba = combine({4, b, b}, {1, a, a});
      REQUIRE(ab.flags == 5);
      REQUIRE(bits(ab.min) == bits(ba.min));
      REQUIRE(bits(ab.max) == bits(ba.max));
      if (std::isnan(a) || std::isnan(b)) {
        REQUIRE(bits(ab.min) == bits(kNan));
        continue;
      }
      REQUIRE(ab.min == std::min(a, b));
      REQUIRE(ab.max == std::max(a, b));
    }
  }
  REQUIRE(std::signbit(combine({0, 0.0, 0.0}, {0, -0.0, -0.0}).min));
  REQUIRE_FALSE(std::signbit(combine({0, 0.0, 0.0}, {0, -0.0, -0.0}).max));
}

struct Exchanges {
  explicit Exchanges(int ranks) : links(static_cast<size_t>(ranks * ranks)) {
    for (int rank = 0; rank < ranks; ++rank) at.emplace_back(9, rank, ranks);
  }
  void collect(int rank) {
    for (ControlSend& message : at[static_cast<size_t>(rank)].take_messages()) {
      links[static_cast<size_t>(rank) * at.size() + static_cast<size_t>(message.to)].push_back(message.bytes);
      ++messages;
    }
  }
  std::vector<AgreeExchange> at;
  std::vector<std::deque<std::string>> links;
  int64_t messages = 0;
};

// Calls follow each other without a pause, so fast ranks are a call ahead.
TEST_CASE("All ranks get the same from many calls in a row, whatever the delays") {
  constexpr int kCalls = 6;
  for (int ranks : {1, 2, 3, 4, 5, 8, 9, 17}) {
    Exchanges job(ranks);
    std::mt19937 random(static_cast<unsigned>(ranks));
    const auto value = [&](int rank, int call) { return static_cast<double>((rank * 7 + call * 3) % 11); };
    std::vector<std::vector<Agreement>> results(static_cast<size_t>(ranks));
    std::vector<int> started(static_cast<size_t>(ranks), 0);
    for (bool is_over = false; !is_over;) {
      const auto rank = static_cast<size_t>(random()) % job.at.size();
      const auto number = static_cast<int>(rank);
      if (started[rank] == static_cast<int>(results[rank].size()) && started[rank] < kCalls) {
        const double mine = value(number, started[rank]++);
        job.at[rank].start({1u << (number % 3), mine, mine});
      }
      const auto from = static_cast<size_t>(random()) % job.at.size();
      std::deque<std::string>& link = job.links[from * job.at.size() + rank];
      if (!link.empty()) {
        job.at[rank].receive(static_cast<int>(from), link.front());
        link.pop_front();
      }
      job.collect(number);
      if (const auto result = job.at[rank].result()) results[rank].push_back(*result);
      is_over = true;
      for (const auto& done : results) is_over = is_over && done.size() == kCalls;
    }
    int phases = 0;
    while ((1 << phases) < ranks) ++phases;
    REQUIRE(job.messages == int64_t{kCalls} * ranks * phases);
    for (int call = 0; call < kCalls; ++call) {
      double low = kInfinity, high = -kInfinity;
      for (int rank = 0; rank < ranks; ++rank) {
        low = std::min(low, value(rank, call));
        high = std::max(high, value(rank, call));
      }
      for (const auto& done : results) {
        const Agreement& agreed = done[static_cast<size_t>(call)];
        REQUIRE(agreed.flags == (ranks == 1 ? 1u : ranks == 2 ? 3u : 7u));
        REQUIRE(agreed.min == low);
        REQUIRE(agreed.max == high);
      }
    }
  }
}

TEST_CASE("Agreement messages that no peer can have sent are refused") {
  AgreeExchange rank(9, 0, 3);
  const auto refuses = [&](int from, DecentralHeader header) {
    header.kind = DecentralKind::kAgreement;
    REQUIRE_THROWS_AS(rank.receive(from, encode(header, Agreement{})), CommError);
  };
  refuses(2, {8, 0, 0, 0});
  refuses(1, {9, 0, 0, 0});
  refuses(2, {9, 2, 0, 0});
  refuses(2, {9, 0, 1, 0});
  refuses(2, {9, 0, 0, 5});
  DecentralHeader good{9, 1, 0, 0, DecentralKind::kAgreement};
  rank.receive(2, encode(good, Agreement{}));  // a call ahead
  refuses(2, good);
  REQUIRE_FALSE(rank.result());
  rank.start({});
  REQUIRE_THROWS_AS(rank.start({}), InternalError);
}

}  // namespace
}  // namespace bertft
