// How ranks come together: strangers are kept out, taken ports are named, jobs on one machine do not meet.
#include "comm/native/mesh.h"

#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>

#include <algorithm>
#include <future>
#include <memory>
#include <thread>

#include "comm/native/greeter.h"
#include "comm/native/sockets.h"
#include "core/error.h"
#include "tests/support/errors.h"
#include "tests/support/hooked_bootstrap.h"
#include "tests/support/rank_threads.h"
#include "tests/unit/comm/native/native_world.h"

namespace bertft {
namespace {

using native::Fd;

// Ports that were free a moment ago.
int free_ports(int count) {
  for (;;) {
    const Fd first = native::listen_tcp("127.0.0.1", 0);
    const int base = native::port_of(first);
    if (base + count > 65535) continue;
    try {
      for (int i = 1; i < count; ++i) {
        native::listen_tcp("127.0.0.1", base + i);
      }
      return base;
    } catch (const CommError&) {  // another one, then
    }
  }
}

native::MeshOptions loopback(int port_base = 0) {
  native::MeshOptions options;
  options.interface = "lo";
  options.port_base = port_base;
  return options;
}

Fd knock(int port, const std::string& bytes) {
  std::string error;
  for (;;) {
    Fd socket = native::start_connect_tcp("127.0.0.1", port, error);
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
    if (!socket || !native::connect_error(socket).empty()) continue;
    if (!bytes.empty()) ::send(socket.get(), bytes.data(), bytes.size(), MSG_NOSIGNAL);
    return socket;
  }
}

bool is_closed_by_peer(const Fd& socket) {
  char byte = 0;
  for (int i = 0; i < 1000; ++i) {
    if (native::read_some(socket.get(), &byte, 1).is_ended) return true;
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
  return false;
}

TEST_CASE("Strangers are closed and counted, and the job comes together all the same") {
  const int base = free_ports(8);
  const native::JobSecret other_job = native::draw_secret();
  std::vector<Fd> strangers;
  int64_t closed = -1;
  const auto errors = test::run_ranks(2, [&](Bootstrap& bootstrap) {
    test::HookedBootstrap hooked(bootstrap, [&] {
      if (bootstrap.rank() == 0) return;
      // Rank 0 waits for this rank now.
      strangers.push_back(knock(base, std::string(48, 'x')));
      strangers.push_back(knock(base, "GET / HTTP/1.1\r\nHost: gradients.example.org:80\r\n\r\n"));
      strangers.push_back(knock(base + 1, encode(native::Greeting{1, 0, 1}, other_job)));
      strangers.push_back(knock(base, "short"));
      strangers.push_back(knock(base, ""));  // says nothing
    });
    const auto options = loopback(bootstrap.rank() == 0 ? base : 0);
    const native::Mesh mesh = native::connect_mesh(hooked, bootstrap.rank() == 0 ? "a" : "b", options);
    if (bootstrap.rank() == 0) closed = mesh.closed_strangers;
    bootstrap.barrier();
  });
  REQUIRE(errors == std::vector<std::string>(2));
  REQUIRE(closed == 5);
  for (const Fd& stranger : strangers) {
    REQUIRE(is_closed_by_peer(stranger));
  }
}

TEST_CASE("A port that is taken stops all ranks with its number and what to do") {
  const int base = free_ports(3);
  const Fd taken = native::listen_tcp("127.0.0.1", base + 1);
  const auto errors = test::run_ranks(3, [&](Bootstrap& bootstrap) {
    const int own_base = bootstrap.rank() == 1 ? base : 0;
    native::connect_mesh(bootstrap, std::string(1, static_cast<char>('a' + bootstrap.rank())), loopback(own_base));
  });
  for (const std::string& error : errors) {
    REQUIRE_THAT(error,
                 Catch::Contains("rank 1 (b): port " + std::to_string(base + 1)) && Catch::Contains("comm.port_base"));
  }
}

TEST_CASE("Ports follow comm.port_base: one per channel, ranks of a node behind one another") {
  const int base = free_ports(12);
  native::MeshOptions options = loopback(base);
  options.lanes = 2;
  const auto errors = test::run_ranks(3, [&](Bootstrap& bootstrap) {
    // Ranks 0 and 1 share a node and this machine's ports; rank 2 takes any.
    native::MeshOptions own = options;
    if (bootstrap.rank() == 2) own.port_base = 0;
    test::HookedBootstrap hooked(bootstrap, [&] {
      if (bootstrap.rank() != 2) return;
      for (int i = 0; i < 8; ++i) {
        std::string error;
        check(!test::error_text<CommError>([&] { native::listen_tcp("127.0.0.1", base + i); }).empty(), "taken");
      }
    });
    const native::Mesh mesh = native::connect_mesh(hooked, bootstrap.rank() == 2 ? "b" : "a", own);
    check(mesh.control.size() == 3, "control connections to all");
    bootstrap.barrier();
  });
  REQUIRE(errors == std::vector<std::string>(3));
}

TEST_CASE("Only control connections between nodes are watched for silence") {
  struct Watched {
    int keepalive = -1, timeout_ms = -1;
  };
  std::vector<Watched> control(2), data(2);
  const auto errors = test::run_ranks(2, [&](Bootstrap& bootstrap) {
    const native::Mesh mesh = native::connect_mesh(bootstrap, bootstrap.rank() == 0 ? "a" : "b", loopback());
    const auto rank = static_cast<size_t>(bootstrap.rank());
    const auto look = [](const Fd& socket) {
      Watched result;
      socklen_t bytes = sizeof(int);
      ::getsockopt(socket.get(), SOL_SOCKET, SO_KEEPALIVE, &result.keepalive, &bytes);
      ::getsockopt(socket.get(), IPPROTO_TCP, TCP_USER_TIMEOUT, &result.timeout_ms, &bytes);
      return result;
    };
    control[rank] = look(mesh.control[1 - rank]);
    data[rank] = look(mesh.data.at({static_cast<int>(1 - rank), 1}));
    bootstrap.barrier();
  });
  REQUIRE(errors == std::vector<std::string>(2));
  for (const Watched& one : control) {
    REQUIRE(one.keepalive == 1);
    REQUIRE((one.timeout_ms > 0 && one.timeout_ms < 10000));  // a cable that is pulled is named within 10 s
  }
  for (const Watched& one : data) {
    REQUIRE(one.keepalive == 0);
    REQUIRE(one.timeout_ms == 0);
  }
}

TEST_CASE("Without lanes each rank listens on one port, and all control connections stand") {
  const int base = free_ports(2);
  const std::vector<std::string> nodes = {"a", "b", "b"};
  std::vector<size_t> control(3), data(3);
  const auto errors = test::run_ranks(3, [&](Bootstrap& bootstrap) {
    const auto rank = static_cast<size_t>(bootstrap.rank());
    native::MeshOptions options = loopback(bootstrap.rank() == 0 ? 0 : base);  // all on one machine: ports must differ
    options.lanes = 0;
    const native::Mesh mesh = native::connect_mesh(bootstrap, nodes[rank], options);
    control[rank] = static_cast<size_t>(
        std::count_if(mesh.control.begin(), mesh.control.end(), [](const Fd& one) { return static_cast<bool>(one); }));
    data[rank] = mesh.data.size();
    bootstrap.barrier();
  });
  REQUIRE(errors == std::vector<std::string>(3));
  REQUIRE(control == std::vector<size_t>(3, 2));
  REQUIRE(data == std::vector<size_t>(3));
}

TEST_CASE("Two jobs on one machine at the same time stay apart") {
  const auto run_job = [] {
    std::vector<std::string> problems;
    for (const bool is_hierarchical : {true, false}) {
      const test::WorldCase world{{"a", "a", "b", "b"}, is_hierarchical, 2};
      const std::vector<float> wanted = test::canonical_sum(world.nodes, 20000, 1);
      auto errors = test::run_world(world, 20000, sizeof(float), [&](test::RankView& view) {
        test::fill(view.buffer, view.transport.rank(), 1);
        test::reduce_all(view.transport, 20000, 4096, {.step = 1});
        check(std::equal(wanted.begin(), wanted.end(), view.floats()), "the sum of this job");
      });
      problems.insert(problems.end(), errors.begin(), errors.end());
    }
    return problems;
  };
  auto first = std::async(std::launch::async, run_job), second = std::async(std::launch::async, run_job);
  REQUIRE(first.get() == std::vector<std::string>(8));
  REQUIRE(second.get() == std::vector<std::string>(8));
}

TEST_CASE("Who cannot be reached is named with what was tried") {
  const int port = free_ports(1);
  const native::Topology topology = native::make_topology(1, {"a", "b", "c"});
  const native::JobSecret secret = native::draw_secret();
  native::Greeter greeter(topology, secret);
  greeter.call({{0, 0}, {"127.0.0.1"}, port, ""});
  greeter.expect({2, 0});
  const std::string text = test::error_text<CommError>([&] { greeter.run(0.2); });
  REQUIRE_THAT(text, Catch::Contains("2 of 2 connections") && Catch::Contains("rank 0 (a) (127.0.0.1 port") &&
                         Catch::Contains("refused") && Catch::Contains("rank 2 (c) (has not called)"));
}

TEST_CASE("A caller tries a peer's addresses in turn and believes only who knows the answer") {
  const native::Topology one = native::make_topology(0, {"a", "b"}), two = native::make_topology(1, {"a", "b"});
  const native::JobSecret secret = native::draw_secret();
  Fd listener = native::listen_tcp("127.0.0.1", 0);
  const int port = native::port_of(listener);
  const Fd impostor = native::listen_tcp("127.0.0.2", port);
  native::Greeter listening(one, secret), calling(two, secret);
  listening.add_listener(std::move(listener));
  listening.expect({1, 3});
  calling.call({{0, 3}, {"127.0.0.2", "127.0.0.1"}, port, ""});
  std::thread fake([&] {
    std::string from;
    Fd visitor;
    while (!visitor) visitor = native::accept_from(impostor, from);
    const std::string answer = native::encode_answer(native::draw_secret());
    ::send(visitor.get(), answer.data(), answer.size(), MSG_NOSIGNAL);
    std::this_thread::sleep_for(std::chrono::milliseconds(200));
  });
  auto there = std::async(std::launch::async, [&] { return listening.run(20.0).size(); });
  const auto here = calling.run(20.0);
  fake.join();
  REQUIRE(here.size() == 1);
  REQUIRE(there.get() == 1);
}

}  // namespace
}  // namespace bertft
