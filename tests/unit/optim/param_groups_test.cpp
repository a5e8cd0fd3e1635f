// Groups of one weight decay: they cover the whole buffer, in order, and biases and LayerNorm never decay.
#include "optim/param_groups.h"

#include <cmath>

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

TEST_CASE("Each layer below the head learns slower by the layer decay") {
  std::vector<ParameterSpec> specs = {spec("head", 20, true), spec("last", 20, true), spec("first", 20, true),
                                      spec("table", 20, true)};
  for (size_t i = 0; i < specs.size(); ++i) specs[i].depth = static_cast<int>(i);
  const std::vector<ParamGroup> groups = param_groups(make_layout(specs, 32), 0.01, 0.5);
  REQUIRE(groups.size() == 4);
  for (size_t i = 0; i < groups.size(); ++i) REQUIRE(groups[i].rate_scale == std::pow(0.5, i));
  REQUIRE(param_groups(make_layout(specs, 32), 0.01, 1.0).size() == 1);
}

TEST_CASE("Groups end with the last trainable parameter") {
  std::vector<ParameterSpec> specs = {spec("head", 20, true), spec("norm", 5, false), spec("table", 20, true)};
  specs[2].is_trainable = false;
  const Layout layout = make_layout(specs, 32);
  const std::vector<ParamGroup> groups = param_groups(layout, 0.01);
  REQUIRE(groups.size() == 2);
  REQUIRE(groups.back().end == layout.trainable_total);
  REQUIRE(layout.trainable_total < layout.total);
  REQUIRE(layout.trainable_count() == 25);
}

}  // namespace
}  // namespace bertft
