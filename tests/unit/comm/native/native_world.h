// A world of native transports on threads, for the tests: ranks on "nodes" that are names only, so several of them live
// on this machine and talk over loopback; contributions that differ in every bit; the sums that have to come out.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "comm/native/native_transport.h"
#include "core/layout.h"

namespace bertft::test {

struct WorldCase {
  std::vector<std::string> nodes;  // of each rank
  bool is_hierarchical = true;
  int lanes = 1;
  std::string text() const;
};

// What one rank sees.
struct RankView {
  Transport& transport;
  GradientBuffer& buffer;
  const void* sums;
  const float* floats() const { return static_cast<const float*>(sums); }
};

// Runs body() on every rank with a buffer attached, then closes. Errors by rank, "" for none.
std::vector<std::string> run_world(const WorldCase& world, int64_t elements, size_t element_bytes,
                                   const std::function<void(RankView&)>& body, const WireMap& map = {});

// The same with floats and options of one's own.
std::vector<std::string> run_world_with_options(const WorldCase& world, int64_t elements,
                                                const std::function<void(NativeOptions&)>& change,
                                                const std::function<void(RankView&)>& body);

// Calls transport.all_reduce for units of about `unit` elements, unit i on lane i % lanes, each lane on a thread.
// Returns the OR of what they returned.
uint32_t reduce_all(Transport& transport, int64_t elements, int64_t unit, ReduceJob job);

// Element i of rank r in a step: many sizes, both signs, no two alike.
float contribution(int rank, int64_t step, int64_t i);
void fill(GradientBuffer& buffer, int rank, int64_t step);

// The sum in canonical order, fp32: the ranks of each node in turn, then the nodes.
std::vector<float> canonical_sum(const std::vector<std::string>& nodes, int64_t elements, int64_t step);

// Worlds of one to three nodes, with equal and unequal numbers of ranks, also interleaved.
std::vector<std::vector<std::string>> node_lists();

}  // namespace bertft::test
