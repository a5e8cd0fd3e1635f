#include "tests/unit/comm/nccl/nccl_world.h"

#include <algorithm>
#include <atomic>
#include <exception>
#include <thread>

#include "core/layout.h"
#include "tests/support/rank_threads.h"

namespace bertft::test {

std::string NcclCase::text() const {
  std::string list;
  for (const std::string& node : nodes) {
    list += node;
  }
  return "nodes " + list + (is_hierarchical ? ", hierarchical, " : ", flat, ") + std::to_string(lanes) + " lane(s)";
}

FakeCluster healthy_cluster(const NcclCase& world, int most_delay_us) {
  FakeTrouble trouble;
  trouble.most_delay_us = most_delay_us;
  return FakeCluster(std::vector<FakeTrouble>(world.nodes.size(), trouble));
}

std::vector<std::string> run_nccl(FakeCluster& cluster, const NcclCase& world, int64_t elements,
                                  const std::function<void(NcclView&)>& body, const WireMap& map,
                                  const std::function<void(NcclOptions&)>& change) {
  return run_ranks(static_cast<int>(world.nodes.size()), [&](Bootstrap& bootstrap) {
    const int rank = bootstrap.rank();
    NcclOptions options;
    options.control.node = world.nodes[static_cast<size_t>(rank)];
    options.control.interface = "lo";
    options.lanes = world.lanes;
    options.is_hierarchical = world.is_hierarchical;
    options.units = world.units;
    options.has_16_bit_wire = world.has_16_bit_wire;
    if (change) change(options);
    const auto functions = cluster.functions(rank);
    const std::shared_ptr<void> memory(functions->allocate_device(static_cast<size_t>(elements) * sizeof(float)),
                                       [functions](void* what) { functions->free_device(what); });
    const GradientBuffer buffer(memory, elements, sizeof(float));
    const auto transport = make_nccl_transport(bootstrap, functions, options);
    try {
      transport->attach(buffer, map);
      NcclView view{*transport, static_cast<float*>(buffer.data()), elements, cluster};
      body(view);
      transport->close();
    } catch (const std::exception& error) {
      transport->abort(error.what());
      throw;
    }
  });
}

uint32_t sum_step(NcclView& view, const NcclCase& world, ReduceJob job) {
  return sum_step(view, world, job, [](ReduceJob&) {});
}

uint32_t sum_step(NcclView& view, const NcclCase& world, ReduceJob job, const std::function<void(ReduceJob&)>& change) {
  const int64_t each = (view.elements / world.units + kAlignmentElements - 1) / kAlignmentElements * kAlignmentElements;
  std::atomic<uint32_t> word{0};
  std::vector<std::exception_ptr> errors(static_cast<size_t>(world.lanes));
  std::vector<std::thread> threads;
  for (int lane = 0; lane < world.lanes; ++lane) {
    threads.emplace_back([&, lane] {
      try {
        for (int unit = lane; unit < world.units; unit += world.lanes) {
          ReduceJob one = job;
          one.unit = unit;
          one.order = job.step * world.units + unit;
          one.is_last = unit == world.units - 1;
          one.range = {std::min(unit * each, view.elements), std::min((unit + 1) * each, view.elements)};
          if (one.is_last) one.range.end = view.elements;
          change(one);
          // Lanes of different ranks come in different orders.
          const int place = (lane * 7 + view.transport.rank() * 3) % 5;
          std::this_thread::sleep_for(std::chrono::microseconds(place * 100));
          word |= view.transport.all_reduce(lane, one);
        }
      } catch (...) {
        errors[static_cast<size_t>(lane)] = std::current_exception();
      }
    });
  }
  for (std::thread& thread : threads) {
    thread.join();
  }
  for (const std::exception_ptr& error : errors) {
    if (error) std::rethrow_exception(error);
  }
  return word;
}

}  // namespace bertft::test
