// Who sits where, who owns which slice, which connections that takes; and the bytes of all headers.
#include "comm/native/topology.h"

#include "comm/native/frames.h"
#include "core/layout.h"
#include "tests/support/errors.h"

namespace bertft {
namespace {

using native::Link;
using native::Topology;

TEST_CASE("Nodes are numbered by their lowest rank, and the canonical order goes node by node") {
  const Topology topology = native::make_topology(3, {"y", "x", "x", "y", "z", "x"});
  REQUIRE(topology.node_of == std::vector<int>{0, 1, 1, 0, 2, 1});
  REQUIRE(topology.canonical == std::vector<int>{0, 3, 1, 2, 5, 4});
  REQUIRE(topology.nodes() == 3);
  REQUIRE(topology.node == 0);
  REQUIRE(topology.local_rank == 1);
  REQUIRE(topology.local_size() == 2);
  REQUIRE(topology.local_slices == 1);
  REQUIRE(topology.name_of(4) == "rank 4 (z)");
}

TEST_CASE("Slices cover a range without gaps, on aligned borders, and differ by little") {
  for (const int64_t begin : {0, 16, 65520}) {
    for (const int64_t size : {0, 1, 15, 16, 17, 1000, 70001}) {
      for (int count = 1; count < 20; ++count) {
        int64_t at = begin;
        for (int i = 0; i < count; ++i) {
          const ElementRange slice = native::slice_of({begin, begin + size}, i, count);
          REQUIRE(slice.begin == at);
          REQUIRE(slice.size() >= 0);
          REQUIRE((slice.begin % kAlignmentElements == 0 || slice.size() == 0));
          REQUIRE(slice.size() <= size / count + kAlignmentElements + count);
          at = slice.end;
        }
        REQUIRE(at == begin + size);
      }
    }
  }
}

TEST_CASE("Links are symmetric and no more than the topology needs") {
  const std::vector<std::string> nodes = {"a", "a", "b", "b", "b", "c", "c"};
  constexpr int kLanes = 2;
  for (const bool is_hierarchical : {true, false}) {
    size_t data_links = 0;
    for (int rank = 0; rank < 7; ++rank) {
      for (const Link& link : native::tcp_links(native::make_topology(rank, nodes), kLanes, is_hierarchical)) {
        REQUIRE(nodes[static_cast<size_t>(link.peer)] != nodes[static_cast<size_t>(rank)]);
        const auto back = native::tcp_links(native::make_topology(link.peer, nodes), kLanes, is_hierarchical);
        REQUIRE(std::count(back.begin(), back.end(), Link{rank, link.channel}) == 1);
        data_links += link.channel >= 1 && link.channel <= kLanes ? 1 : 0;
      }
    }
    // Hierarchical: two rails of three nodes each; flat: every pair of ranks of different nodes, counted twice.
    REQUIRE(data_links == kLanes * (is_hierarchical ? 2 * 6 : 2 * (2 * 3 + 2 * 2 + 3 * 2)));
  }
}

TEST_CASE("Without lanes ranks of different nodes have their control connections alone") {
  for (int rank = 0; rank < 4; ++rank) {
    for (const bool is_hierarchical : {true, false}) {
      const auto links = native::tcp_links(native::make_topology(rank, {"a", "a", "b", "c"}), 0, is_hierarchical);
      REQUIRE(links.size() == (rank < 2 ? 2 : 3));
      for (const Link& link : links) REQUIRE(link.channel == 0);
    }
  }
}

TEST_CASE("Headers have the bytes that the documentation shows") {
  const uint64_t job = 0x0807060504030201;
  native::SumHeader sum;
  sum.phase = native::Phase::kResult;
  sum.wire = WireType::kMixed;
  sum.lane = 0x0a09;
  sum.from = 0x0e0d0c0b;
  sum.step = 5;
  sum.sequence = 6;
  sum.slice = {16, 64};
  sum.flags = 0xf0;
  sum.blocks = 2;
  const std::string bytes = encode(sum, job);
  REQUIRE(bytes.size() == native::kSumHeaderBytes);
  REQUIRE(bytes.substr(0, 20) == std::string("BFs1\1\2\3\4\5\6\7\x8\2\3\x9\xa\xb\xc\xd\xe", 20));
  REQUIRE(bytes.substr(20, 16) == std::string("\5\0\0\0\0\0\0\0\6\0\0\0\0\0\0\0", 16));
  REQUIRE(bytes.substr(36, 16) == std::string("\x10\0\0\0\0\0\0\0\x40\0\0\0\0\0\0\0", 16));
  REQUIRE(bytes.substr(52) == std::string("\xf0\0\0\0\2\0\0\0\0\0\0\0", 12));
  const native::SumHeader back = native::decode_sum(bytes, job);
  REQUIRE(back.slice == sum.slice);
  REQUIRE(back.lane == sum.lane);
  REQUIRE(back.flags == sum.flags);

  const std::string block = encode(native::BlockHeader{32, 48, {WireType::kFp16, -3}});
  REQUIRE(block == std::string("\x20\0\0\0\0\0\0\0\x30\0\0\0\1\0\xfd\xff", 16));
  REQUIRE(native::decode_block_header(block).code == BlockCode{WireType::kFp16, -3});

  const std::string control = encode(native::ControlHeader{native::ControlKind::kAbort, 0x010203}, job);
  REQUIRE(control == std::string("BFc1\1\2\3\4\5\6\7\x8\3\2\1\x20", 16));
  REQUIRE(native::decode_control(control, job).bytes == 0x010203);

  REQUIRE(encode(native::CollectiveHeader{1, 2, 3}, job) ==
          std::string("BFg1\1\2\3\4\5\6\7\x8\1\0\0\0\0\0\0\0\2\0\0\0\0\0\0\0\3\0\0\0", 32));
  REQUIRE(encode(native::Greeting{1, 2, 3}, native::draw_secret()).size() == native::kGreetingBytes);
}

TEST_CASE("Headers of other jobs, versions and shapes are refused") {
  const std::string sum = encode(native::SumHeader{}, 7);
  REQUIRE_THROWS_AS(native::decode_sum(sum, 8), CommError);
  REQUIRE_THROWS_AS(native::decode_sum(sum.substr(0, 40), 7), CommError);
  REQUIRE_THROWS_AS(native::decode_control(std::string(16, 'x'), 7), CommError);
  REQUIRE_THROWS_AS(native::decode_collective("", 7), CommError);
  std::string block = encode(native::BlockHeader{0, 1, {WireType::kBf16, 0}});
  block[12] = 3;  // mixed is no type of a block
  REQUIRE_THROWS_AS(native::decode_block_header(block), CommError);
  const native::JobSecret secret = native::draw_secret();
  native::Greeting greeting;
  std::string hello = encode(native::Greeting{1, 2, 3}, secret);
  REQUIRE(native::decode(hello, secret, greeting));
  REQUIRE_FALSE(native::decode(hello, native::draw_secret(), greeting));
  for (size_t i = 0; i < 32; ++i) {
    std::string changed = hello;
    changed[i] = static_cast<char>(changed[i] ^ 1);
    REQUIRE_FALSE(native::decode(changed, secret, greeting));
  }
}

}  // namespace
}  // namespace bertft
