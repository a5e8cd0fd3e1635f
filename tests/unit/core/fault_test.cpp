// BERTFT_FAULT: what can be asked for, and how a wrong wish is answered.
#include "core/fault.h"

#include "core/error.h"
#include "tests/support/environment.h"
#include "tests/support/errors.h"

namespace bertft {
namespace {

using Catch::Contains;
using test::error_text;

TEST_CASE("A fault has a kind and values") {
  const WantedFault fault = parse_fault("inf:rank=1,step=7,param=encoder.layer.0.attention.self.query.weight,index=5");
  CHECK(fault.kind == "inf");
  CHECK(fault.number("rank") == 1);
  CHECK(fault.number("step") == 7);
  CHECK(fault.number("index") == 5);
  CHECK(fault.text("param") == "encoder.layer.0.attention.self.query.weight");
}

TEST_CASE("A rank that shall be late has keys of its own") {
  const WantedFault fault = parse_fault("slow:rank=1,step=3,ms=8000");
  CHECK(fault.kind == "slow");
  CHECK(fault.number("ms") == 8000);
  for (const char* text : {"slow:rank=1,step=3,index=5", "nan:rank=1,step=3,ms=8000"}) {
    INFO(text);
    CHECK_THAT(error_text<ConfigError>([&] { parse_fault(text); }), Contains("slow:rank=R,step=S,ms=T"));
  }
}

TEST_CASE("A wish that is not understood is an error that shows the form") {
  for (const char* text : {"", "kill", "kill:rank=1", "nan:rank", "nan:rank=1,who=2"}) {
    INFO(text);
    CHECK_THAT(error_text<ConfigError>([&] { parse_fault(text); }), Contains("BERTFT_FAULT") && Contains("nan:rank=R"));
  }
  const WantedFault fault = parse_fault("nan:rank=one,step=-1");
  for (const char* key : {"rank", "step", "index"}) {
    INFO(key);
    CHECK_THAT(error_text<ConfigError>([&] { fault.number(key); }), Contains(key) && Contains("nan:rank=R"));
  }
}

TEST_CASE("Without the variable there is no fault") {
  {
    const test::ScopedVariable unset("BERTFT_FAULT", nullptr);
    CHECK_FALSE(wanted_fault().has_value());
  }
  const test::ScopedVariable set("BERTFT_FAULT", "nan:rank=0");
  CHECK(wanted_fault()->kind == "nan");
}

}  // namespace
}  // namespace bertft
