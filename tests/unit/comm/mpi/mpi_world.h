// A world of MPI for the tests: this process is one of several that mpirun started, and every case runs on all of them.
// "Nodes" are names only, so several of them live on this machine.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "comm/mpi/mpi_transport.h"
#include "tests/unit/comm/native/native_world.h"

namespace bertft::test {

// That of this process.
Bootstrap& mpi_bootstrap();

// Worlds with as many ranks as mpirun has started: one node, several with equal and unequal numbers of ranks.
std::vector<std::vector<std::string>> mpi_node_lists();
// Those, with one and three lanes, hierarchical and flat.
std::vector<WorldCase> mpi_worlds();

// Makes a transport, runs body() with a buffer attached, and closes. Collective. A rank that fails takes the others
// with it, so that nobody hangs.
void run_mpi(const WorldCase& world, int64_t elements, size_t element_bytes, const std::function<void(RankView&)>& body,
             const WireMap& map = {}, const std::function<void(const NonFinite&)>& on_non_finite = {});

// The same over the native transport, between the same processes.
void run_native(const WorldCase& world, int64_t elements, const std::function<void(RankView&)>& body);

// Whether all ranks give the same bytes. Collective.
bool is_equal_on_all(const void* data, size_t bytes);

}  // namespace bertft::test
