// Which machine this is and which process: names that tell two hosts, two boots and two processes apart.
#pragma once

#include <cstdint>
#include <string>

namespace bertft {

// The name of this host; "unknown" when the system does not tell.
std::string host_name();

// Changes with every start of this machine; "" where there is no such thing.
std::string boot_id();

// When the process was started, in ticks since boot; "" when there is none of that number. Tells it from a later one
// that got the same number.
std::string start_of_process(int64_t pid);

}  // namespace bertft
