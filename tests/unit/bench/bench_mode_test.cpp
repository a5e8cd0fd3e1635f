#include "bench/bench_mode.h"

#include "bench/exchange.h"
#include "comm/mpi/plain_allreduce.h"
#include "core/error.h"
#include "tests/support/errors.h"
#include "tests/support/test.h"

namespace bertft {
namespace {

TEST_CASE("modes are settings of the communicator, with one wire for all") {
  CommOptions base;
  base.wire = "bf16";
  base.lanes = 3;
  const auto modes = bench_modes({"horovod-uncached", "horovod-cached", "aiacc-bitvector", "aiacc-static"}, base);
  REQUIRE(modes.size() == 4);
  CHECK(modes[0].options.mode == "horovod");
  CHECK(modes[0].options.horovod.cache_capacity == 0);
  CHECK(modes[1].options.horovod.cache_capacity == 1024);
  CHECK(modes[1].options.horovod.wire == "bf16");
  CHECK(modes[1].options.horovod.hierarchical == false);
  CHECK(modes[2].options.mode == "aiacc");
  CHECK(modes[2].options.negotiate == "bitvector");
  CHECK(modes[3].options.negotiate == "static");
  CHECK(modes[3].options.lanes == 3);
  for (const BenchMode& mode : modes) CHECK(wire_of(mode, single_world()) == WireType::kBf16);
}

TEST_CASE("each mode cuts the gradients as training in that mode does") {
  const Payload base = model_payload("bert-base");
  const std::vector<std::string> names = {"horovod-uncached", "horovod-cached", "aiacc-bitvector", "aiacc-static"};
  const auto units_of = [&](const CommOptions& options, const Payload& payload) {
    std::vector<size_t> units;
    for (const BenchMode& mode : bench_modes(names, options)) units.push_back(layout_of(mode, payload).units.size());
    return units;
  };
  const Layout tensors = make_layout(base.tensors, kUnitPerParameter);
  const Layout parts = make_layout(base.tensors, kDefaultUnitElements);
  CHECK(tensors.units.size() != parts.units.size());
  const size_t whole = tensors.units.size(), cut = parts.units.size();
  CHECK(units_of({}, base) == std::vector<size_t>{whole, whole, cut, cut});
  CHECK(units_of({}, flat_payload(64 << 20)) == std::vector<size_t>{1, 1, 16, 16});
  CommOptions small;
  small.unit_mb = 1.0;
  CHECK(units_of(small, flat_payload(64 << 20)) == std::vector<size_t>{1, 1, 64, 64});
}

TEST_CASE("the hierarchy of all modes is set at once or left to each") {
  CommOptions base;
  base.hierarchical = "true";
  CHECK(bench_modes({"horovod-cached"}, base)[0].options.horovod.hierarchical);
  base.hierarchical = "auto";
  base.horovod.hierarchical = true;
  CHECK(bench_modes({"horovod-cached"}, base)[0].options.horovod.hierarchical);
}

TEST_CASE("modes that do not exist or cannot be are refused by name") {
  CHECK_THAT(test::error_text<ConfigError>([] { bench_modes({"aiacc-statik"}, {}); }),
             Catch::Contains("--modes: 'aiacc-statik'") && Catch::Contains("did you mean aiacc-static?"));
  CHECK_THAT(test::error_text<ConfigError>([] {
               bench_modes({"aiacc-static", "aiacc-static"}, {});
             }),
             Catch::Contains("twice"));
  CommOptions base;
  base.wire = "mixed";
  CHECK_THAT(test::error_text<ConfigError>([&] { bench_modes({"horovod-cached"}, base); }),
             Catch::Contains("--wire mixed"));
  CHECK(bench_modes({"aiacc-static"}, base).size() == 1);
  const std::vector<std::string> names = bench_mode_names();
  CHECK((names.back() == "mpi-allreduce") == has_plain_allreduce());
  CHECK(bench_modes(names, {}).size() == names.size());
}

}  // namespace
}  // namespace bertft
