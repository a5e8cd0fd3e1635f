#include "tests/unit/comm/decentral/static_model.h"

#include <fmt/format.h>

#include <algorithm>

namespace bertft::test {
namespace {

void append(std::string& out, uint64_t value) { out.append(reinterpret_cast<const char*>(&value), sizeof value); }

}  // namespace

StaticModel::Rank::Rank(const StaticOptions& options, int number)
    : words(NodeBoard::bytes(1, options.units) / 8),
      controller(
          {1, number, options.ranks, 0, 9},
          [&] {
            NodeBoard::format(words.data(), 1, options.units);
            return NodeBoard(words.data(), 1, options.units, options.rules);
          }(),
          options.rules) {
  controller.permit_freezing();
}

StaticModel::Rank::Rank(const Rank& other)
    : words(other.words),
      controller(other.controller, other.controller.board().over(words.data())),
      transfers(other.transfers),
      ended(other.ended),
      in_step(other.in_step),
      raised(other.raised),
      owed(other.owed) {}

StaticModel::StaticModel(const StaticOptions& options) : options_(options), last_step_(kStepsBeforeFreezing) {
  for (int number = 0; number < options.ranks; ++number) ranks_.push_back(std::make_shared<Rank>(options, number));
  links_.resize(static_cast<size_t>(options.ranks * options.ranks));
  slices_.resize(static_cast<size_t>(2 * options.units * options.ranks));
  verdicts_.assign(static_cast<size_t>(kStepsBeforeFreezing + options.steps), -1);
  modes_ = verdicts_;
  for (std::vector<int> open = actions(); !open.empty(); open = actions()) {
    const auto is_raise = [](int action) { return parts_of(action).kind == kRaise; };
    const auto first = std::find_if_not(open.begin(), open.end(), is_raise);
    if (first == open.end()) break;
    apply(*first);
  }
  last_step_ += options.steps;
  for (const auto& r : ranks_) promise(r->ended == kStepsBeforeFreezing, "the first steps end");
}

StaticModel::Rank& StaticModel::edit(int number) {
  std::shared_ptr<Rank>& shared = ranks_[static_cast<size_t>(number)];
  if (shared.use_count() > 1) shared = std::make_shared<Rank>(*shared);
  return *shared;
}

StaticModel::Slice& StaticModel::slice(int64_t step, int unit, int number) {
  const auto index = (static_cast<size_t>(step % 2) * static_cast<size_t>(options_.units) + static_cast<size_t>(unit)) *
                         static_cast<size_t>(options_.ranks) +
                     static_cast<size_t>(number);
  return slices_[index];
}

const StaticModel::Slice& StaticModel::slice(int64_t step, int unit, int number) const {
  return const_cast<StaticModel*>(this)->slice(step, unit, number);
}

// The place in the order of the unit that the lane's worker is at, or -1.
int StaticModel::next_on_lane(const Rank& r, int lane) const {
  for (size_t place = static_cast<size_t>(lane); place < r.transfers.size();
       place += static_cast<size_t>(options_.lanes)) {
    if (!r.transfers[place].is_done) return static_cast<int>(place);
  }
  return -1;
}

std::vector<int> StaticModel::actions() const {
  std::vector<int> actions;
  for (int number = 0; number < options_.ranks; ++number) {
    const Rank& r = rank(number);
    for (int from = 0; from < options_.ranks; ++from) {
      if (!link(from, number).empty()) actions.push_back(action_of(kDeliver, from, number));
    }
    if (!r.in_step && r.ended == last_step_) continue;
    if (raisings_ < options_.raises.size() && (r.raised & options_.raises[raisings_]) == 0) {
      actions.push_back(action_of(kRaise, number));
    }
    if (!r.in_step) {
      actions.push_back(action_of(kBegin, number));
      continue;
    }
    for (int unit = 0; unit < options_.units; ++unit) {
      if (r.controller.marked().contains(unit)) continue;
      actions.push_back(action_of(kMark, number, unit));
      if (r.ended < kStepsBeforeFreezing) break;  // to freeze, the order has to be the same
    }
    if (r.controller.step_done()) actions.push_back(action_of(kEnd, number));
    add_transfers(number, actions);
  }
  return actions;
}

void StaticModel::add_transfers(int number, std::vector<int>& actions) const {
  const Rank& r = rank(number);
  const uint32_t everybody = (1u << options_.ranks) - 1;
  for (int lane = 0; lane < options_.lanes; ++lane) {
    const int place = next_on_lane(r, lane);
    if (place < 0) continue;
    const Transfer& transfer = r.transfers[static_cast<size_t>(place)];
    if (transfer.contributed < options_.ranks) actions.push_back(action_of(kContribute, number, place));
    for (int s = 0; s < options_.ranks; ++s) {
      const Slice& of_unit = slice(r.ended, transfer.unit, s);
      const bool is_closed = of_unit.step == r.ended && of_unit.contributors == everybody;
      const bool is_back = (transfer.returned >> s & 1) != 0;
      if (is_closed && !is_back) actions.push_back(action_of(kReturn, number, place, s));
    }
  }
}

void StaticModel::apply(int action) {
  const auto [kind, first, second, third] = parts_of(action);
  switch (kind) {
    case kBegin:
      return begin(first);
    case kMark:
      edit(first).controller.mark_ready(second);
      return settle(first);
    case kRaise: {
      const uint32_t flag = options_.raises[raisings_++];
      edit(first).raised |= flag;
      return edit(first).controller.raise(flag);
    }
    case kEnd:
      return end(first);
    case kDeliver: {
      const std::string message = link(first, second).front();
      link(first, second).erase(link(first, second).begin());
      edit(second).controller.receive(first, message);
      return settle(second);
    }
    case kContribute:
      return contribute(first, second);
    default:
      return give_back(first, second, third);
  }
}

void StaticModel::begin(int number) {
  Rank& r = edit(number);
  r.in_step = true;
  r.owed = r.raised;
  r.transfers.clear();
  r.controller.step_begin(r.ended);
  int64_t& mode = modes_[static_cast<size_t>(r.ended)];
  promise(mode < 0 || mode == int{r.controller.is_frozen_step()}, "all ranks run a step in the same mode");
  mode = r.controller.is_frozen_step();
  settle(number);
}

void StaticModel::settle(int number) {
  Rank& r = edit(number);
  for (ControlSend& message : r.controller.take_messages())
    link(number, message.to).push_back(std::move(message.bytes));
  for (const AgreedRound& round : r.controller.take_agreed()) {
    if (!r.controller.is_frozen_step()) continue;
    for (const std::vector<int>& group : round.groups) {
      Transfer transfer;
      transfer.unit = group[0];
      r.transfers.push_back(transfer);
    }
  }
}

void StaticModel::contribute(int number, int place) {
  Rank& r = edit(number);
  Transfer& transfer = r.transfers[static_cast<size_t>(place)];
  Slice& to = slice(r.ended, transfer.unit, transfer.contributed++);
  if (to.step != r.ended) to = {r.ended, 0, 0};
  to.contributors |= 1u << number;
  to.word |= r.controller.flag_word();
}

void StaticModel::give_back(int number, int place, int slice_number) {
  Rank& r = edit(number);
  Transfer& transfer = r.transfers[static_cast<size_t>(place)];
  transfer.returned |= 1u << slice_number;
  transfer.word |= slice(r.ended, transfer.unit, slice_number).word;
  const Rank& owner = rank(slice_number);
  if (!options_.words_close_once && owner.controller.is_frozen_step()) transfer.word |= owner.raised;
  if (transfer.returned != (1u << options_.ranks) - 1) return;
  transfer.is_done = true;
  r.controller.unit_done(transfer.unit, transfer.word);
}

void StaticModel::end(int number) {
  Rank& r = edit(number);
  const auto step = static_cast<size_t>(r.ended);
  const uint32_t flags = r.controller.step_end();
  promise(verdicts_[step] < 0 || verdicts_[step] == flags, "flags act at the same step on all ranks");
  if (verdicts_[step] < 0) {
    uint32_t raised = 0;
    for (const auto& other : ranks_) raised |= other->raised;
    promise((flags & ~raised) == 0, "a flag acts only when somebody has raised it, once for each time");
  }
  verdicts_[step] = flags;
  promise((r.owed & ~flags) == 0, "a flag acts at the end of the step after it was raised, at the latest");
  r.raised &= ~flags;
  r.in_step = false;
  frozen_steps_ += int{r.controller.is_frozen_step()};
  r.transfers.clear();
  ++r.ended;
}

void StaticModel::check_stuck() const {
  for (int number = 0; number < options_.ranks; ++number) {
    promise(rank(number).ended == last_step_, fmt::format("rank {} is not stuck", number));
  }
  for (const std::vector<std::string>& messages : links_) promise(messages.empty(), "no message is left over");
  for (size_t step = kStepsBeforeFreezing; step + 1 < verdicts_.size(); ++step) {
    const bool was_frozen = modes_[step] == 1, surprise = (verdicts_[step] & kFlagSurprise) != 0;
    if (was_frozen) promise(modes_[step + 1] == int{!surprise}, "a surprise, and only that, ends the frozen schedule");
  }
}

std::string StaticModel::fingerprint() const {
  std::string out;
  append(out, raisings_);
  int64_t slowest = last_step_;
  for (const auto& r : ranks_) {
    r->controller.append_state(out);
    append(out, static_cast<uint64_t>(r->ended) << 1 | uint64_t{r->in_step});
    append(out, uint64_t{r->raised} << 32 | r->owed);
    append(out, r->transfers.size());
    for (const Transfer& transfer : r->transfers) {
      append(out, static_cast<uint64_t>(transfer.contributed) << 32 | uint64_t{transfer.returned} << 8 |
                      static_cast<uint64_t>(transfer.unit));
      append(out, transfer.word);
    }
    slowest = std::min(slowest, r->ended);
  }
  for (const std::vector<std::string>& messages : links_) {
    append(out, messages.size());
    for (const std::string& message : messages) out += message;
  }
  for (const Slice& s : slices_) {
    if (s.step < slowest) continue;
    append(out,
           static_cast<uint64_t>(&s - slices_.data()) << 48 | static_cast<uint64_t>(s.step) << 32 | s.contributors);
    append(out, s.word);
  }
  for (size_t step = static_cast<size_t>(std::max<int64_t>(slowest - 1, 0)); step < verdicts_.size(); ++step) {
    append(out, static_cast<uint64_t>(verdicts_[step]));
    append(out, static_cast<uint64_t>(modes_[step]));
  }
  return out;
}

}  // namespace bertft::test
