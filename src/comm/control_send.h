// A small message that a controller wants sent; whoever drives the controller hands it to a transport.
#pragma once

#include <string>

namespace bertft {

struct ControlSend {
  int to = 0;  // the receiver's number among those that the controller speaks to (ranks, or leaders of nodes)
  std::string bytes;
};

}  // namespace bertft
