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
