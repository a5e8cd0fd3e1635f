// Section `comm` of a build with a world of one: the mode can be named, everything else is refused by name.
#include "comm/options.h"

#include "core/error.h"
#include "tests/support/errors.h"

namespace bertft {
namespace {

TEST_CASE("The mode of communication can be named") {
  CommOptions options;
  const OptionTable table = comm_option_table(options);
  REQUIRE(table.section == "comm");
  REQUIRE(options.mode == "aiacc");
  REQUIRE(table.options.size() == 1);
  set_option(table.options[0], {"horovod"}, "--comm", "comm.mode");
  REQUIRE(options.mode == "horovod");
  REQUIRE_THAT(test::error_text<ConfigError>([&] { set_option(table.options[0], {"ddp"}, "--comm", "comm.mode"); }),
               Catch::Contains("--comm: comm.mode: 'ddp' is not one of aiacc, horovod"));
}

TEST_CASE("Every other key of the design is refused with a reason") {
  CommOptions options;
  const OptionTable table = comm_option_table(options);
  for (const char* key :
       {"transport", "wire", "hierarchical", "lanes", "unit_mb", "negotiate", "sharded_optimizer", "sparse_embeddings",
        "nan", "stall_warn_s", "stall_abort_s", "interface", "port_base", "timeline", "tune", "horovod"}) {
    INFO(key);
    REQUIRE(table.not_in_this_build.count(key) == 1);
  }
}

}  // namespace
}  // namespace bertft
