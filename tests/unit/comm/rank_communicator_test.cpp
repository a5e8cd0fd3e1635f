// Whole communicators on threads: the sums are exact whoever makes them and in whatever order units become ready, and
// messages are as few as the protocol says.
#include <algorithm>
#include <atomic>
#include <chrono>
#include <stdexcept>
#include <thread>

#include "core/timer.h"
#include "tests/support/test.h"
#include "tests/unit/comm/communicator_world.h"
#include "tests/unit/comm/native/native_world.h"

namespace bertft::test {
namespace {

constexpr int kSteps = 7;  // static negotiation freezes after three

std::vector<CommunicatorCase> cases() {
  std::vector<CommunicatorCase> all;
  for (const std::vector<std::string>& nodes : node_lists()) {
    if (nodes.size() == 1) continue;
    const bool is_one_node = std::count(nodes.begin(), nodes.end(), nodes[0]) == static_cast<long>(nodes.size());
    for (const bool is_static : {false, true}) {
      all.push_back({nodes, SumThread::kLane, is_static});
      if (is_one_node) all.push_back({nodes, SumThread::kCompute, is_static});
    }
    all.push_back({nodes, SumThread::kLane, false, 3});
    all.push_back({nodes, SumThread::kControl});
  }
  return all;
}

// Of the gradients of a step, those that differ from their sum in canonical order.
int64_t wrong_sums(const CommunicatorView& view, const CommunicatorCase& setup, const Layout& layout, int64_t step) {
  const std::vector<float> expected = canonical_sum(setup.nodes, layout.trainable_total, step);
  int64_t wrong = 0;
  for (const LayoutEntry& entry : layout.entries) {
    for (int64_t i = entry.offset; i < entry.offset + entry.size; ++i) {
      wrong += view.sums()[i] != expected[static_cast<size_t>(i)];
    }
  }
  return wrong;
}

TEST_CASE("Communicators sum exactly, whoever makes the sums and in whatever order units become ready") {
  const Layout layout = layout_of_units(23);
  for (const CommunicatorCase& setup : cases()) {
    CAPTURE(setup.text());
    std::atomic<int64_t> wrong{0};
    std::atomic<int64_t> copied{0};
    const std::vector<std::string> errors = run_communicators(setup, layout, [&](CommunicatorView& view) {
      const auto rank = static_cast<uint64_t>(view.communicator.rank());
      for (int64_t step = 1; step <= kSteps; ++step) {
        run_step(view, layout, step, 1000 * rank + static_cast<uint64_t>(step));
        wrong += wrong_sums(view, setup, layout, step);
      }
      copied += view.communicator.counters().copies;
    });
    CHECK(errors == std::vector<std::string>(setup.nodes.size()));
    CHECK(wrong == 0);
    CHECK((copied > 0) == (setup.sums == SumThread::kControl));
  }
}

TEST_CASE("Within a node nothing but shared words and memory is used") {
  const Layout layout = layout_of_units(70);
  for (const SumThread sums : {SumThread::kLane, SumThread::kCompute}) {
    const CommunicatorCase setup{{"a", "a", "a"}, sums};
    CAPTURE(setup.text());
    std::atomic<int64_t> messages{0};
    const std::vector<std::string> errors = run_communicators(setup, layout, [&](CommunicatorView& view) {
      const Timer timer;
      for (int64_t step = 1; step <= kSteps; ++step) run_step(view, layout, step, static_cast<uint64_t>(step));
      const Counters counters = view.communicator.counters();
      messages += counters.messages;
      if (counters.exposed_s > timer.seconds()) throw std::runtime_error("more time was exposed than there was");
    });
    CHECK(errors == std::vector<std::string>(3));
    CHECK(messages == 0);
  }
}

// Every unit is ready on all ranks before the last rank announces anything, so that each unit needs its own round at
// most, and only the leaders of two nodes send for it: one phase, one message each.
TEST_CASE("Of several nodes only the leaders negotiate") {
  const Layout layout = layout_of_units(5);
  const CommunicatorCase setup{{"a", "a", "b", "b"}, SumThread::kLane};
  std::vector<int64_t> rounds(4), messages(4);
  const std::vector<std::string> errors = run_communicators(setup, layout, [&](CommunicatorView& view) {
    const auto rank = static_cast<size_t>(view.communicator.rank());
    const Counters before = view.communicator.counters();
    run_step(view, layout, 1, rank);
    const Counters after = view.communicator.counters();
    rounds[rank] = after.rounds - before.rounds;
    messages[rank] = after.messages - before.messages;
  });
  CHECK(errors == std::vector<std::string>(4));
  // Data: with two nodes each rank sends its slice of every unit and the sum of it: two messages a unit.
  const auto data = static_cast<int64_t>(2 * layout.units.size());
  CHECK(messages[1] == data);
  CHECK(messages[3] == data);
  for (const size_t leader : {0, 2}) {
    CHECK(messages[leader] >= data + rounds[leader]);
    CHECK(messages[leader] <= data + static_cast<int64_t>(2 * layout.units.size()));
  }
}

TEST_CASE("A rank that ends in the middle of a step ends the others with its cause") {
  const Layout layout = layout_of_units(40);
  for (const SumThread sums : {SumThread::kLane, SumThread::kCompute, SumThread::kControl}) {
    const CommunicatorCase setup{{"a", "a", "a"}, sums};
    CAPTURE(setup.text());
    const std::vector<std::string> errors = run_communicators(setup, layout, [&](CommunicatorView& view) {
      run_step(view, layout, 1, 1);
      if (view.communicator.rank() == 1) {
        view.communicator.step_begin(2);
        view.communicator.mark_ready(3);
        throw std::runtime_error("the disk is full");
      }
      run_step(view, layout, 2, 2);
    });
    for (const std::string& error : errors) {
      CHECK_THAT(error, Catch::Matchers::Contains("the disk is full"));
    }
  }
}

TEST_CASE("A decentral communicator that has nothing to do sends nothing") {
  const Layout layout = layout_of_units(5);
  std::atomic<int64_t> messages{0};
  const std::vector<std::string> errors =
      run_communicators({{"a", "a", "b"}, SumThread::kLane}, layout, [&](CommunicatorView& view) {
        run_step(view, layout, 1, 1);
        view.communicator.barrier();
        const int64_t before = view.communicator.counters().messages;
        std::this_thread::sleep_for(std::chrono::seconds(10));
        messages += view.communicator.counters().messages - before;
      });
  CHECK(errors == std::vector<std::string>(3));
  CHECK(messages == 0);
}

}  // namespace
}  // namespace bertft::test
