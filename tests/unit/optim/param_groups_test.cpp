// Groups of one weight decay: they cover the whole buffer, in order, and biases and LayerNorm never decay.
#include "optim/param_groups.h"

#include "tests/support/test.h"

namespace bertft {
namespace {

ParameterSpec spec(const std::string& name, int64_t size, bool decays, bool continues = false) {
  return {.name = name, .shape = {size}, .has_weight_decay = decays, .continues_previous = continues};
}

TEST_CASE("Neighbours of equal decay form one group, and groups cover the buffer") {
  const Layout layout = make_layout({spec("norm", 5, false), spec("bias", 20, false), spec("q", 10, true),
                                     spec("k", 10, true, true), spec("b", 3, false), spec("table", 100, true)},
                                    32);
  const std::vector<ParamGroup> groups = param_groups(layout, 0.01);
  REQUIRE(groups.size() == 4);
  REQUIRE(groups.front().begin == 0);
  REQUIRE(groups.back().end == layout.total);
  for (size_t i = 1; i < groups.size(); ++i) REQUIRE(groups[i].begin == groups[i - 1].end);
  for (const LayoutEntry& entry : layout.entries) {
    for (const ParamGroup& group : groups) {
      if (entry.offset < group.begin || entry.offset >= group.end) continue;
      INFO(entry.spec.name);
      REQUIRE(entry.offset + entry.size <= group.end);
      REQUIRE(group.weight_decay == (entry.spec.has_weight_decay ? 0.01 : 0.0));
    }
  }
}

TEST_CASE("Without decay there is one group, and without parameters there is none") {
  const Layout layout = make_layout({spec("a", 5, false), spec("b", 20, true)}, 32);
  const std::vector<ParamGroup> groups = param_groups(layout, 0.0);
  REQUIRE(groups.size() == 1);
  REQUIRE(groups[0].begin == 0);
  REQUIRE(groups[0].end == layout.total);
  REQUIRE(param_groups(make_layout({}, 32), 0.1).empty());
}

}  // namespace
}  // namespace bertft
