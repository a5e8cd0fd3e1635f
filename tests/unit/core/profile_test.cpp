#include "core/profile.h"

#include <string>
#include <thread>
#include <vector>

#include "tests/support/test.h"

namespace bertft {
namespace {

void make_step() {
  const ProfileScope step("step");
  {
    const ProfileScope forward("forward");
    for (int i = 0; i < 2; ++i) const ProfileScope product("product", {.flops = 10.0, .bytes = 4.0});
  }
  const ProfileScope backward("backward");
  const ProfileScope product("product", {.flops = 20.0, .bytes = 8.0});
}

std::vector<std::string> names(const Profile& profile) {
  std::vector<std::string> names;
  for (const Profile::Node& node : profile.nodes()) names.emplace_back(node.name);
  return names;
}

}  // namespace

TEST_CASE("A profile counts scopes by their place") {
  Profile profile(2);
  {
    const ProfileRecording recording(&profile);
    for (int step = 0; step < 3; ++step) make_step();
  }
  REQUIRE(names(profile) == std::vector<std::string>{"step", "forward", "product", "backward", "product"});
  const std::vector<Profile::Node>& nodes = profile.nodes();
  const std::vector<int64_t> calls = {3, 3, 6, 3, 3};
  const std::vector<int> parents = {-1, 0, 1, 0, 3};
  for (size_t i = 0; i < nodes.size(); ++i) {
    CHECK(nodes[i].calls == calls[i]);
    CHECK(nodes[i].parent == parents[i]);
    CHECK(profile.own_seconds(static_cast<int>(i)) >= 0.0);
  }
  CHECK(nodes[2].work.flops == 60.0);
  CHECK(nodes[4].work.flops == 60.0);
  CHECK(nodes[2].work.bytes == 24.0);
  CHECK(nodes[1].work.flops == 0.0);
  CHECK(nodes[0].seconds >= nodes[1].seconds + nodes[3].seconds);
}

TEST_CASE("A profile keeps the events of its first roots") {
  Profile profile(2);
  {
    const ProfileRecording recording(&profile);
    for (int step = 0; step < 3; ++step) make_step();
  }
  REQUIRE(profile.events().size() == 2 * 6);
  for (const Profile::Event& event : profile.events()) CHECK(event.begin_s <= event.end_s);
  CHECK(profile.events()[5].node == 0);
  CHECK(profile.events()[5].end_s <= profile.events()[6].begin_s);
}

TEST_CASE("Nothing is recorded without a recording, or on another thread") {
  Profile profile(2);
  make_step();
  {
    const ProfileRecording none(nullptr);
    make_step();
  }
  {
    const ProfileRecording recording(&profile);
    std::thread(make_step).join();
  }
  CHECK(profile.nodes().empty());
}

}  // namespace bertft
