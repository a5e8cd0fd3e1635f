// Which interfaces reach other nodes: a pure choice over lists such as real machines have.
#include "comm/native/interfaces.h"

#include "core/error.h"
#include "tests/support/errors.h"

namespace bertft {
namespace {

using native::Interface;

const std::vector<Interface> kMachine = {
    {"lo", "127.0.0.1", 8, true, true},         {"lo", "::1", 128, true, true},
    {"docker0", "172.17.0.1", 16, true, false}, {"br-3f0c", "172.18.0.1", 16, true, false},
    {"eth0", "10.1.2.3", 16, true, false},      {"eth0", "fe80::1", 64, true, false},
    {"eth1", "192.168.7.3", 24, true, false},   {"eth2", "169.254.10.1", 16, true, false},
    {"eth3", "10.9.0.3", 16, false, false},     {"eth1", "fd00:7::3", 64, true, false},
    {"veth-a", "10.200.0.1", 24, true, false}};

std::vector<std::string> chosen(const std::string& wanted) {
  std::vector<std::string> addresses;
  for (const Interface& one : native::choose_interfaces(kMachine, wanted).eligible) {
    addresses.push_back(one.address);
  }
  return addresses;
}

using Addresses = std::vector<std::string>;

TEST_CASE("Loopback, container bridges, link-local addresses and what is down are never chosen by themselves") {
  REQUIRE(chosen("") == Addresses{"10.1.2.3", "192.168.7.3", "fd00:7::3", "10.200.0.1"});
  const auto choice = native::choose_interfaces(kMachine, "");
  REQUIRE(choice.eligible.size() + choice.refused.size() == kMachine.size());
  const std::string text = native::describe(choice);
  REQUIRE_THAT(text, Catch::Contains("docker0 172.17.0.1 (a bridge of containers)") &&
                         Catch::Contains("lo 127.0.0.1 (loopback)") && Catch::Contains("eth0 fe80::1 (link-local)") &&
                         Catch::Contains("eth3 10.9.0.3 (down)"));
}

TEST_CASE("comm.interface names interfaces, addresses or networks, and then alone counts") {
  REQUIRE(chosen("eth1") == Addresses{"192.168.7.3", "fd00:7::3"});
  REQUIRE(chosen("192.168.7.3") == Addresses{"192.168.7.3"});
  REQUIRE(chosen("10.0.0.0/8") == Addresses{"10.1.2.3", "10.200.0.1"});
  REQUIRE(chosen("eth1,veth-a") == Addresses{"192.168.7.3", "fd00:7::3", "10.200.0.1"});
  REQUIRE(chosen("lo") == Addresses{"127.0.0.1", "::1"});
  REQUIRE(chosen("eth3").empty());  // down
  REQUIRE(chosen("eth9").empty());
  REQUIRE_THAT(test::error_text<ConfigError>([] { chosen("10.0.0.0/x"); }), Catch::Contains("comm.interface"));
}

TEST_CASE("A peer's addresses in a network of ours are tried first") {
  const auto own = native::choose_interfaces(kMachine, "").eligible;
  REQUIRE(native::order_addresses(own, {"203.0.113.5", "fd00:7::9", "10.1.77.1", "192.168.7.200"}) ==
          Addresses{"192.168.7.200", "10.1.77.1", "fd00:7::9", "203.0.113.5"});
  REQUIRE(native::order_addresses({}, {"b::1", "10.0.0.1"}) == Addresses{"10.0.0.1", "b::1"});
}

TEST_CASE("Networks are compared bit by bit") {
  REQUIRE(native::is_same_network("10.1.2.3", "10.1.3.3", 23));
  REQUIRE_FALSE(native::is_same_network("10.1.2.3", "10.1.3.3", 24));
  REQUIRE(native::is_same_network("1.2.3.4", "200.2.3.4", 0));
  REQUIRE_FALSE(native::is_same_network("1.2.3.4", "fd00::1", 0));
  REQUIRE(native::is_same_network("fd00::1", "fd00::2", 126));
  REQUIRE_FALSE(native::is_same_network("fd00::1", "fd00::2", 127));
  REQUIRE_FALSE(native::is_same_network("no address", "1.2.3.4", 8));
}

TEST_CASE("This machine's own list has its loopback") {
  bool has_loopback = false;
  for (const Interface& one : native::list_interfaces()) {
    has_loopback |= one.is_loopback && one.is_up && one.address == "127.0.0.1" && one.prefix == 8;
  }
  REQUIRE(has_loopback);
}

}  // namespace
}  // namespace bertft
