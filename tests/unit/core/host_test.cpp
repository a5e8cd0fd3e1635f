// What tells hosts, boots and processes apart.
#include "core/host.h"

#include <unistd.h>

#include "tests/support/test.h"

namespace bertft {
namespace {

TEST_CASE("A host has a name, a boot an identity, a process a start, and each stays the same") {
  REQUIRE_FALSE(host_name().empty());
  REQUIRE(host_name() == host_name());
  REQUIRE(boot_id().size() == 36);
  REQUIRE(boot_id() == boot_id());
  REQUIRE_FALSE(start_of_process(::getpid()).empty());
  REQUIRE(start_of_process(::getpid()) == start_of_process(::getpid()));
  REQUIRE(start_of_process(1) != start_of_process(::getpid()));
}

TEST_CASE("A process that is not there has no start") { REQUIRE(start_of_process(int64_t{1} << 40).empty()); }

}  // namespace
}  // namespace bertft
