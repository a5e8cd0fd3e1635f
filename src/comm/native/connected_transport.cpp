#include "comm/native/connected_transport.h"

#include <fmt/format.h>

#include <utility>

namespace bertft::native {

ConnectedTransport::ConnectedTransport(Mesh mesh)
    : mesh_(std::move(mesh)),
      control_(std::make_unique<ControlPlane>(mesh_.topology, mesh_.secret.job, std::move(mesh_.control), failure_)) {}

void ConnectedTransport::abort(const std::string& cause) noexcept {
  try {
    control_->abort(fmt::format("{}: {}", topology().name_of(rank()), cause));
  } catch (...) {  // no memory for a better text
    control_->abort(cause);
  }
}

TransportCounters ConnectedTransport::common_counters() const {
  TransportCounters result;
  result.collectives = collective_meter_.counters();
  result.control = control_->counters();
  result.closed_strangers = mesh_.closed_strangers;
  return result;
}

std::vector<TransportWait> ConnectedTransport::waits_of(const std::vector<const WaitRecord*>& lanes) const {
  std::vector<TransportWait> result;
  for (const WaitRecord* lane : lanes) {
    if (auto wait = lane->get()) result.push_back(std::move(*wait));
  }
  if (auto wait = collective_record_.get()) result.push_back(std::move(*wait));
  return result;
}

}  // namespace bertft::native
