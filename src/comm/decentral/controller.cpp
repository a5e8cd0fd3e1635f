#include "comm/decentral/controller.h"

#include <fmt/format.h>

#include <utility>

#include "core/error.h"

namespace bertft {

DecentralController::DecentralController(const DecentralOptions& options, const NodeBoard& board,
                                         const DecentralRules& rules)
    : options_(options), rules_(rules), board_(board), schedule_(board.units(), options.layout_hash) {
  check(options.local_rank >= 0 && options.local_rank < board.local_size(), "a local rank is one of the node");
  if (options.local_rank == 0) {
    negotiation_.emplace(NegotiationOptions{options.job, options.node, options.nodes, board.units()}, rules);
  }
  marked_ = done_ = UnitSet(board.units());
}

DecentralController::DecentralController(const DecentralController& other, const NodeBoard& board)
    : DecentralController(other) {
  board_ = board;
}

void DecentralController::step_begin(int64_t step) {
  check(!in_step_ && step > step_, "a step begins when the one before has ended");
  step_ = step;
  in_step_ = true;
  frozen_ = schedule_.is_frozen();
  marked_.clear();
  done_.clear();
  order_.clear();
  words_ = 0;
  if (frozen_) return;
  board_.enter_step(options_.local_rank, step, pending_);
  bells_.leader = true;
  if (!negotiation_) return;
  board_.open_results(step);
  negotiation_->step_begin(step, board_);
  lead();
}

void DecentralController::mark_ready(int unit) {
  check(in_step_ && !marked_.contains(unit), "a unit becomes ready once a step");
  marked_.add(unit);
  if (frozen_) return;
  board_.set_ready(options_.local_rank, unit);
  bells_.leader = true;
  poll();
}

void DecentralController::raise(uint32_t flags) {
  check((flags & ~kAllStatusFlags) == 0, "a status flag is one of agreed.h");
  pending_ |= flags;
  if (in_step_ && !frozen_) board_.set_flags(options_.local_rank, pending_);
}

void DecentralController::poll() {
  if (!negotiation_ || !in_step_ || frozen_) return;
  negotiation_->poll(board_);
  lead();
}

void DecentralController::receive(int from_node, std::string_view bytes) {
  check(negotiation_.has_value(), "messages of the negotiation go to leaders");
  negotiation_->receive(from_node, bytes, board_);
  lead();
}

// The leader's results become the node's.
void DecentralController::lead() {
  for (const AgreedRound& round : negotiation_->take_agreed()) {
    if (!rules_.later_steps_wait && round.step != step_) continue;
    board_.publish(round);
    bells_.members = true;
  }
}

std::vector<ControlSend> DecentralController::take_messages() {
  return negotiation_ ? negotiation_->take_messages() : std::vector<ControlSend>{};
}

Bells DecentralController::take_bells() {
  Bells bells = std::exchange(bells_, {});
  bells.leader = bells.leader && !is_leader();
  bells.members = bells.members && board_.local_size() > 1;
  return bells;
}

std::vector<AgreedRound> DecentralController::take_agreed() {
  if (!in_step_) return {};
  std::vector<AgreedRound> rounds =
      frozen_ ? next_of_schedule() : board_.results(step_, static_cast<int>(order_.size()));
  for (const AgreedRound& round : rounds) {
    for (const std::vector<int>& group : round.groups) {
      check(marked_.contains(group[0]), "nothing is agreed before this rank has it ready");
      order_.push_back(group[0]);
    }
  }
  return rounds;
}

// A unit that is late is waited for, and so is everything behind it: order is what a frozen schedule promises.
std::vector<AgreedRound> DecentralController::next_of_schedule() {
  std::vector<AgreedRound> rounds;
  for (size_t place = order_.size(); place < schedule_.order().size(); ++place) {
    const int unit = schedule_.order()[place];
    if (!marked_.contains(unit)) break;
    rounds.push_back({step_, static_cast<int64_t>(place), {{unit}}, 0});
  }
  return rounds;
}

uint32_t DecentralController::flag_word() const {
  check(in_step_ && frozen_, "flags travel with the data in frozen steps");
  return encode_flag_word(pending_, schedule_.digest(step_));
}

void DecentralController::unit_done(int unit, uint32_t word) {
  check(in_step_ && frozen_ && marked_.contains(unit) && !done_.contains(unit), "a unit of a frozen step is done once");
  done_.add(unit);
  words_ |= word;
}

bool DecentralController::step_done() const {
  if (!in_step_ || static_cast<int>(order_.size()) < board_.units()) return false;
  return frozen_ ? done_.count() == board_.units() : board_.is_complete(step_);
}

uint32_t DecentralController::step_end() {
  check(step_done(), "a step ends when all its units are handed out");
  in_step_ = false;
  uint32_t verdict = 0;
  if (frozen_) {
    const FlagWord word = decode_flag_word(words_);
    check(word.is_complete, "a frozen step has brought back a flag word");
    if (word.is_mismatch) {
      throw CommError(
          fmt::format("the ranks disagree about the layout or the frozen order of its units at step {}: they "
                      "run different programs or configurations",
                      step_));
    }
    verdict = word.flags;
  } else {
    verdict = board_.result_flags(step_);
  }
  if (!rules_.verdict_is_what_was_agreed) verdict |= pending_;
  if (rules_.acted_flags_are_cleared) pending_ &= ~verdict;
  if (!rules_.unacted_flags_stay) pending_ = 0;
  frozen_ ? schedule_.frozen_step_ended(verdict) : schedule_.negotiated_step_ended(order_, verdict);
  return verdict;
}

void DecentralController::append_state(std::string& out) const {
  if (negotiation_) negotiation_->append_state(out);
  const auto append = [&](uint64_t value) { out.append(reinterpret_cast<const char*>(&value), sizeof value); };
  append(static_cast<uint64_t>(step_) << 2 | static_cast<uint64_t>(in_step_) << 1 | static_cast<uint64_t>(frozen_));
  append(uint64_t{pending_} << 32 | words_);
  for (const uint64_t word : marked_.words()) append(word);
  for (const uint64_t word : done_.words()) append(word);
  append(order_.size());
  for (const int unit : order_) append(static_cast<uint64_t>(unit));
  schedule_.append_state(out);
}

}  // namespace bertft
