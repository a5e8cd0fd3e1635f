#include "tests/unit/comm/communicator_world.h"

#include <algorithm>
#include <chrono>
#include <exception>
#include <memory>
#include <numeric>
#include <random>
#include <thread>

#include "comm/fusion_area.h"
#include "comm/native/native_transport.h"
#include "comm/negotiator.h"
#include "tests/support/rank_threads.h"
#include "tests/unit/comm/native/native_world.h"

namespace bertft::test {
namespace {

constexpr int64_t kFusionBytes = 4096;
constexpr uint64_t kJob = 4711;

World world_of(int rank, const std::vector<std::string>& nodes) { return make_world(rank, nodes, nodes); }

std::unique_ptr<Negotiator> negotiator_of(const CommunicatorCase& setup, const World& world, const Layout& layout,
                                          Transport& transport) {
  if (setup.sums == SumThread::kControl) {
    return make_coordinator_negotiator({kJob, world}, layout, {.fusion_bytes = kFusionBytes});
  }
  const SharedMemory words = transport.share_words(node_words_bytes(layout, world.local_size));
  if (world.local_rank == 0) format_node_words(words, layout, world.local_size);
  transport.barrier();
  return make_decentral_negotiator({kJob, world}, layout, words, setup.is_static);
}

}  // namespace

std::string CommunicatorCase::text() const {
  static const char* const kNames[] = {"lanes", "control thread", "compute thread"};
  std::string list;
  for (const std::string& node : nodes) list += node;
  return "nodes " + list + ", sums on " + kNames[static_cast<int>(sums)] + (is_static ? ", static" : "") + ", " +
         std::to_string(lanes) + " lane(s)";
}

std::vector<std::string> run_communicators(const CommunicatorCase& setup, const Layout& layout,
                                           const std::function<void(CommunicatorView&)>& body) {
  return run_ranks(static_cast<int>(setup.nodes.size()), [&](Bootstrap& bootstrap) {
    const World world = world_of(bootstrap.rank(), setup.nodes);
    NativeOptions options;
    options.node = setup.nodes[static_cast<size_t>(world.rank)];
    options.lanes = setup.lanes;
    options.interface = "lo";
    const bool is_horovod = setup.sums == SumThread::kControl;
    const int64_t area = is_horovod ? FusionArea::elements_for(layout, kFusionBytes) : 0;
    GradientBuffer gradients(layout.trainable_total + area, sizeof(float), GradientMemory::kShared);
    const auto non_finite = std::make_shared<NonFiniteLog>();
    options.on_non_finite = [non_finite](const NonFinite& found) { non_finite->add(found); };
    std::unique_ptr<Transport> transport = make_native_transport(bootstrap, options);
    std::unique_ptr<Negotiator> negotiator = negotiator_of(setup, world, layout, *transport);
    RankCommunicator communicator(std::make_shared<RankLink>(world, std::move(transport), WatchSettings{}, non_finite),
                                  std::move(negotiator), layout, gradients,
                                  {.sums = setup.sums, .fuses_by_copy = is_horovod});
    CommunicatorView view{communicator, gradients};
    try {
      body(view);
      communicator.close();
    } catch (const std::exception& error) {
      communicator.abort(error.what());
      throw;
    }
  });
}

Layout layout_of_units(int units) {
  std::vector<ParameterSpec> specs;
  for (int i = 0; i < units; ++i) {
    specs.push_back({.name = "p" + std::to_string(i), .shape = {64 + 37 * (i % 5)}});
  }
  return make_layout(specs, 64);
}

void run_step(CommunicatorView& view, const Layout& layout, int64_t step, uint64_t seed) {
  std::mt19937_64 random(seed);
  std::vector<int> order(layout.units.size());
  std::iota(order.begin(), order.end(), 0);
  std::shuffle(order.begin(), order.end(), random);
  view.communicator.step_begin(step);
  auto* gradients = static_cast<float*>(view.gradients.data());
  for (const int unit : order) {
    const LayoutUnit& range = layout.units[static_cast<size_t>(unit)];
    for (int64_t i = range.begin; i < range.end; ++i) gradients[i] = contribution(view.communicator.rank(), step, i);
    if (random() % 8 == 0) std::this_thread::sleep_for(std::chrono::microseconds(random() % 300));
    view.communicator.mark_ready(unit);
  }
  view.communicator.finish();
}

}  // namespace bertft::test
