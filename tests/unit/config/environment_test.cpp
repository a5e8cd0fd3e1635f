// Variables of Horovod and AIACC as defaults of keys: their values, their origin, and what wins over them.
#include "config/environment.h"

#include "core/error.h"
#include "tests/support/environment.h"
#include "tests/support/errors.h"
#include "tests/support/test.h"

namespace bertft {
namespace {

using Catch::Contains;
using test::error_text;
using test::ScopedVariable;

TEST_CASE("Each variable sets its key, in the key's unit") {
  struct Case {
    const char* name;
    const char* text;
    const char* key;
    const char* value;
  };
  const std::vector<Case> cases = {
      {"HOROVOD_FUSION_THRESHOLD", "16777216", "comm.horovod.fusion_mb", "16"},
      {"HOROVOD_FUSION_THRESHOLD", "16777217", "comm.horovod.fusion_mb", "17"},
      {"HOROVOD_FUSION_THRESHOLD", "0", "comm.horovod.fusion_mb", "0"},
      {"HOROVOD_CYCLE_TIME", "3.5", "comm.horovod.cycle_ms", "3.5"},
      {"HOROVOD_CACHE_CAPACITY", "0", "comm.horovod.cache_capacity", "0"},
      {"HOROVOD_HIERARCHICAL_ALLREDUCE", "1", "comm.horovod.hierarchical", "true"},
      {"PERSEUS_ALLREDUCE_DTYPE", "0", "comm.wire", "fp16"},
      {"PERSEUS_ALLREDUCE_DTYPE", "1", "comm.wire", "fp32"},
      {"PERSEUS_ALLREDUCE_DTYPE", "2", "comm.wire", "mixed"},
      {"HOROVOD_TIMELINE", "trace.json", "comm.timeline", "trace.json"},
      {"PERSEUS_ALLREDUCE_STREAMS", "4", "comm.lanes", "4"},
      {"PERSEUS_ALLREDUCE_NANCHECK", "1", "comm.nan", "report"},
  };
  for (const Case& c : cases) {
    CAPTURE(c.name, c.text);
    const ScopedVariable set(c.name, c.text);
    RunConfig config;
    CHECK(adopt_environment(config).empty());
    CHECK(config_values(config).at(c.key) == c.value);
    const std::string origin = std::string(c.name) + "=" + c.text;
    CHECK(origin_of(config, c.key) == origin);
    CHECK(environment_text(config) == std::string(c.key) + " " + c.value + " (" + origin + ")");
  }
}

TEST_CASE("What the file or the command line sets stays, and is the origin") {
  const ScopedVariable set("PERSEUS_ALLREDUCE_DTYPE", "0");
  RunConfig config;
  apply_override(config, "comm.wire=bf16", "c.yaml:3");
  adopt_environment(config);
  CHECK(config.comm.wire == "bf16");
  CHECK(origin_of(config, "comm.wire") == "c.yaml:3");
  CHECK(environment_text(config).empty());
  RunConfig later;
  adopt_environment(later);
  apply_override(later, "comm.wire=fp32", "--set");
  CHECK(origin_of(later, "comm.wire") == "--set");
  CHECK(environment_text(later).empty());
}

TEST_CASE("Values that cannot be used are all named, with the key that they stand for") {
  const ScopedVariable bytes("HOROVOD_FUSION_THRESHOLD", "64MB");
  const ScopedVariable code("PERSEUS_ALLREDUCE_DTYPE", "3");
  const ScopedVariable lanes("PERSEUS_ALLREDUCE_STREAMS", "1000");
  RunConfig config;
  std::vector<std::string> faults;
  adopt_environment(config, faults);
  REQUIRE(faults.size() == 3);
  CHECK(faults[0] ==
        "HOROVOD_FUSION_THRESHOLD=64MB: a number of bytes is needed (it stands for comm.horovod.fusion_mb)");
  CHECK_THAT(faults[1], Contains("PERSEUS_ALLREDUCE_DTYPE=3: 0 (fp16), 1 (off: fp32) or 2 (mixed)"));
  CHECK_THAT(faults[2], Contains("PERSEUS_ALLREDUCE_STREAMS=1000") && Contains("comm.lanes"));
  CHECK_THAT(error_text<ConfigError>([&] { adopt_environment(config); }), Contains("3 faults"));
}

TEST_CASE("Empty variables count as not set, a check that is off as the default, and others of the family are named") {
  const ScopedVariable empty("HOROVOD_CYCLE_TIME", "");
  const ScopedVariable off("PERSEUS_ALLREDUCE_NANCHECK", "0");
  const ScopedVariable other("HOROVOD_AUTOTUNE", "1");
  const ScopedVariable another("PERSEUS_ALLREDUCE_FUSION", "2");
  RunConfig config;
  const std::vector<std::string> notes = adopt_environment(config);
  REQUIRE(notes.size() == 1);
  CHECK_THAT(notes[0], Contains("HOROVOD_AUTOTUNE, PERSEUS_ALLREDUCE_FUSION"));
  CHECK(config.origins.empty());
}

}  // namespace
}  // namespace bertft
