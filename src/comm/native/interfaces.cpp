#include "comm/native/interfaces.h"

#include <arpa/inet.h>
#include <fmt/format.h>
#include <ifaddrs.h>
#include <net/if.h>
#include <netinet/in.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>
#include <fstream>
#include <memory>
#include <optional>

#include "core/error.h"

namespace bertft::native {
namespace {

struct AddressBytes {
  std::array<unsigned char, 16> bytes = {};
  size_t count = 0;  // 4 or 16
};

std::optional<AddressBytes> parse_address(const std::string& text) {
  AddressBytes result;
  if (::inet_pton(AF_INET, text.c_str(), result.bytes.data()) == 1) {
    result.count = 4;
  } else if (::inet_pton(AF_INET6, text.c_str(), result.bytes.data()) == 1) {
    result.count = 16;
  } else {
    return std::nullopt;
  }
  return result;
}

bool is_link_local(const std::string& address) {
  return is_same_network(address, "169.254.0.0", 16) || is_same_network(address, "fe80::", 10);
}

// Bridges that container systems make: their addresses are the same on every node.
bool is_container_bridge(const std::string& name) {
  for (const char* prefix : {"docker", "br-", "virbr", "podman", "cni", "lxcbr", "flannel", "cali"}) {
    if (name.starts_with(prefix)) return true;
  }
  return false;
}

std::vector<std::string> split(const std::string& list) {
  std::vector<std::string> parts;
  for (size_t begin = 0; begin <= list.size();) {
    const size_t end = std::min(list.find(',', begin), list.size());
    if (end > begin) parts.push_back(list.substr(begin, end - begin));
    begin = end + 1;
  }
  return parts;
}

bool is_wanted(const Interface& one, const std::string& wanted) {
  for (const std::string& part : split(wanted)) {
    const size_t slash = part.find('/');
    if (slash != std::string::npos && parse_address(part.substr(0, slash))) {
      const std::string bits = part.substr(slash + 1);
      const bool is_number =
          !bits.empty() && bits.size() <= 3 && bits.find_first_not_of("0123456789") == std::string::npos;
      if (!is_number) {
        throw ConfigError(fmt::format("comm.interface: '{}' is no network; write it like 10.1.0.0/16", part));
      }
      if (is_same_network(one.address, part.substr(0, slash), std::stoi(bits))) return true;
    } else if (part == one.name || part == one.address) {
      return true;
    }
  }
  return false;
}

std::string reason_against(const Interface& one, const std::string& wanted) {
  if (!one.is_up) return "down";
  if (!wanted.empty()) return is_wanted(one, wanted) ? "" : "not what comm.interface names";
  if (one.is_loopback) return "loopback";
  if (is_container_bridge(one.name)) return "a bridge of containers";
  if (is_link_local(one.address)) return "link-local";
  return "";
}

}  // namespace

bool is_same_network(const std::string& a, const std::string& b, int prefix) {
  const auto left = parse_address(a), right = parse_address(b);
  if (!left || !right || left->count != right->count) return false;
  for (size_t i = 0; i < left->count; ++i) {
    const int bits = std::clamp(prefix - static_cast<int>(8 * i), 0, 8);
    const unsigned mask = bits == 0 ? 0u : 0xffu << (8 - bits) & 0xffu;
    if (((left->bytes[i] ^ right->bytes[i]) & mask) != 0) return false;
  }
  return true;
}

std::vector<Interface> list_interfaces() {
  ifaddrs* list = nullptr;
  if (::getifaddrs(&list) != 0) throw CommError("the network interfaces of this machine cannot be listed");
  const std::unique_ptr<ifaddrs, decltype(&::freeifaddrs)> owner(list, ::freeifaddrs);
  std::vector<Interface> result;
  for (const ifaddrs* one = list; one != nullptr; one = one->ifa_next) {
    if (one->ifa_addr == nullptr || one->ifa_netmask == nullptr) continue;
    const int family = one->ifa_addr->sa_family;
    if (family != AF_INET && family != AF_INET6) continue;
    const auto bytes_of = [family](const sockaddr* address) -> const unsigned char* {
      const auto* raw = reinterpret_cast<const unsigned char*>(address);
      return raw + (family == AF_INET ? offsetof(sockaddr_in, sin_addr) : offsetof(sockaddr_in6, sin6_addr));
    };
    char text[INET6_ADDRSTRLEN] = {};
    ::inet_ntop(family, bytes_of(one->ifa_addr), text, sizeof text);
    Interface found;
    found.name = one->ifa_name;
    found.address = text;
    found.prefix = 0;
    for (int i = 0; i < (family == AF_INET ? 4 : 16); ++i) {
      found.prefix += std::popcount(bytes_of(one->ifa_netmask)[i]);
    }
    found.is_up = (one->ifa_flags & IFF_UP) != 0;
    found.is_loopback = (one->ifa_flags & IFF_LOOPBACK) != 0;
    result.push_back(found);
  }
  return result;
}

InterfaceChoice choose_interfaces(const std::vector<Interface>& all, const std::string& wanted) {
  InterfaceChoice choice;
  for (const Interface& one : all) {
    const std::string reason = reason_against(one, wanted);
    if (reason.empty()) {
      choice.eligible.push_back(one);
    } else {
      choice.refused.push_back({one, reason});
    }
  }
  return choice;
}

std::vector<std::string> order_addresses(const std::vector<Interface>& own, const std::vector<std::string>& peer) {
  const auto rank_of = [&](const std::string& address) {
    int longest = -1;
    for (const Interface& one : own) {
      if (is_same_network(one.address, address, one.prefix)) longest = std::max(longest, one.prefix);
    }
    const bool is_v6 = address.find(':') != std::string::npos;
    // Networks of IPv6 have longer prefixes: family first.
    return std::pair(longest < 0, std::pair(is_v6, -longest));
  };
  std::vector<std::string> result = peer;
  std::stable_sort(result.begin(), result.end(),
                   [&](const std::string& a, const std::string& b) { return rank_of(a) < rank_of(b); });
  return result;
}

std::string describe(const Interface& interface) {
  std::ifstream file("/sys/class/net/" + interface.name + "/speed");
  int speed = 0;
  const bool is_known = static_cast<bool>(file >> speed) && speed > 0;
  return fmt::format("{} {}{}", interface.name, interface.address, is_known ? fmt::format(", {} Mb/s", speed) : "");
}

std::string describe(const InterfaceChoice& choice) {
  std::string text;
  for (const Interface& one : choice.eligible) {
    text += (text.empty() ? "" : "; ") + describe(one);
  }
  if (text.empty()) text = "none";
  for (const Refused& one : choice.refused) {
    text += fmt::format("; not {} {} ({})", one.interface.name, one.interface.address, one.reason);
  }
  return text;
}

}  // namespace bertft::native
