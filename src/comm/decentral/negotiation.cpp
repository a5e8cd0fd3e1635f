#include "comm/decentral/negotiation.h"

#include <fmt/format.h>

#include <utility>

#include "core/error.h"

namespace bertft {
namespace {

void append_number(std::string& out, uint64_t value) {
  out.append(reinterpret_cast<const char*>(&value), sizeof value);
}

void append_words(std::string& out, const std::vector<uint64_t>& words) {
  append_number(out, words.size());
  for (const uint64_t word : words) append_number(out, word);
}

}  // namespace

Negotiation::Negotiation(const NegotiationOptions& options, const DecentralRules& rules)
    : options_(options), rules_(rules), pattern_(options.node, options.nodes) {
  check(options.units > 0, "a negotiation is about at least one unit");
  current_.resize(static_cast<size_t>(pattern_.phases()));
  waiting_.resize(current_.size());
}

void Negotiation::step_begin(int64_t step, const ReadinessSource& source) {
  if (!rules_.later_steps_wait && step == step_) return advance(source, Cause::kLocal);
  check(!open_ && step > step_, "a step begins when the one before is done");
  step_ = step;
  open_ = true;
  round_ = 0;
  flags_ = 0;
  contributed_ = agreed_ = UnitSet(options_.units);
  let_waiting_in();
  advance(source, Cause::kLocal);
}

void Negotiation::poll(const ReadinessSource& source) { advance(source, Cause::kLocal); }

void Negotiation::receive(int from, std::string_view bytes, const ReadinessSource& source) {
  const DecentralHeader header = decode_header(bytes);
  const auto refuse = [&](const char* why) {
    throw CommError(
        fmt::format("node {} sent a negotiation message of step {}, round {}, phase {} that {} (node {} is at step {}, "
                    "round {})",
                    from, header.step, header.round, header.phase, why, options_.node, step_, round_));
  };
  if (header.kind != DecentralKind::kNegotiation) refuse("is of another kind");
  if (header.job != options_.job) refuse("belongs to another job");
  if (header.phase >= pattern_.phases() || from != pattern_.receive_from(header.phase)) {
    refuse("is not that node's to send");
  }
  const bool is_next =
      (open_ && header.step == step_ && header.round == round_ + 1) || (header.step > step_ && header.round == 0);
  const bool is_current = open_ && header.step == step_ && header.round == round_;
  if (!is_current && !is_next) refuse("comes too late or too early");
  const auto phase = static_cast<size_t>(header.phase);
  Slot& slot = is_current ? current_[phase] : waiting_[phase];
  if (slot.message) refuse("was sent before");
  if (is_next && !rules_.later_rounds_wait) return;
  slot = {decode_contribution(bytes, options_.units), header.step, header.round};
  if (!rules_.later_steps_wait && !open_ && step_ >= 0) return enter_early(header.step, source);
  advance(source, Cause::kMessage);
}

bool Negotiation::was_called() const {
  for (const Slot& slot : current_) {
    if (slot.message) return true;
  }
  return false;
}

bool Negotiation::wants_round(const ReadinessSource& source) const {
  const Readiness now = source.read(step_);
  const bool has_grown = !contributed_.includes(now.ready - agreed_);
  return has_grown || (!rules_.flags_start_no_rounds && (now.flags & ~flags_) != 0);
}

void Negotiation::advance(const ReadinessSource& source, Cause cause) {
  const bool may_start = cause == Cause::kLocal || rules_.growth_is_tested_after_rounds;
  while (open_) {
    if (!in_flight_) {
      const bool called = was_called();
      if (!called && !(may_start && wants_round(source))) return;
      if (!called) ++counters_.started;
      join(source.read(step_));
      send_phase(source);
    }
    while (phase_ < pattern_.phases() && current_[static_cast<size_t>(phase_)].message) {
      combined_.combine(*current_[static_cast<size_t>(phase_)].message);
      ++phase_;
      ++counters_.phases;
      send_phase(source);
    }
    if (phase_ < pattern_.phases()) return;
    finish_round(outgoing(source));
  }
}

// The one moment at which this node's bits and flags are read in a round: what it tells one peer it tells all.
void Negotiation::join(const Readiness& now) {
  in_flight_ = true;
  phase_ = 0;
  contributed_ = now.ready - agreed_;
  combined_ = rules_.snapshot_is_taken_once ? Contribution(contributed_, now.flags)
                                            : Contribution(UnitSet::all(options_.units), 0);
}

Contribution Negotiation::outgoing(const ReadinessSource& source) const {
  Contribution contribution = combined_;
  if (!rules_.snapshot_is_taken_once) {
    const Readiness now = source.read(step_);
    contribution.combine(Contribution(now.ready - agreed_, now.flags));
  }
  return contribution;
}

void Negotiation::send_phase(const ReadinessSource& source) {
  if (phase_ == pattern_.phases()) return;
  DecentralHeader header;
  header.job = options_.job;
  header.step = step_;
  header.round = round_;
  header.phase = phase_;
  outbox_.push_back({pattern_.send_to(phase_), encode(header, outgoing(source))});
  ++counters_.messages;
  counters_.bytes += static_cast<int64_t>(outbox_.back().bytes.size());
}

void Negotiation::finish_round(const Contribution& result) {
  AgreedRound agreed;
  agreed.step = step_;
  agreed.round = round_;
  agreed.flags = result.flags();
  const UnitSet units = result.ready();
  for (const int unit : units.to_vector()) agreed.groups.push_back({unit});
  agreed_ |= units;
  flags_ |= agreed.flags;
  done_.push_back(std::move(agreed));
  ++counters_.rounds;
  ++round_;
  in_flight_ = false;
  phase_ = 0;
  combined_ = {};
  for (Slot& slot : current_) slot = {};
  if (agreed_.count() == options_.units) {
    open_ = false;
  } else {
    let_waiting_in();
  }
}

// What came too early belongs to the round that may begin now: nobody can be further ahead, since a round needs all.
void Negotiation::let_waiting_in() {
  for (Slot& slot : waiting_) {
    if (slot.message && (slot.step != step_ || slot.round != round_)) {
      throw CommError(
          fmt::format("a node is at step {}, round {} of the negotiation while node {} is at step {}, round {}",
                      slot.step, slot.round, options_.node, step_, round_));
    }
  }
  std::swap(current_, waiting_);
}

void Negotiation::enter_early(int64_t step, const ReadinessSource& source) {
  const Readiness stale = source.read(step_);
  step_ = step;
  open_ = true;
  round_ = 0;
  flags_ = 0;
  contributed_ = agreed_ = UnitSet(options_.units);
  let_waiting_in();
  join(stale);
  send_phase(source);
  advance(source, Cause::kMessage);
}

std::vector<ControlSend> Negotiation::take_messages() { return std::exchange(outbox_, {}); }

std::vector<AgreedRound> Negotiation::take_agreed() { return std::exchange(done_, {}); }

uint32_t Negotiation::flags() const {
  check(!open_, "the flags of a step are known when it is done");
  return flags_;
}

NegotiationPosition Negotiation::position() const {
  NegotiationPosition position;
  position.step = step_;
  position.round = round_;
  position.in_flight = in_flight_;
  position.phase = phase_;
  if (in_flight_) position.waiting_for = pattern_.receive_from(phase_);
  position.agreed = agreed_;
  return position;
}

void Negotiation::append_state(std::string& out) const {
  append_number(out, static_cast<uint64_t>(step_));
  append_number(out, static_cast<uint64_t>(round_) << 32 | static_cast<uint64_t>(phase_) << 16 |
                         static_cast<uint64_t>(open_) << 1 | static_cast<uint64_t>(in_flight_));
  append_words(out, combined_.words());
  append_words(out, contributed_.words());
  append_words(out, agreed_.words());
  append_number(out, flags_);
  for (const std::vector<Slot>* slots : {&current_, &waiting_}) {
    for (const Slot& slot : *slots) {
      append_number(out, slot.message.has_value());
      if (slot.message) append_words(out, slot.message->words());
    }
  }
}

}  // namespace bertft
