// Through which network interfaces other nodes are reached: which are eligible, in which order a peer's addresses are
// tried. Choosing is pure, over a given list; list_interfaces() asks the system.
#pragma once

#include <string>
#include <vector>

namespace bertft::native {

// One address of one interface.
struct Interface {
  std::string name;     // "eth0"
  std::string address;  // "10.0.0.7" or "fd00::7", without a zone
  int prefix = 32;      // bits of the address that name its network
  bool is_up = true;
  bool is_loopback = false;
  auto operator<=>(const Interface&) const = default;
};

std::vector<Interface> list_interfaces();

struct Refused {
  Interface interface;
  std::string reason;
};

struct InterfaceChoice {
  std::vector<Interface> eligible;
  std::vector<Refused> refused;
};

// `wanted`: "" for any that is up, no loopback, of no container bridge and not link-local (169.254/16, fe80::/10); or a
// comma-separated list of interface names, addresses and networks (10.1.0.0/16), which then is all that counts.
InterfaceChoice choose_interfaces(const std::vector<Interface>& all, const std::string& wanted);

// True when both are of one family and equal in the first `prefix` bits.
bool is_same_network(const std::string& a, const std::string& b, int prefix);

// A peer's addresses in the order in which they are tried: those in a network of one of our interfaces first, the
// longest common network first of all; IPv4 before IPv6; otherwise as given.
std::vector<std::string> order_addresses(const std::vector<Interface>& own, const std::vector<std::string>& peer);

// "eth0 10.0.0.7, 10000 Mb/s"; without the speed where the system names none.
std::string describe(const Interface& interface);
std::string describe(const InterfaceChoice& choice);  // one line: what is eligible, and why the others are not

}  // namespace bertft::native
