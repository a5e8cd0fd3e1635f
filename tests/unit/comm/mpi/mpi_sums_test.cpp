// Sums over processes that mpirun started: those of the canonical order, so of the native transport, bit by bit;
// ranges of any size on several lanes at once; flags; values that are no numbers; exact counts.
#include <cmath>
#include <cstring>
#include <limits>
#include <mutex>

#include "core/error.h"
#include "tests/support/errors.h"
#include "tests/support/test.h"
#include "tests/unit/comm/mpi/mpi_world.h"

namespace bertft {
namespace {

using test::mpi_bootstrap;
using test::mpi_worlds;
using test::WorldCase;

// The largest is more than one window, and no multiple of anything.
TEST_CASE("MPI: sums in fp32 are those of the canonical order, bit by bit, in every world") {
  for (const WorldCase& world : mpi_worlds()) {
    std::vector<int64_t> sizes = {1, 16, 1003, 150016};
    if (world.lanes == 1) sizes.push_back(1200003);
    for (const int64_t elements : sizes) {
      const int64_t unit = elements < 2000 ? 64 : elements < 200000 ? 70000 : elements;
      INFO(world.text() << ", " << elements << " elements");
      std::vector<float> sums(static_cast<size_t>(elements));
      test::run_mpi(world, elements, sizeof(float), [&](test::RankView& view) {
        for (const int64_t step : {1, 2}) {
          test::fill(view.buffer, view.transport.rank(), step);
          test::reduce_all(view.transport, elements, unit, {.step = step});
        }
        sums.assign(view.floats(), view.floats() + elements);
      });
      const std::vector<float> wanted = test::canonical_sum(world.nodes, elements, 2);
      REQUIRE(std::memcmp(sums.data(), wanted.data(), wanted.size() * sizeof(float)) == 0);
    }
  }
}

// More windows than are on their way at once, so that their buffers are used again; small integers are exact in any
// order and in every wire.
TEST_CASE("MPI: a range of many windows is summed in one job") {
  const int size = mpi_bootstrap().size();
  const int64_t elements = 6 * int64_t{4} * 65536 * size + 77;
  const auto value = [](int rank, int64_t i) { return static_cast<float>((i + rank * 7) % 64); };
  for (const WorldCase& world : mpi_worlds()) {
    if (world.lanes > 1) continue;
    INFO(world.text());
    test::run_mpi(world, elements, sizeof(float), [&](test::RankView& view) {
      auto* values = static_cast<float*>(view.buffer.data());
      for (const WireType wire : {WireType::kFp32, WireType::kFp16}) {
        for (int64_t i = 0; i < elements; ++i) values[i] = value(view.transport.rank(), i);
        view.transport.all_reduce(0, {.range = {0, elements}, .wire = wire});
        int64_t wrong = 0;
        for (int64_t i = 0; i < elements; ++i) {
          float wanted = 0.0f;
          for (int rank = 0; rank < size; ++rank) wanted += value(rank, i);
          wrong += view.floats()[i] == wanted ? 0 : 1;
        }
        REQUIRE(wrong == 0);
      }
    });
  }
}

TEST_CASE("MPI: sums in fp32 are those of the native transport, bit by bit") {
  constexpr int64_t kElements = 300001;
  for (const WorldCase& world : mpi_worlds()) {
    INFO(world.text());
    std::vector<float> sums, native;
    const auto sum_into = [&](std::vector<float>& result) {
      return [&](test::RankView& view) {
        test::fill(view.buffer, view.transport.rank(), 3);
        test::reduce_all(view.transport, kElements, 99008, {.step = 3});
        result.assign(view.floats(), view.floats() + kElements);
      };
    };
    test::run_mpi(world, kElements, sizeof(float), sum_into(sums));
    test::run_native(world, kElements, sum_into(native));
    REQUIRE(sums.size() == native.size());
    REQUIRE(std::memcmp(sums.data(), native.data(), sums.size() * sizeof(float)) == 0);
  }
}

TEST_CASE("MPI: doubles are summed as doubles") {
  for (const WorldCase& world : mpi_worlds()) {
    constexpr int64_t kElements = 70001;
    INFO(world.text());
    test::run_mpi(world, kElements, sizeof(double), [&](test::RankView& view) {
      test::fill(view.buffer, view.transport.rank(), 1);
      test::reduce_all(view.transport, kElements, 20000, {.step = 1});
      const auto* sums = static_cast<const double*>(view.sums);
      REQUIRE(test::is_equal_on_all(sums, kElements * sizeof(double)));
      for (int64_t i = 0; i < kElements; i += 777) {
        double wanted = 0.0;
        for (int rank = 0; rank < view.transport.size(); ++rank) wanted += test::contribution(rank, 1, i) * 1.0000001;
        REQUIRE(std::abs(sums[i] - wanted) <= 1e-15);
      }
    });
  }
}

// Rank r raises flag r, and one in the middle of the jobs.
TEST_CASE("MPI: every rank returns the OR of all flags of a job, also of an empty range, and nobody else's") {
  for (const WorldCase& world : mpi_worlds()) {
    INFO(world.text());
    test::run_mpi(world, 1000, sizeof(float), [&](test::RankView& view) {
      const int size = view.transport.size();
      const uint32_t all = (1u << size) - 1u;
      const uint32_t mine = 1u << view.transport.rank();
      for (const ElementRange range : {ElementRange{0, 0}, {16, 16}, {992, 1000}, {0, 1000}, {0, 1}}) {
        REQUIRE(view.transport.all_reduce(0, {.range = range, .flags = mine}) == all);
        REQUIRE(view.transport.all_reduce(0, {.range = range}) == 0);
        for (int raiser = 0; raiser < size; ++raiser) {
          const uint32_t flags = raiser == view.transport.rank() ? 0x80000000u : 0u;
          REQUIRE(view.transport.all_reduce(0, {.range = range, .flags = flags}) == 0x80000000u);
        }
      }
    });
  }
}

TEST_CASE("MPI: values that are no numbers are named with their rank, in the sums of every world") {
  constexpr int64_t kElements = 200000;
  for (const WorldCase& world : mpi_worlds()) {
    const int culprit = mpi_bootstrap().size() - 1;
    INFO(world.text());
    std::mutex mutex;
    std::vector<NonFinite> found;
    const auto keep = [&](const NonFinite& one) {
      const std::lock_guard lock(mutex);
      found.push_back(one);
    };
    const auto body = [&](test::RankView& view) {
      auto* values = static_cast<float*>(view.buffer.data());
      test::fill(view.buffer, view.transport.rank(), 1);
      if (view.transport.rank() == culprit) {
        values[5] = std::numeric_limits<float>::quiet_NaN();
        values[150000] = -std::numeric_limits<float>::infinity();
      }
      // A sum that overflows is nobody's fault.
      if (view.transport.size() > 1) values[70000] = 3e38f;
      test::reduce_all(view.transport, kElements, 80000, {.step = 7});
      REQUIRE(std::isnan(view.floats()[5]));
      REQUIRE(view.floats()[150000] == -std::numeric_limits<float>::infinity());
      REQUIRE(std::isfinite(view.floats()[6]));
      if (view.transport.size() > 1) REQUIRE(std::isinf(view.floats()[70000]));
    };
    test::run_mpi(world, kElements, sizeof(float), body, {}, keep);
    std::string told;
    for (const NonFinite& one : found) {
      REQUIRE(one.rank == culprit);
      REQUIRE(one.step == 7);
      REQUIRE(one.unit == (one.index < 80000 ? 0 : 1));
      REQUIRE(one.nan_count == (one.index == 5 ? 1 : 0));
      REQUIRE(one.inf_count == (one.index == 5 ? 0 : 1));
      REQUIRE(one.min < one.max);
      told += std::to_string(one.index) + " ";
    }
    // Whoever owns the slice tells it, once.
    std::string all;
    for (const std::string& one : mpi_bootstrap().all_gather(told)) all += one;
    REQUIRE((all == "5 150000 " || all == "150000 5 "));
  }
}

TEST_CASE("MPI: a sum hands 2 S (N - 1) / N bytes of data to MPI, and a header of 40 bytes for each peer") {
  constexpr int64_t kJob = 6 * 65536;  // divides evenly by 2, 3 and 4
  constexpr int64_t kElements = 2 * kJob;
  for (const int lanes : {1, 3}) {
    const int size = mpi_bootstrap().size();
    const WorldCase world{std::vector<std::string>(static_cast<size_t>(size), "a"), true, lanes};
    test::run_mpi(world, kElements, sizeof(float), [&](test::RankView& view) {
      test::fill(view.buffer, view.transport.rank(), 1);
      test::reduce_all(view.transport, kElements, kJob, {.step = 1});
      ChannelCounters total;
      for (const ChannelCounters& lane : view.transport.counters().lanes) {
        total.messages_sent += lane.messages_sent;
        total.payload_sent += lane.payload_sent;
        total.payload_received += lane.payload_received;
        total.header_sent += lane.header_sent;
      }
      CHECK(total.payload_sent == 2 * kElements * 4 * (size - 1) / size);
      CHECK(total.payload_received == total.payload_sent);
      CHECK(total.header_sent == int64_t{2} * 40 * (size - 1));
      const int64_t window = int64_t{4} * 65536 * size;
      const int64_t windows = ((kJob - 1) / window + 1) + ((kElements - 1) / window - kJob / window + 1);
      CHECK(total.messages_sent == (2 + 2 * windows) * (size - 1));
      CHECK(view.transport.counters().lanes.size() == static_cast<size_t>(lanes));
      CHECK(view.transport.counters().control.messages_sent == 0);
    });
  }
}

TEST_CASE("MPI: ranks that hand in different ranges are told so before anything is summed") {
  const int size = mpi_bootstrap().size();
  if (size == 1) return;
  test::run_mpi({std::vector<std::string>(static_cast<size_t>(size), "a")}, 256, sizeof(float),
                [&](test::RankView& view) {
                  const bool is_other = view.transport.rank() == size - 1;
                  const ReduceJob job{.range = {0, is_other ? 128 : 256}, .step = 4};
                  const std::string text = test::error_text<CommError>([&] { view.transport.all_reduce(0, job); });
                  CHECK_THAT(text, Catch::Contains("sums elements 0..") && Catch::Contains("(step 4, job 1)") &&
                                       Catch::Contains("same data"));
                  if (!is_other) CHECK_THAT(text, Catch::Contains("rank " + std::to_string(size - 1) + " (a)"));
                });
}

// Ranks take them in other batches, and the flags of a batch come together.
TEST_CASE("MPI: several jobs are on their way at once, with the bits of one after the other") {
  constexpr int64_t kUnit = 70000, kUnits = 40, kElements = kUnit * kUnits / 16 * 16;
  for (const WorldCase& world : mpi_worlds()) {
    INFO(world.text());
    test::run_mpi(world, kElements, sizeof(float), [&](test::RankView& view) {
      REQUIRE(view.transport.has_batches());
      for (const WireType wire : {WireType::kFp32, WireType::kFp16}) {
        std::vector<std::vector<float>> sums;
        for (const bool is_batched : {false, true}) {
          test::fill(view.buffer, view.transport.rank(), 1);
          const int64_t batch = is_batched ? 3 + 7 * view.transport.rank() : 1;
          uint32_t flags = 0;
          for (int64_t unit = 0; unit < kUnits; ++unit) {
            const int64_t begin = unit * kUnit / 16 * 16, end = (unit + 1) * kUnit / 16 * 16;
            const uint32_t mine = unit == kUnits / 2 ? 1u << view.transport.rank() : 0u;
            view.transport.post(0, {.range = {begin, end}, .wire = wire, .step = 1, .flags = mine});
            if (unit % batch == batch - 1) flags |= view.transport.wait_posted(0);
          }
          flags |= view.transport.wait_posted(0);
          REQUIRE(flags == (1u << view.transport.size()) - 1u);
          sums.emplace_back(view.floats(), view.floats() + kElements);
        }
        REQUIRE(std::memcmp(sums[0].data(), sums[1].data(), kElements * sizeof(float)) == 0);
      }
    });
  }
}

TEST_CASE("MPI: sums in between are not offered") {
  const auto size = static_cast<size_t>(mpi_bootstrap().size());
  test::run_mpi({std::vector<std::string>(size, "a")}, 64, sizeof(float), [](test::RankView& view) {
    CHECK_FALSE(view.transport.has_inline_sums());
    CHECK_THROWS_AS(view.transport.progress(0), InternalError);
    CHECK(view.transport.description().find("mpi: ") == 0);
    CHECK(view.transport.description().find("MPI v") != std::string::npos);
  });
}

}  // namespace
}  // namespace bertft
