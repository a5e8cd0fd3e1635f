// Section `comm`: what can be set, and what this build refuses by name.
#include "comm/options.h"

#include <algorithm>
#include <memory>
#include <vector>

#include "comm/make_communicator.h"
#include "comm/nccl/nccl_start.h"
#include "comm/nccl/real_functions.h"
#include "comm/start.h"
#include "core/error.h"
#include "tests/support/errors.h"

namespace bertft {
namespace {

const Option& option_of(const OptionTable& table, const std::string& key) {
  const auto found =
      std::find_if(table.options.begin(), table.options.end(), [&](const Option& option) { return option.key == key; });
  REQUIRE(found != table.options.end());
  return *found;
}

TEST_CASE("The mode of communication can be named") {
  CommOptions options;
  const OptionTable table = comm_option_table(options);
  REQUIRE(table.section == "comm");
  REQUIRE(options.mode == "aiacc");
  const Option& mode = option_of(table, "mode");
  set_option(mode, {"horovod"}, "--comm", "comm.mode");
  REQUIRE(options.mode == "horovod");
  REQUIRE_THAT(test::error_text<ConfigError>([&] { set_option(mode, {"ddp"}, "--comm", "comm.mode"); }),
               Catch::Contains("--comm: comm.mode: 'ddp' is not one of aiacc, horovod"));
}

TEST_CASE("Defaults are those of Horovod 0.28 where the options are its own") {
  CommOptions options;
  const OptionTable table = comm_option_table(options);
  CHECK(option_value_text(option_of(table, "horovod.cycle_ms")) == "1");
  CHECK(option_value_text(option_of(table, "horovod.fusion_mb")) == "128");
  CHECK(option_value_text(option_of(table, "horovod.cache_capacity")) == "1024");
  CHECK(option_value_text(option_of(table, "lanes")) == "auto");
}

TEST_CASE("The transport over MPI can be chosen where the build has MPI, and is refused by name where not") {
  CommOptions options;
  const OptionTable table = comm_option_table(options);
  REQUIRE(options.transport == "auto");
  set_option(option_of(table, "transport"), {"mpi"}, "--set", "comm.transport");
  REQUIRE(options.transport == "mpi");
  REQUIRE(table.not_in_this_build.count("transport=mpi") == (has_mpi() ? 0 : 1));
}

TEST_CASE("Keys of the design that are not built are refused with a reason") {
  CommOptions options;
  const OptionTable table = comm_option_table(options);
  for (const char* key : {"sharded_optimizer", "tune"}) {
    INFO(key);
    REQUIRE(table.not_in_this_build.count(key) == 1);
  }
}

TEST_CASE("The transport nccl is refused in a build without CUDA, and where gradients are not on a device") {
  CommOptions options;
  const OptionTable table = comm_option_table(options);
  REQUIRE(table.not_in_this_build.count("transport=nccl") == (nccl::has_real_functions() ? 0 : 1));
  options.transport = "nccl";
  const GradientBuffer on_host(64, sizeof(float));
  REQUIRE_THAT(test::error_text<ConfigError>([&] { require_nccl_can_work(options, on_host); }),
               Catch::Contains("comm.transport: nccl sums gradients in the memory of CUDA devices, but") &&
                   Catch::Contains("Set comm.transport: native"));
  const GradientBuffer on_device(std::make_shared<std::vector<float>>(64), 64, sizeof(float));
  require_nccl_can_work(options, on_device);
  options.mode = "horovod";
  REQUIRE_THAT(test::error_text<ConfigError>([&] { require_nccl_can_work(options, on_device); }),
               Catch::Contains("Set comm.mode: aiacc"));
  options.mode = "aiacc";
  options.sparse_embeddings = "true";
  REQUIRE_THAT(test::error_text<ConfigError>([&] { require_nccl_can_work(options, on_device); }),
               Catch::Contains("comm.sparse_embeddings packs them on the CPU"));
  options.transport = "native";
  require_nccl_can_work(options, on_host);
}

TEST_CASE("The transport nccl has a wire of its own for auto") {
  CommOptions options;
  World world = single_world();
  REQUIRE(resolved_wire(options, world) == "fp32");
  options.transport = "nccl";
  REQUIRE(resolved_wire(options, world) == "bf16");
  options.wire = "fp32";
  REQUIRE(resolved_wire(options, world) == "fp32");
}

}  // namespace
}  // namespace bertft
