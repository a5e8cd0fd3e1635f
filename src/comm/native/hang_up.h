// The end of a control connection that no control plane reads yet: what it means, and how a rank that fails then tells
// its peers. The rules are those of comm/peer_watch.h.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "comm/native/fd.h"

namespace bertft::native {

// "rank 3 (b) is gone: ...": the complete cause for a connection that ended without a good-bye.
std::string gone_cause(const std::string& name);

// Nothing while the peer holds its end. Else the cause that it sent before, or that it is gone. Takes nothing from the
// socket.
std::optional<std::string> cause_of_end(const Fd& socket, uint64_t job, const std::string& name);

// Sends the cause, as the control plane does; the peer reads it before the end of the connection.
void send_abort(const Fd& socket, uint64_t job, const std::string& cause);

}  // namespace bertft::native
