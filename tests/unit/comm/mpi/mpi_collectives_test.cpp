// Collectives over MPI, small messages beside them, and what is known of a rank that is late.
#include <algorithm>
#include <chrono>
#include <thread>

#include "core/error.h"
#include "tests/support/test.h"
#include "tests/unit/comm/mpi/mpi_world.h"

namespace bertft {
namespace {

using test::mpi_bootstrap;

void in_every_world(const std::function<void(Transport&)>& body) {
  for (const auto& nodes : test::mpi_node_lists()) {
    test::WorldCase world{nodes};
    INFO(world.text());
    test::run_mpi(world, 16, sizeof(float), [&](test::RankView& view) { body(view.transport); });
  }
}

std::string text_of(int rank, size_t bytes) {
  std::string text(bytes, '\0');
  for (size_t i = 0; i < bytes; ++i) text[i] = static_cast<char>(i * 31 + static_cast<size_t>(rank) * 7 + i / 1000);
  return text;
}

TEST_CASE("MPI: a broadcast brings the root's bytes to all, whatever the size and root") {
  in_every_world([](Transport& transport) {
    const size_t pieces = (size_t{16} << 20) + 7;
    for (const size_t bytes : {size_t{0}, size_t{1}, size_t{5000}, pieces}) {
      for (int root = bytes == pieces ? transport.size() - 1 : 0; root < transport.size(); ++root) {
        std::string data = transport.rank() == root ? text_of(root, bytes) : std::string(bytes, 'x');
        transport.broadcast(data.data(), bytes, root);
        REQUIRE((data == text_of(root, bytes)));
      }
    }
  });
}

TEST_CASE("MPI: a gather brings the texts of all ranks in rank order, also empty and long ones") {
  in_every_world([](Transport& transport) {
    const auto length = [](int rank, size_t scale) { return static_cast<size_t>(rank) * scale; };
    for (const size_t scale : {size_t{0}, size_t{1}, size_t{999}, (size_t{5} << 20) + 700011}) {
      const auto texts = transport.all_gather(text_of(transport.rank(), length(transport.rank(), scale)));
      REQUIRE(texts.size() == static_cast<size_t>(transport.size()));
      for (int rank = 0; rank < transport.size(); ++rank) {
        REQUIRE((texts[static_cast<size_t>(rank)] == text_of(rank, length(rank, scale))));
      }
    }
  });
}

TEST_CASE("MPI: nobody leaves a barrier before all have come") {
  in_every_world([](Transport& transport) {
    for (int late = 0; late < transport.size(); ++late) {
      if (transport.rank() == late) {
        std::this_thread::sleep_for(std::chrono::milliseconds(30));
        for (int to = 0; to < transport.size(); ++to) transport.send(to, "I am there");
      }
      transport.barrier();
      const auto message = transport.receive(30.0);
      REQUIRE(message.has_value());
      REQUIRE(message->from == late);
    }
  });
}

TEST_CASE("MPI: small messages arrive in order beside sums and collectives") {
  in_every_world([](Transport& transport) {
    constexpr int kCount = 50;
    for (int i = 0; i < kCount; ++i) {
      for (int to = 0; to < transport.size(); ++to) transport.send(to, std::to_string(i));
      transport.all_reduce(0, {.range = {0, 16}});
    }
    std::vector<int> next(static_cast<size_t>(transport.size()), 0);
    for (int left = kCount * transport.size(); left > 0; --left) {
      const auto message = transport.receive(30.0);
      REQUIRE(message.has_value());
      REQUIRE(message->bytes == std::to_string(next[static_cast<size_t>(message->from)]++));
    }
    REQUIRE(transport.counters().control.messages_sent == kCount * transport.size());
  });
}

TEST_CASE("MPI: lanes and collectives do not wait for each other") {
  const int size = mpi_bootstrap().size();
  const test::WorldCase world{std::vector<std::string>(static_cast<size_t>(size), "a"), true, 2};
  test::run_mpi(world, 70000, sizeof(float), [&](test::RankView& view) {
    // Odd ranks do them in the other order: lane 0, lane 1 and the collectives are apart.
    const bool is_odd = view.transport.rank() % 2 == 1;
    std::thread first([&] {
      std::this_thread::sleep_for(std::chrono::milliseconds(is_odd ? 60 : 0));
      view.transport.all_reduce(0, {.range = {0, 32768}});
    });
    std::thread second([&] {
      std::this_thread::sleep_for(std::chrono::milliseconds(is_odd ? 0 : 60));
      view.transport.all_reduce(1, {.range = {32768, 70000}});
    });
    view.transport.barrier();
    first.join();
    second.join();
  });
}

TEST_CASE("MPI: a wait for a late rank is shown with its step, and ends when that comes") {
  const int size = mpi_bootstrap().size();
  if (size == 1) return;
  test::run_mpi({std::vector<std::string>(static_cast<size_t>(size), "a")}, 1000, sizeof(float),
                [&](test::RankView& view) {
                  if (view.transport.rank() == size - 1) {
                    // Comes when the others have said that they see themselves waiting.
                    for (int left = size - 1; left > 0; --left) REQUIRE(view.transport.receive(50.0).has_value());
                    view.transport.all_reduce(0, {.range = {0, 1000}, .step = 9, .unit = 2});
                    return;
                  }
                  std::thread lane([&] { view.transport.all_reduce(0, {.range = {0, 1000}, .step = 9, .unit = 2}); });
                  std::vector<TransportWait> waits;
                  for (int i = 0; i < 5000 && waits.empty(); ++i) {
                    std::this_thread::sleep_for(std::chrono::milliseconds(10));
                    waits = view.transport.waits();
                  }
                  view.transport.send(size - 1, "waiting");
                  lane.join();
                  REQUIRE(waits.size() == 1);
                  REQUIRE(waits.front().lane == 0);
                  REQUIRE(waits.front().step == 9);
                  REQUIRE(waits.front().unit == 2);
                  REQUIRE(waits.front().what == "the other ranks");
                  REQUIRE(view.transport.waits().empty());
                });
}

}  // namespace
}  // namespace bertft
