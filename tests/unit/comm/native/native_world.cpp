#include "tests/unit/comm/native/native_world.h"

#include <atomic>
#include <cmath>
#include <exception>
#include <thread>

#include "comm/native/topology.h"
#include "core/error.h"
#include "tests/support/rank_threads.h"

namespace bertft::test {

std::string WorldCase::text() const {
  std::string list;
  for (const std::string& node : nodes) {
    list += node;
  }
  return "nodes " + list + (is_hierarchical ? ", hierarchical, " : ", flat, ") + std::to_string(lanes) + " lane(s)";
}

namespace {

std::vector<std::string> run(const WorldCase& world, int64_t elements, size_t element_bytes,
                             const std::function<void(NativeOptions&)>& change,
                             const std::function<void(RankView&)>& body, const WireMap& map) {
  return run_ranks(static_cast<int>(world.nodes.size()), [&](Bootstrap& bootstrap) {
    NativeOptions options;
    options.node = world.nodes[static_cast<size_t>(bootstrap.rank())];
    options.lanes = world.lanes;
    options.is_hierarchical = world.is_hierarchical;
    options.interface = "lo";
    options.wait_limit_s = 60.0;
    change(options);
    GradientBuffer buffer(elements, element_bytes, GradientMemory::kShared);
    const auto transport = make_native_transport(bootstrap, options);
    try {
      RankView view{*transport, buffer, transport->attach(buffer, map)};
      body(view);
      transport->close();
    } catch (const std::exception& error) {
      transport->abort(error.what());
      throw;
    }
  });
}

}  // namespace

std::vector<std::string> run_world(const WorldCase& world, int64_t elements, size_t element_bytes,
                                   const std::function<void(RankView&)>& body, const WireMap& map) {
  return run(
      world, elements, element_bytes, [](NativeOptions&) {}, body, map);
}

std::vector<std::string> run_world_with_options(const WorldCase& world, int64_t elements,
                                                const std::function<void(NativeOptions&)>& change,
                                                const std::function<void(RankView&)>& body) {
  return run(world, elements, sizeof(float), change, body, {});
}

uint32_t reduce_all(Transport& transport, int64_t elements, int64_t unit, ReduceJob job) {
  std::atomic<uint32_t> flags{0};
  std::vector<std::exception_ptr> errors(static_cast<size_t>(transport.lanes()));
  const auto run_lane = [&](int lane) {
    try {
      ReduceJob one = job;
      for (int64_t begin = 0, i = 0; begin < elements; begin += unit, ++i) {
        if (i % transport.lanes() != lane) continue;
        one.range = {begin, std::min(begin + unit, elements)};
        one.unit = static_cast<int>(i);
        flags |= transport.all_reduce(lane, one);
      }
    } catch (...) {
      errors[static_cast<size_t>(lane)] = std::current_exception();
    }
  };
  std::vector<std::thread> threads;
  for (int lane = 1; lane < transport.lanes(); ++lane) {
    threads.emplace_back(run_lane, lane);
  }
  run_lane(0);
  for (std::thread& thread : threads) {
    thread.join();
  }
  for (const std::exception_ptr& error : errors) {
    if (error) std::rethrow_exception(error);
  }
  return flags;
}

float contribution(int rank, int64_t step, int64_t i) {
  auto bits = static_cast<uint64_t>(i) * 0x9e3779b97f4a7c15u + static_cast<uint64_t>(rank) * 0xbf58476d1ce4e5b9u +
              static_cast<uint64_t>(step) * 0x94d049bb133111ebu;
  bits ^= bits >> 29;
  bits *= 0xbf58476d1ce4e5b9u;
  bits ^= bits >> 32;
  const double size = std::ldexp(static_cast<double>(bits & 0xffffff) + 1.0, -24 - static_cast<int>(bits >> 24 & 15));
  return static_cast<float>((bits >> 40 & 1) != 0 ? -size : size);
}

void fill(GradientBuffer& buffer, int rank, int64_t step) {
  const auto count = static_cast<int64_t>(buffer.bytes() / buffer.element_bytes());
  for (int64_t i = 0; i < count; ++i) {
    if (buffer.element_bytes() == sizeof(float)) {
      static_cast<float*>(buffer.data())[i] = contribution(rank, step, i);
    } else {
      static_cast<double*>(buffer.data())[i] = contribution(rank, step, i) * 1.0000001;
    }
  }
}

std::vector<float> canonical_sum(const std::vector<std::string>& nodes, int64_t elements, int64_t step) {
  const native::Topology topology = native::make_topology(0, nodes);
  std::vector<float> total(static_cast<size_t>(elements));
  for (int64_t i = 0; i < elements; ++i) {
    float sum = 0.0f;
    for (size_t node = 0; node < topology.members.size(); ++node) {
      float of_node = 0.0f;
      for (const int rank : topology.members[node]) {
        const float value = contribution(rank, step, i);
        of_node = rank == topology.members[node].front() ? value : of_node + value;
      }
      sum = node == 0 ? of_node : sum + of_node;
    }
    total[static_cast<size_t>(i)] = sum;
  }
  return total;
}

std::vector<std::vector<std::string>> node_lists() {
  return {{"a"},
          {"a", "a"},
          {"a", "a", "a"},
          {"a", "a", "a", "a"},
          {"a", "b"},
          {"a", "a", "b", "b"},
          {"a", "b", "a", "b"},
          {"a", "b", "b"},
          {"b", "a", "a", "b", "b"},
          {"a", "b", "c"},
          {"a", "a", "a", "b", "b", "b"},
          {"a", "a", "b", "c", "c", "c"}};
}

}  // namespace bertft::test
