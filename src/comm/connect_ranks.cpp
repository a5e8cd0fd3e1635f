#include "comm/connect_ranks.h"

#include <unistd.h>

#include <algorithm>
#include <utility>

#include "comm/launcher.h"
#include "comm/mpi/mpi_transport.h"
#include "comm/native/native_transport.h"
#include "core/error.h"
#include "core/log.h"

namespace bertft {
namespace {

// The main thread may be in the middle of anything, so nothing is unwound and MPI is not called.
void end_process(const std::string& cause) {
  log::error_of_rank(cause);
  ::_exit(static_cast<int>(ExitCode::kComm));
}

// Both transports take the same settings.
template <typename TransportOptions>
TransportOptions transport_options(const CommOptions& options, const std::shared_ptr<NonFiniteLog>& non_finite) {
  const bool is_horovod = options.mode == "horovod";
  TransportOptions result;
  result.on_non_finite = [non_finite](const NonFinite& found) { non_finite->add(found); };
  result.interface = options.interface;
  result.port_base = static_cast<int>(options.port_base);
  result.lanes = is_horovod ? 1 : static_cast<int>(options.lanes.value_or(1));
  result.is_hierarchical = is_horovod ? options.horovod.hierarchical : options.hierarchical != "false";
  result.connect_warn_s = options.stall_warn_s;
  if (options.stall_abort_s > 0.0) result.connect_timeout_s = std::min(result.connect_timeout_s, options.stall_abort_s);
  return result;
}

std::unique_ptr<Transport> connected_transport(const CommOptions& options, Bootstrap& bootstrap,
                                               const std::shared_ptr<NonFiniteLog>& non_finite) {
  if (options.transport == "mpi") {
    auto mpi = transport_options<MpiOptions>(options, non_finite);
    mpi.end_process = end_process;
    return connect_mpi_transport(bootstrap, mpi);
  }
  return connect_native_transport(bootstrap, transport_options<NativeOptions>(options, non_finite));
}

}  // namespace

void require_transport_can_work(const CommOptions& options, const World& world) {
  if (options.transport != "mpi") return;
  if (!is_launched()) {
    throw ConfigError(
        "comm.transport: mpi needs processes that mpirun or srun starts, and this one was started alone. Start it with "
        "mpirun (-np 1 will do), or set comm.transport: auto");
  }
  if (world.size > 1) require_mpi_can_work();
}

WatchSettings watch_settings(const CommOptions& options) {
  return {.stall = {options.stall_warn_s, options.stall_abort_s}, .end_process = end_process};
}

std::shared_ptr<RankLink> connect_ranks(const CommOptions& options, const World& world, Bootstrap& bootstrap) {
  if (world.size == 1 || options.transport == "nccl") return nullptr;
  const auto non_finite = std::make_shared<NonFiniteLog>();
  auto link = std::make_shared<RankLink>(world, connected_transport(options, bootstrap, non_finite),
                                         watch_settings(options), non_finite);
  try {
    link->open();
  } catch (const std::exception& failure) {
    link->abort(failure.what());
    throw;
  }
  return link;
}

}  // namespace bertft
