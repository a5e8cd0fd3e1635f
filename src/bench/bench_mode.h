// The ways of exchanging gradients that a benchmark compares, as settings of the communicator.
#pragma once

#include <string>
#include <vector>

#include "bench/payload.h"
#include "comm/options.h"
#include "core/layout.h"

namespace bertft {

struct BenchMode {
  std::string name;
  bool is_plain_mpi = false;  // MPI_Allreduce of the whole buffer; `options` mean nothing
  CommOptions options;
};

// horovod-uncached, horovod-cached, aiacc-bitvector, aiacc-static, and mpi-allreduce where the build has MPI.
std::vector<std::string> bench_mode_names();

// `base`: transport, wire, lanes and so on, for all modes alike; a wire other than auto goes for mode horovod as well,
// and `hierarchical` other than auto, too. Throws ConfigError naming --modes or --wire.
std::vector<BenchMode> bench_modes(const std::vector<std::string>& names, const CommOptions& base);

// The payload cut into units as training cuts its gradients in this mode. One unit a tensor for MPI_Allreduce, which
// takes all of them at once.
Layout layout_of(const BenchMode& mode, const Payload& payload);

}  // namespace bertft
