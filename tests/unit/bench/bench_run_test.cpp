// Benchmarks of several ranks as threads: all modes of the communicator, right sums, and sums that somebody spoilt.
#include "bench/bench_run.h"

#include <mutex>
#include <set>

#include "core/error.h"
#include "tests/support/rank_threads.h"
#include "tests/support/test.h"

namespace bertft {
namespace {

// Units of 16 Ki elements.
CommOptions small_units() {
  CommOptions options;
  options.unit_mb = 0.0625;
  return options;
}

const std::vector<std::string> kModes = {"horovod-uncached", "horovod-cached", "aiacc-bitvector", "aiacc-static"};

// Changes one element of the sums of a step, on this rank alone.
class SpoiltExchange final : public Exchange {
 public:
  SpoiltExchange(std::unique_ptr<Exchange> inner, const GradientBuffer& gradients, int64_t step, int64_t element)
      : inner_(std::move(inner)), values_(static_cast<float*>(gradients.data())), step_(step), element_(element) {}

  std::string description() const override { return inner_->description(); }
  bool has_counts() const override { return inner_->has_counts(); }
  Counters counters() const override { return inner_->counters(); }
  void barrier() override { inner_->barrier(); }
  void step_begin(int64_t step) override {
    now_ = step;
    inner_->step_begin(step);
  }
  void mark_ready(int unit) override { inner_->mark_ready(unit); }
  void finish() override {
    inner_->finish();
    if (now_ == step_) values_[element_] += 1.0f;
  }
  const float* sums() const override { return inner_->sums(); }
  void abort(const std::string& cause) noexcept override { inner_->abort(cause); }
  void close() override { inner_->close(); }

 private:
  std::unique_ptr<Exchange> inner_;
  float* values_;
  int64_t step_, element_;
  int64_t now_ = 0;
};

// Runs body(world, bootstrap, open) on every rank.
using Body = std::function<void(const World&, Bootstrap&, const OpenExchange&)>;
std::vector<std::string> run(int ranks, const Body& body) {
  return test::run_ranks(ranks, [&](Bootstrap& bootstrap) {
    const World world = find_world(bootstrap);
    body(world, bootstrap, [&](const BenchMode& mode, const Layout& layout, const GradientBuffer& gradients) {
      return open_exchange(mode, layout, gradients, world, bootstrap);
    });
  });
}

TEST_CASE("all modes are opened one after the other, sum rightly, and are measured alike on all ranks") {
  for (const int ranks : {2, 3}) {
    CAPTURE(ranks);
    std::mutex mutex;
    std::vector<std::vector<ModeResult>> of_ranks;
    const Payload payload = {.name = "two", .tensors = {{"a", {64}}, {"b", {100'000}}}};
    const auto errors = run(ranks, [&](const World& world, Bootstrap& bootstrap, const OpenExchange& open) {
      auto results =
          run_bench(payload, bench_modes(kModes, small_units()), {.repeats = 2, .steps = 3}, world, bootstrap, open);
      const std::lock_guard lock(mutex);
      of_ranks.push_back(std::move(results));
    });
    REQUIRE(errors == std::vector<std::string>(static_cast<size_t>(ranks)));
    for (const std::vector<ModeResult>& results : of_ranks) {
      REQUIRE(results.size() == kModes.size());
      for (size_t i = 0; i < results.size(); ++i) {
        const ModeResult& mode = results[i];
        CAPTURE(mode.name);
        CHECK(mode.name == kModes[i]);
        CHECK(mode.steps() == 6);
        CHECK(mode.ranks.size() == static_cast<size_t>(ranks));
        CHECK(mode.step_s() == of_ranks.front()[i].step_s());
        CHECK(mode.has_counts);
        CHECK(mode.most_per_step(&Counters::payload_bytes) == 0.0);  // one node: nothing crosses a network
        const bool is_aiacc = mode.name.starts_with("aiacc");
        const double copied = mode.most_per_step(&Counters::copies);
        CHECK(mode.units == (is_aiacc ? 8 : 2));
        if (is_aiacc) CHECK(copied == 0.0);
        const double gradients = 2.0 * static_cast<double>(payload.summed_bytes());
        if (!is_aiacc) CHECK(copied <= gradients + 1.0);
        if (mode.name == "aiacc-static") CHECK(mode.most_per_step(&Counters::messages) == 0.0);
      }
    }
  }
}

TEST_CASE("with emulated compute a step takes at least that time") {
  const auto errors = run(2, [](const World& world, Bootstrap& bootstrap, const OpenExchange& open) {
    const auto results = run_bench(flat_payload(400'000), bench_modes({"aiacc-bitvector"}, small_units()),
                                   {.repeats = 1, .steps = 2, .compute_s = 0.02, .compute = ComputeKind::kSleep}, world,
                                   bootstrap, open);
    for (const double seconds : results[0].step_s()) check(seconds >= 0.02, "a step is longer than its compute");
    for (size_t i = 0; i < 2; ++i) check(results[0].exposed_s()[i] <= results[0].step_s()[i], "exposed time is a part");
  });
  CHECK(errors == std::vector<std::string>{"", ""});
}

TEST_CASE("a sum that one rank has wrong ends the benchmark on all ranks with mode, step, place and values") {
  for (const int64_t step : {int64_t{2}, int64_t{kWarmUpSteps + 1}}) {
    const auto errors = run(2, [&](const World& world, Bootstrap& bootstrap, const OpenExchange& open) {
      run_bench(model_payload("minilm"), bench_modes({"aiacc-bitvector"}, {}), {.repeats = 1, .steps = 2}, world,
                bootstrap, [&](const BenchMode& mode, const Layout& layout, const GradientBuffer& gradients) {
                  auto exchange = open(mode, layout, gradients);
                  if (world.rank == 0) return exchange;
                  return std::unique_ptr<Exchange>(
                      std::make_unique<SpoiltExchange>(std::move(exchange), gradients, step, 777));
                });
    });
    CAPTURE(errors[0]);
    CHECK(errors[0] == errors[1]);
    CHECK_THAT(errors[0],
               Catch::Contains("a wrong sum in mode aiacc-bitvector, minilm, step " + std::to_string(step)) &&
                   Catch::Contains("on rank 1 (") && Catch::Contains("element 777 (pooler.dense.weight, unit 0) is ") &&
                   Catch::Contains("; 1 of "));
  }
}

}  // namespace
}  // namespace bertft
