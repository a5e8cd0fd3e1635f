// A world of nccl transports on threads, each with a table of the fake and a buffer in its "device memory".
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "comm/nccl/nccl_transport.h"
#include "tests/unit/comm/nccl/fake_nccl.h"

namespace bertft::test {

struct NcclCase {
  std::vector<std::string> nodes;  // of each rank
  bool is_hierarchical = true;
  int lanes = 1;
  int units = 8;
  bool has_16_bit_wire = true;
  std::string text() const;
};

struct NcclView {
  Transport& transport;
  float* values;  // the gradients, and where sums stand
  int64_t elements;
  FakeCluster& cluster;
};

// Runs body() on every rank, then closes and gives everything back. Errors by rank, "" for none.
std::vector<std::string> run_nccl(FakeCluster& cluster, const NcclCase& world, int64_t elements,
                                  const std::function<void(NcclView&)>& body, const WireMap& map = {},
                                  const std::function<void(NcclOptions&)>& change = {});

// A healthy cluster for `world`, whose streams and calls are up to so late.
FakeCluster healthy_cluster(const NcclCase& world, int most_delay_us);

// One step: unit u of `units` equal ones on lane u % lanes, each lane on a thread of its own, as the communicator does
// it; `order` goes on from step to step. Every rank hands its lanes' jobs in at other times. Returns the last word.
uint32_t sum_step(NcclView& view, const NcclCase& world, ReduceJob job);

// The same with flags of the last unit, and so on: changes each job before it is handed in.
uint32_t sum_step(NcclView& view, const NcclCase& world, ReduceJob job, const std::function<void(ReduceJob&)>& change);

}  // namespace bertft::test
