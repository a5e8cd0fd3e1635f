#define CATCH_CONFIG_EXTERNAL_INTERFACES  // for the listener
#include "tests/unit/comm/mpi/mpi_world.h"

#include <algorithm>
#include <exception>
#include <memory>

#include "comm/launcher.h"
#include "comm/mpi/mpi_bootstrap.h"
#include "core/hash.h"
#include "tests/support/test.h"

namespace bertft::test {
namespace {

std::unique_ptr<MpiBootstrap> the_bootstrap;

// Starts MPI before the first case. After a fault MPI is not ended: mpirun takes that for a failure, and ends the rest.
class MpiListener final : public Catch::TestEventListenerBase {
 public:
  using TestEventListenerBase::TestEventListenerBase;
  void testRunStarting(const Catch::TestRunInfo&) override {
    the_bootstrap = MpiBootstrap::start(launched_world().size);
  }
  void testRunEnded(const Catch::TestRunStats& stats) override {
    if (stats.totals.assertions.allOk()) the_bootstrap->finish();
  }
};
CATCH_REGISTER_LISTENER(MpiListener)

void run(Transport& transport, int64_t elements, size_t element_bytes, const std::function<void(RankView&)>& body,
         const WireMap& map) {
  GradientBuffer buffer(elements, element_bytes, GradientMemory::kShared);
  try {
    RankView view{transport, buffer, transport.attach(buffer, map)};
    body(view);
    transport.close();
  } catch (const std::exception& error) {
    transport.abort(error.what());
    throw;
  }
}

template <typename Options>
Options options_of(const WorldCase& world) {
  Options options;
  options.node = world.nodes[static_cast<size_t>(mpi_bootstrap().rank())];
  options.lanes = world.lanes;
  options.is_hierarchical = world.is_hierarchical;
  options.interface = "lo";
  options.wait_limit_s = 60.0;
  return options;
}

}  // namespace

Bootstrap& mpi_bootstrap() { return *the_bootstrap; }

std::vector<std::vector<std::string>> mpi_node_lists() {
  const std::vector<std::vector<std::string>> all = {{"a"},
                                                     {"a", "a"},
                                                     {"a", "b"},
                                                     {"a", "a", "a"},
                                                     {"a", "b", "b"},
                                                     {"a", "b", "c"},
                                                     {"a", "a", "a", "a"},
                                                     {"a", "a", "b", "b"},
                                                     {"a", "b", "a", "b"},
                                                     {"b", "a", "a", "a"},
                                                     {"a", "b", "c", "d"}};
  std::vector<std::vector<std::string>> result;
  std::copy_if(all.begin(), all.end(), std::back_inserter(result),
               [](const auto& nodes) { return static_cast<int>(nodes.size()) == mpi_bootstrap().size(); });
  return result;
}

std::vector<WorldCase> mpi_worlds() {
  std::vector<WorldCase> result;
  for (const auto& nodes : mpi_node_lists()) {
    for (const bool is_hierarchical : {true, false}) {
      for (const int lanes : {1, 3}) result.push_back({nodes, is_hierarchical, lanes});
    }
  }
  return result;
}

void run_mpi(const WorldCase& world, int64_t elements, size_t element_bytes, const std::function<void(RankView&)>& body,
             const WireMap& map, const std::function<void(const NonFinite&)>& on_non_finite) {
  auto options = options_of<MpiOptions>(world);
  options.on_non_finite = on_non_finite;
  run(*make_mpi_transport(mpi_bootstrap(), options), elements, element_bytes, body, map);
}

void run_native(const WorldCase& world, int64_t elements, const std::function<void(RankView&)>& body) {
  run(*make_native_transport(mpi_bootstrap(), options_of<NativeOptions>(world)), elements, sizeof(float), body, {});
}

bool is_equal_on_all(const void* data, size_t bytes) {
  const std::string mine = hash_text(hash64(std::string_view(static_cast<const char*>(data), bytes)));
  const std::vector<std::string> all = mpi_bootstrap().all_gather(mine);
  return std::count(all.begin(), all.end(), mine) == static_cast<std::ptrdiff_t>(all.size());
}

}  // namespace bertft::test
