// A training state survives its way through text exactly, and whatever is not one is refused by name.
#include "train/train_state.h"

#include <cmath>
#include <limits>

#include "core/error.h"
#include "tests/support/errors.h"
#include "tests/support/test.h"

namespace bertft {
namespace {

using Catch::Contains;
using test::error_text;

TrainState example() {
  TrainState state;
  state.step = 7;
  state.applied_steps = 6;
  state.is_evaluation_pending = true;
  state.best = {4, {{"loss", 0.1 + 0.2}, {"accuracy", 1.0 / 3.0}, {"pearson", std::nan("")}}};
  state.last_model_step = 4;
  state.evaluations_without_gain = 2;
  state.early_stopping_best = -std::numeric_limits<double>::infinity();
  state.loss_window = {1e-310, 0.7, std::nextafter(0.7, 1.0)};
  state.rows_done = 28;
  state.tokens_done = 345;
  state.train_s = 1.25;
  state.layout_hash = std::numeric_limits<uint64_t>::max();
  state.logs = {123, "events.out.tfevents.1.a\"b", 456};
  state.config = {{"seed", "42"}, {"data.label_map", "{\"ä\": b}"}};
  state.resolved = {{"threads", "2"}};
  state.data_hashes = {{"train", "0123456789abcdef"}};
  return state;
}

TEST_CASE("a state comes back exactly") {
  const TrainState state = example();
  const TrainState again = parse_train_state(train_state_text(state), "state.json");
  CHECK(train_state_text(again) == train_state_text(state));
  CHECK(again.loss_window == state.loss_window);
  CHECK(again.best.metrics[0].second == 0.1 + 0.2);
  CHECK(std::isnan(again.best.metrics[2].second));
  CHECK(std::isinf(again.early_stopping_best));
  CHECK(again.layout_hash == state.layout_hash);
  CHECK(again.logs.events_file == state.logs.events_file);
  CHECK(again.config == state.config);
}

TEST_CASE("what is no state is refused") {
  const std::string text = train_state_text(example());
  for (const std::string& broken : {std::string(""), std::string("{}"), std::string("[1]"), text.substr(0, 50)}) {
    CHECK_THAT(error_text<CheckpointError>([&] { parse_train_state(broken, "x/state.json"); }),
               Contains("x/state.json"));
  }
  const auto with = [&](const std::string& from, const std::string& to) {
    std::string changed = text;
    return changed.replace(changed.find(from), from.size(), to);
  };
  CHECK_THAT(error_text<CheckpointError>([&] { parse_train_state(with("\"format\": 1", "\"format\": 2"), "s"); }),
             Contains("format 2"));
  CHECK_THROWS_AS(parse_train_state(with("\"step\": 7", "\"step\": \"x\""), "s"), CheckpointError);
  CHECK_THROWS_AS(parse_train_state(with("\"0.7\"", "\"0.7x\""), "s"), CheckpointError);
}

}  // namespace
}  // namespace bertft
