// Broadcast, gather and barrier in every world, and the controllers' small messages: order, size, silence.
#include <chrono>
#include <thread>

#include "core/error.h"
#include "tests/support/rank_threads.h"
#include "tests/support/test.h"
#include "tests/unit/comm/native/native_world.h"

namespace bertft {
namespace {

using test::WorldCase;

std::string text_of(int rank, size_t bytes) {
  std::string text(bytes, '\0');
  for (size_t i = 0; i < bytes; ++i) {
    text[i] = static_cast<char>(i * 7 + static_cast<size_t>(rank) * 31 + i / 1000);
  }
  return text;
}

// Every rank runs body(transport) in each world; a false check() there is an error here.
void in_every_world(const std::function<void(Transport&)>& body) {
  for (const auto& nodes : test::node_lists()) {
    const WorldCase world{nodes};
    INFO(world.text());
    const auto errors = test::run_world(world, 16, sizeof(float), [&](test::RankView& view) { body(view.transport); });
    REQUIRE(errors == std::vector<std::string>(nodes.size()));
  }
}

TEST_CASE("Texts of different lengths are gathered in rank order") {
  in_every_world([](Transport& transport) {
    for (const size_t length : {size_t{0}, size_t{5}, size_t{1} << 20, (size_t{3} << 20) + 11}) {
      const auto length_of = [&](int rank) { return rank % 2 == 0 ? length : length / 3; };
      const auto all = transport.all_gather(text_of(transport.rank(), length_of(transport.rank())));
      check(all.size() == static_cast<size_t>(transport.size()), "one text per rank");
      for (int rank = 0; rank < transport.size(); ++rank) {
        check(all[static_cast<size_t>(rank)] == text_of(rank, length_of(rank)), "the text of each rank");
      }
      transport.barrier();
    }
  });
}

TEST_CASE("A buffer reaches all ranks from every root, whatever its size") {
  in_every_world([](Transport& transport) {
    for (int root = 0; root < transport.size(); ++root) {
      for (const size_t bytes : {size_t{0}, size_t{1}, size_t{1000}, (size_t{2} << 20) + 17}) {
        const std::string wanted = text_of(root, bytes);
        std::string buffer = transport.rank() == root ? wanted : std::string(bytes, 'x');
        transport.broadcast(buffer.data(), bytes, root);
        check(buffer == wanted, "the root's bytes");
      }
    }
  });
}

TEST_CASE("Between nodes a gather is one message per pair of leaders, a broadcast one per node but the root's") {
  std::vector<ChannelCounters> gathered(5), sent(5);
  const auto errors = test::run_world({{"a", "a", "b", "c", "c"}}, 16, sizeof(float), [&](test::RankView& view) {
    const auto rank = static_cast<size_t>(view.transport.rank());
    const ChannelCounters before = view.transport.counters().collectives;
    view.transport.all_gather("12345678");
    gathered[rank] = view.transport.counters().collectives;
    std::string buffer(5000, 'x');
    view.transport.broadcast(buffer.data(), buffer.size(), 1);
    sent[rank] = view.transport.counters().collectives;
    sent[rank].messages_sent -= gathered[rank].messages_sent;
    sent[rank].payload_sent -= gathered[rank].payload_sent;
    gathered[rank].messages_sent -= before.messages_sent;
    gathered[rank].payload_sent -= before.payload_sent;
  });
  REQUIRE(errors == std::vector<std::string>(5));
  const std::vector<int64_t> gather_messages = {2, 0, 2, 2, 0}, gather_bytes = {64, 0, 32, 64, 0};
  const std::vector<int64_t> broadcast_messages = {1, 0, 1, 0, 0};
  for (size_t rank = 0; rank < 5; ++rank) {
    REQUIRE(gathered[rank].messages_sent == gather_messages[rank]);
    REQUIRE(gathered[rank].payload_sent == gather_bytes[rank]);  // 8 bytes and their length for each rank of the node
    REQUIRE(sent[rank].messages_sent == broadcast_messages[rank]);
    REQUIRE(sent[rank].payload_sent == broadcast_messages[rank] * 5000);
  }
}

TEST_CASE("Small messages arrive in order between any two ranks, also to oneself") {
  in_every_world([](Transport& transport) {
    constexpr int kCount = 50;
    for (int i = 0; i < kCount; ++i) {
      for (int to = 0; to < transport.size(); ++to) {
        transport.send(to, std::to_string(i));
      }
    }
    std::vector<int> next(static_cast<size_t>(transport.size()), 0);
    for (int left = kCount * transport.size(); left > 0; --left) {
      const auto message = transport.receive(30.0);
      check(message.has_value(), "a message is missing");
      check(message->bytes == std::to_string(next[static_cast<size_t>(message->from)]++), "messages in order");
    }
    check(!transport.receive(0.0), "no message too many");
    const ChannelCounters counters = transport.counters().control;
    check(counters.messages_sent == kCount * transport.size(), "each message is counted");
    check(counters.messages_received == counters.messages_sent, "on both sides");
    check(counters.header_sent == int64_t{kCount} * (transport.size() - 1) * 16, "16 bytes before each");
  });
}

TEST_CASE("Sending never waits for a receiver, however much there is") {
  for (const auto& nodes : {std::vector<std::string>{"a", "a"}, {"a", "b"}}) {
    const auto errors = test::run_world({nodes}, 16, sizeof(float), [](test::RankView& view) {
      const int peer = 1 - view.transport.rank();
      const std::string big = text_of(view.transport.rank(), size_t{5} << 20);
      for (int i = 0; i < 5; ++i) {
        view.transport.send(peer, big);  // more than any socket buffer holds, from both sides at once
      }
      for (int i = 0; i < 5; ++i) {
        const auto message = view.transport.receive(30.0);
        check(message && message->bytes == text_of(peer, size_t{5} << 20), "the whole message");
      }
    });
    REQUIRE(errors == std::vector<std::string>(2));
  }
}

TEST_CASE("A rank that closes waits for those that still work, and nothing is sent meanwhile") {
  std::vector<int64_t> messages(4);
  const auto errors = test::run_world({{"a", "a", "b", "b"}}, 16, sizeof(float), [&](test::RankView& view) {
    if (view.transport.rank() == 2) std::this_thread::sleep_for(std::chrono::milliseconds(100));
    view.transport.close();
    messages[static_cast<size_t>(view.transport.rank())] = view.transport.counters().control.messages_sent;
  });
  REQUIRE(errors == std::vector<std::string>(4));
  REQUIRE(messages == std::vector<int64_t>(4));
}

}  // namespace
}  // namespace bertft
