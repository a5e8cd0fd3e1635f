// What a negotiation costs, exactly: messages, bytes and phases when all nodes are in step with each other, hops when
// one node is last, nothing when nothing happens.
#include <algorithm>
#include <numeric>
#include <utility>
#include <vector>

#include "comm/decentral/negotiation.h"
#include "tests/support/test.h"

namespace bertft::test {
namespace {

// One rank a node: what it has ready is what it says.
struct PlainSource final : ReadinessSource {
  explicit PlainSource(int units) : now{UnitSet(units), 0} {}
  Readiness read(int64_t) const override { return now; }
  Readiness now;
};

// Nodes whose messages all take one tick.
class LockstepJob {
 public:
  LockstepJob(int nodes, int units) : units_(units) {
    for (int node = 0; node < nodes; ++node) {
      sources_.emplace_back(units);
      nodes_.emplace_back(NegotiationOptions{5, node, nodes, units});
    }
    agreed_.resize(nodes_.size());
  }

  int size() const { return static_cast<int>(nodes_.size()); }
  const NegotiationCounters& counters(int node) const { return at(node).counters(); }
  const Negotiation& at(int node) const { return nodes_[static_cast<size_t>(node)]; }
  const std::vector<AgreedRound>& agreed(int node) const { return agreed_[static_cast<size_t>(node)]; }

  void begin(int64_t step) {
    for (size_t node = 0; node < nodes_.size(); ++node) {
      sources_[node].now = {UnitSet(units_), 0};
      nodes_[node].step_begin(step, sources_[node]);
      collect(node);
    }
  }
  void mark(int node, const std::vector<int>& units) {
    const auto index = static_cast<size_t>(node);
    for (const int unit : units) sources_[index].now.ready.add(unit);
    poll(node);
  }
  void raise(int node, uint32_t flags) {
    sources_[static_cast<size_t>(node)].now.flags |= flags;
    poll(node);
  }
  void poll(int node) {
    nodes_[static_cast<size_t>(node)].poll(sources_[static_cast<size_t>(node)]);
    collect(static_cast<size_t>(node));
  }
  // Ticks until no message is on its way; in each, all messages of the tick before arrive.
  int run() {
    int ticks = 0;
    for (; !sent_.empty(); ++ticks) {
      for (auto& [from, message] : std::exchange(sent_, {})) {
        const auto to = static_cast<size_t>(message.to);
        nodes_[to].receive(from, message.bytes, sources_[to]);
        collect(to);
      }
    }
    return ticks;
  }
  size_t messages_on_their_way() const { return sent_.size(); }

 private:
  void collect(size_t node) {
    for (ControlSend& message : nodes_[node].take_messages()) {
      bytes_sent += static_cast<int64_t>(message.bytes.size());
      sent_.emplace_back(static_cast<int>(node), std::move(message));
    }
    for (AgreedRound& round : nodes_[node].take_agreed()) agreed_[node].push_back(std::move(round));
  }

  int units_;
  std::vector<PlainSource> sources_;
  std::vector<Negotiation> nodes_;
  std::vector<std::pair<int, ControlSend>> sent_;
  std::vector<std::vector<AgreedRound>> agreed_;

 public:
  int64_t bytes_sent = 0;
};

std::vector<int> job_sizes() {
  std::vector<int> sizes(17);
  std::iota(sizes.begin(), sizes.end(), 1);
  sizes.insert(sizes.end(), {64, 1000, 1024});
  return sizes;
}

int ceil_log2(int n) {
  int bits = 0;
  while ((1 << bits) < n) ++bits;
  return bits;
}

std::vector<int> first_units(int count) {
  std::vector<int> units(static_cast<size_t>(count));
  std::iota(units.begin(), units.end(), 0);
  return units;
}

TEST_CASE("In lockstep a round is ceil(log2 n) phases, each one message of a node") {
  struct Size {
    int units;
    int64_t body;
  };
  for (const int nodes : job_sizes()) {
    for (const auto& [units, body] : {Size{1, 8}, Size{59, 8}, Size{60, 16}, Size{201, 32}}) {
      LockstepJob job(nodes, units);
      job.begin(1);
      for (int node = 0; node < nodes; ++node) job.mark(node, first_units(units));
      const int ticks = job.run();
      INFO(nodes << " nodes, " << units << " units");
      const int phases = ceil_log2(nodes);
      REQUIRE(ticks == phases);
      REQUIRE(job.bytes_sent == int64_t{nodes} * phases * (24 + body));
      for (int node = 0; node < nodes; ++node) {
        REQUIRE(job.counters(node).rounds == 1);
        REQUIRE(job.counters(node).phases == phases);
        REQUIRE(job.counters(node).messages == phases);
        REQUIRE(job.counters(node).bytes == phases * (24 + body));
        REQUIRE(job.counters(node).started == 1);
        REQUIRE(job.at(node).step_done());
        REQUIRE(job.agreed(node) == job.agreed(0));
      }
    }
  }
}

TEST_CASE("In lockstep units that become ready one by one take a round each, over several steps") {
  constexpr int kUnits = 5, kSteps = 3;
  for (const int nodes : job_sizes()) {
    if (nodes > 64) continue;
    LockstepJob job(nodes, kUnits);
    int ticks = 0;
    for (int step = 0; step < kSteps; ++step) {
      job.begin(step);
      for (int unit = 0; unit < kUnits; ++unit) {
        for (int node = 0; node < nodes; ++node) job.mark(node, {unit});
        ticks += job.run();
      }
    }
    const int phases = ceil_log2(nodes);
    INFO(nodes << " nodes");
    REQUIRE(ticks == kSteps * kUnits * phases);
    for (int node = 0; node < nodes; ++node) {
      REQUIRE(job.counters(node).rounds == kSteps * kUnits);
      REQUIRE(job.counters(node).messages == kSteps * kUnits * phases);
      REQUIRE(job.agreed(node).size() == kSteps * kUnits);
    }
    REQUIRE(job.agreed(0)[7] == AgreedRound{1, 2, {{2}}, 0});
  }
}

TEST_CASE("The busiest of 1,024 nodes sends ten messages for 201 tensors") {
  LockstepJob job(1024, 201);
  job.begin(1);
  for (int node = 0; node < 1024; ++node) job.mark(node, first_units(201));
  job.run();
  for (int node = 0; node < 1024; ++node) {
    REQUIRE(job.counters(node).messages == 10);
    REQUIRE(job.counters(node).bytes == 10 * (24 + 32));
  }
}

TEST_CASE("The last node to become ready starts the one round that agrees, in K(K+1)/2 + 1 hops at most") {
  for (const int nodes : job_sizes()) {
    if (nodes == 1 || nodes > 64) continue;
    for (const int last : {0, nodes / 2, nodes - 1}) {
      LockstepJob job(nodes, 1);
      job.begin(0);
      for (int node = 0; node < nodes; ++node) {
        if (node != last) job.mark(node, {0});
      }
      job.run();
      const int64_t earlier = job.counters(last).rounds;
      REQUIRE(earlier <= nodes - 1);
      job.mark(last, {0});
      const int hops = job.run();
      const int phases = ceil_log2(nodes);
      INFO(nodes << " nodes, node " << last << " last, " << hops << " hops");
      REQUIRE(hops > phases);
      REQUIRE(hops <= phases * (phases + 1) / 2 + 1);
      if (nodes == 1 << phases) REQUIRE(hops == phases * (phases + 1) / 2 + 1);
      for (int node = 0; node < nodes; ++node) {
        REQUIRE(job.counters(node).rounds == earlier + 1);
        REQUIRE(job.counters(node).messages == (earlier + 1) * phases);
        REQUIRE(job.agreed(node).back().groups == std::vector<std::vector<int>>{{0}});
      }
    }
  }
}

TEST_CASE("A negotiation with nothing new says nothing") {
  for (const int nodes : {2, 3, 8}) {
    LockstepJob job(nodes, 3);
    const auto stays_silent = [&](const char* when) {
      INFO(nodes << " nodes, " << when);
      for (int i = 0; i < 100; ++i) {
        for (int node = 0; node < nodes; ++node) job.poll(node);
      }
      REQUIRE(job.messages_on_their_way() == 0);
    };
    stays_silent("before the first step");
    job.begin(0);
    stays_silent("at the start of a step");
    for (int node = 0; node < nodes; ++node) job.raise(node, kFlagStop);
    stays_silent("with flags raised");
    job.mark(0, {1});
    job.run();
    stays_silent("with a unit that only one node has ready");
    for (int node = 0; node < nodes; ++node) job.mark(node, {0, 1, 2});
    job.run();
    REQUIRE(job.at(nodes - 1).step_done());
    REQUIRE(job.at(nodes - 1).flags() == kFlagStop);
    stays_silent("at the end of a step");
  }
}

TEST_CASE("Nodes that become ready at different times need at most nodes x units rounds") {
  constexpr int kUnits = 4;
  for (const int nodes : {2, 3, 5, 8}) {
    LockstepJob job(nodes, kUnits);
    job.begin(0);
    // The worst case: each node alone adds one unit, and a round is over before the next does.
    for (int unit = 0; unit < kUnits; ++unit) {
      for (int node = 0; node < nodes; ++node) {
        job.mark(node, {unit});
        job.run();
      }
    }
    INFO(nodes << " nodes");
    REQUIRE(job.at(0).step_done());
    REQUIRE(job.counters(0).rounds == nodes * kUnits);
  }
}

}  // namespace
}  // namespace bertft::test
