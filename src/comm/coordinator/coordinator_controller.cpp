#include "comm/coordinator/coordinator_controller.h"

#include <utility>

#include "core/error.h"

namespace bertft {

CoordinatorController::CoordinatorController(const CoordinatorOptions& options, std::vector<TensorSpec> units,
                                             Timeline* timeline)
    : cycle_(options, timeline), is_marked_(units.size(), false) {
  for (TensorSpec& unit : units) {
    const int number = cycle_.names().number(unit.name);
    check(number == static_cast<int>(units_.size()), "units have different names");
    units_.push_back(std::make_shared<const TensorTraits>(std::move(unit.traits)));
  }
}

void CoordinatorController::step_begin(int64_t step) {
  check(!is_in_step_, "a step begins before the one before has ended");
  check(!units_.empty(), "steps need units");
  step_ = step;
  is_in_step_ = true;
  ++steps_begun_;
  is_marked_.assign(units_.size(), false);
  agreed_units_ = 0;
  next_round_ = 0;
  step_flags_ = std::exchange(early_flags_, 0);
}

uint32_t CoordinatorController::step_end() {
  check(step_done(), "a step ends before all its units are agreed");
  is_in_step_ = false;
  return step_flags_;
}

void CoordinatorController::mark_ready(int unit) {
  check(steps_begun_ > steps_done_, "a unit is marked outside of a step");
  check(unit >= 0 && unit < static_cast<int>(units_.size()), "a unit of the layout");
  check(!is_marked_[static_cast<size_t>(unit)], "a unit is marked a second time in a step");
  is_marked_[static_cast<size_t>(unit)] = true;
  cycle_.announce(unit, units_[static_cast<size_t>(unit)]);
}

void CoordinatorController::change_traits(int unit, TensorTraits traits) {
  units_.at(static_cast<size_t>(unit)) = std::make_shared<const TensorTraits>(std::move(traits));
}

void CoordinatorController::tick(double now_s) {
  cycle_.tick(now_s, std::exchange(raised_, 0), steps_done_, wants_shutdown_);
  take_over();
}

void CoordinatorController::receive(int from, std::string_view bytes, double now_s) {
  cycle_.receive(from, bytes, now_s);
  take_over();
}

void CoordinatorController::take_over() {
  std::optional<CycleOutcome> outcome = cycle_.take_outcome();
  if (!outcome) {
    return;
  }
  if (outcome->stall) {
    stall_reports_.push_back(std::move(*outcome->stall));
  }
  std::vector<std::vector<int>> groups;
  int agreed = 0;
  for (TensorResponse& response : outcome->responses) {
    if (response.response == ResponseType::kError) {
      failures_.push_back({response.tensors.front(), std::move(response.error)});
    } else {
      agreed += static_cast<int>(response.tensors.size());
      groups.push_back(std::move(response.tensors));
    }
  }
  const bool is_step_open = steps_begun_ > steps_done_;
  (is_step_open ? step_flags_ : early_flags_) |= outcome->flags;
  if (groups.empty()) {
    return;
  }
  check(is_step_open, "units are agreed outside of a step");
  rounds_.push_back({step_, next_round_++, std::move(groups), outcome->flags});
  agreed_units_ += agreed;
  if (agreed_units_ == static_cast<int>(units_.size())) {
    ++steps_done_;
  }
}

std::vector<AgreedRound> CoordinatorController::take_agreed() { return std::exchange(rounds_, {}); }

std::vector<CoordinatorController::Failure> CoordinatorController::take_failures() {
  return std::exchange(failures_, {});
}

std::vector<CoordinatorStallReport> CoordinatorController::take_stall_reports() {
  return std::exchange(stall_reports_, {});
}

}  // namespace bertft
