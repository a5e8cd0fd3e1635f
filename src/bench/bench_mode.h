// The ways of exchanging gradients that a benchmark compares, as settings of the communicator.
#pragma once

#include <string>
#include <vector>

#include "comm/options.h"

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

}  // namespace bertft
