#include "tests/unit/comm/decentral/negotiation_model.h"

#include <fmt/format.h>

#include <algorithm>

namespace bertft::test {
namespace {

constexpr uint64_t kJob = 77;

void append(std::string& out, uint64_t value) { out.append(reinterpret_cast<const char*>(&value), sizeof value); }

}  // namespace

NegotiationModel::Node::Node(const ModelOptions& options, int index) : watch(index, options.nodes) {
  words.resize(NodeBoard::bytes(options.local_size, options.units) / 8);
  NodeBoard::format(words.data(), options.local_size, options.units);
  const NodeBoard board(words.data(), options.local_size, options.units, options.rules);
  for (int local_rank = 0; local_rank < options.local_size; ++local_rank) {
    ranks.emplace_back(DecentralController({kJob, index, options.nodes, local_rank, 1}, board, options.rules));
  }
}

NegotiationModel::Node::Node(const Node& other)
    : words(other.words),
      ranks(other.ranks),
      watch(other.watch),
      is_dead(other.is_dead),
      is_closed(other.is_closed),
      bell(other.bell) {
  for (Rank& rank : ranks) {
    rank.controller = DecentralController(rank.controller, rank.controller.board().over(words.data()));
  }
}

NegotiationModel::NegotiationModel(const ModelOptions& options) : options_(options) {
  links_.resize(static_cast<size_t>(options.nodes * options.nodes));
  agreed_.resize(static_cast<size_t>(options.steps));
  verdicts_.assign(static_cast<size_t>(options.steps), -1);
  for (int index = 0; index < options.nodes; ++index) nodes_.push_back(std::make_shared<Node>(options, index));
}

NegotiationModel::Node& NegotiationModel::edit(int index) {
  std::shared_ptr<Node>& shared = nodes_[static_cast<size_t>(index)];
  if (shared.use_count() > 1) shared = std::make_shared<Node>(*shared);
  shared->hash.reset();
  return *shared;
}

bool NegotiationModel::works(int index) const { return !node(index).is_dead && !node(index).watch.failed(); }

bool NegotiationModel::has_unsent(int index) const {
  for (int to = 0; to < options_.nodes; ++to) {
    if (link(index, to).size() > options_.capacity) return true;
  }
  return false;
}

bool NegotiationModel::reads(int index) const {
  const Node& reader = node(index);
  if (!is_open(index)) return false;
  if (options_.sends_block && !reader.watch.failed() && has_unsent(index)) return false;
  return options_.failing_ranks_read || !reader.watch.failed();
}

std::vector<int> NegotiationModel::actions() const {
  std::vector<int> actions;
  for (int number = 0; number < rank_count(); ++number) {
    if (works(node_of(number))) add_rank_actions(number, actions);
  }
  for (int index = 0; index < options_.nodes; ++index) {
    if (works(index) && node(index).bell) actions.push_back(action_of(kPoll, index));
    if (!reads(index)) continue;
    for (int from = 0; from < options_.nodes; ++from) {
      if (!link(from, index).empty()) actions.push_back(action_of(kDeliver, from, index));
    }
  }
  for (int index = 0; index < options_.nodes && deaths_ < options_.deaths; ++index) {
    if (!is_open(index)) continue;
    actions.push_back(action_of(kDie, index, 0));
    actions.push_back(action_of(kDie, index, 1));
  }
  return actions;
}

void NegotiationModel::add_rank_actions(int number, std::vector<int>& actions) const {
  const Rank& r = rank(number);
  if (!r.in_step && r.ended == options_.steps) return;
  const uint32_t flag = 1u << (raisings_ % kStatusFlagCount);
  if (raisings_ < options_.flags && (r.raised & flag) == 0) actions.push_back(action_of(kRaise, number));
  if (!r.in_step) {
    actions.push_back(action_of(kBegin, number));
    return;
  }
  for (int i = 0; i < options_.units; ++i) {
    const int unit = options_.any_order ? i : (i + node_of(number)) % options_.units;
    if (r.controller.marked().contains(unit)) continue;
    actions.push_back(action_of(kMark, number, unit));
    if (!options_.any_order) break;
  }
  if (r.controller.step_done()) actions.push_back(action_of(kEnd, number));
  if (!r.controller.is_leader() && !r.controller.board().results(r.ended, r.seen).empty()) {
    actions.push_back(action_of(kLook, number));
  }
}

bool NegotiationModel::is_death(int action) { return parts_of(action).kind == kDie; }

void NegotiationModel::apply(int action) {
  const auto [kind, first, second, unused] = parts_of(action);
  switch (kind) {
    case kBegin: {
      Rank& r = edit_rank(first);
      r.in_step = true;
      r.owed = r.raised;
      r.seen = 0;
      r.controller.step_begin(r.ended);
      raise_as_told(first);
      return settle(first);
    }
    case kMark:
      edit_rank(first).controller.mark_ready(second);
      raise_as_told(first);
      return settle(first);
    case kRaise:
      return raise(first, 1u << (raisings_++ % kStatusFlagCount));
    case kPoll:
      edit(first).bell = false;
      leader_of(first).poll();
      return settle(first * options_.local_size);
    case kLook:
      return look(first);
    case kEnd:
      return end_step(first);
    case kDeliver:
      return deliver(first, second);
    default:
      return die(first, second != 0);
  }
}

void NegotiationModel::raise(int number, uint32_t flag) {
  edit_rank(number).raised |= flag;
  edit_rank(number).controller.raise(flag);
}

void NegotiationModel::raise_as_told(int number) {
  const Rank& r = rank(number);
  const bool is_time = r.ended == 0 && r.controller.marked().count() == options_.raised_after;
  if (number == options_.raiser && is_time) raise(number, options_.raised_flag);
}

// What follows at once from a call of a controller.
void NegotiationModel::settle(int number) {
  const int index = node_of(number);
  DecentralController& controller = edit_rank(number).controller;
  if (controller.take_bells().leader) edit(index).bell = true;
  for (ControlSend& message : controller.take_messages()) {
    if (!is_open(message.to)) continue;
    link(index, message.to).push_back({Item::kMessage, std::move(message.bytes)});
    promise(link(index, message.to).size() <= 2, "a link never holds more than two messages of the negotiation");
  }
  if (!controller.is_leader()) return;
  check_published(index);
  look(number);
}

void NegotiationModel::check_published(int index) {
  const DecentralController& leader = node(index).ranks[0].controller;
  if (leader.step() < 0) return;
  promise(leader.negotiation()->position().round <= options_.nodes * options_.units,
          "a step has at most nodes x units rounds");
  std::vector<AgreedUnit>& known = agreed_[static_cast<size_t>(leader.step())];
  size_t place = 0;
  for (const AgreedRound& round : leader.board().results(leader.step(), 0)) {
    for (const std::vector<int>& group : round.groups) {
      const AgreedUnit unit{group[0], round.round, round.flags};
      if (place < known.size()) {
        promise(known[place++] == unit, "all nodes agree on the same units in the same rounds");
        continue;
      }
      known.push_back(unit);
      ++place;
      for (int number = 0; number < rank_count(); ++number) {
        const Rank& r = rank(number);
        const bool is_here = r.in_step && r.ended == leader.step();
        promise(r.ended > leader.step() || (is_here && r.controller.marked().contains(unit.unit)),
                fmt::format("unit {} is agreed only when rank {} has it ready", unit.unit, number));
      }
    }
  }
}

void NegotiationModel::look(int number) {
  Rank& r = edit_rank(number);
  if (!r.in_step) return;
  const std::vector<AgreedUnit>& known = agreed_[static_cast<size_t>(r.ended)];
  for (const AgreedRound& round : r.controller.take_agreed()) {
    for (const std::vector<int>& group : round.groups) {
      const auto place = static_cast<size_t>(r.seen++);
      promise(place < known.size() && known[place] == AgreedUnit{group[0], round.round, round.flags},
              "a rank sees what its leader agreed on");
    }
  }
}

void NegotiationModel::end_step(int number) {
  Rank& r = edit_rank(number);
  const uint32_t flags = r.controller.step_end();
  int64_t& verdict = verdicts_[static_cast<size_t>(r.ended)];
  promise(verdict < 0 || verdict == flags, "flags act at the same step on all ranks");
  if (verdict < 0) {
    verdict = flags;
    uint32_t raised = 0;
    for (int other = 0; other < rank_count(); ++other) raised |= rank(other).raised;
    promise((flags & ~raised) == 0, "a flag acts only when somebody has raised it, once for each time");
  }
  promise((r.owed & ~flags) == 0, "a flag acts at the end of the step after it was raised, at the latest");
  r.raised &= ~flags;
  r.in_step = false;
  ++r.ended;
  if (r.ended < options_.steps || !watches()) return;
  edit(node_of(number)).watch.finish();
  notify(node_of(number));
}

void NegotiationModel::deliver(int from, int to) {
  const Item item = link(from, to).front();
  link(from, to).erase(link(from, to).begin());
  PeerWatch& watch = edit(to).watch;
  if (item.kind == Item::kEndOfStream) {
    watch.end_of_stream(from, fmt::format("{}", from));
  } else if (item.kind == Item::kAbort) {
    watch.abort_received(from, item.text);
  } else if (item.kind == Item::kBye) {
    watch.bye_received(from);
  } else if (works(to)) {
    leader_of(to).receive(from, item.text);
    settle(to * options_.local_size);
  }
  notify(to);
  close_if_due(from);
}

void NegotiationModel::die(int index, bool loses_messages) {
  ++deaths_;
  edit(index).is_dead = true;
  end_links(index, loses_messages);
}

// Connections end when a process does; what it had not sent is lost, perhaps also what was on its way.
void NegotiationModel::end_links(int index, bool loses_messages) {
  for (int other = 0; other < options_.nodes; ++other) {
    if (other == index) continue;
    Link& out = link(index, other);
    if (out.size() > options_.capacity) out.resize(options_.capacity);
    if (loses_messages || !is_open(other)) out.clear();
    if (is_open(other)) out.push_back({Item::kEndOfStream, ""});
    link(other, index).clear();
  }
  for (int other = 0; other < options_.nodes; ++other) close_if_due(other);
}

void NegotiationModel::notify(int index) {
  for (const PeerNotice& notice : edit(index).watch.take_notices()) {
    if (!is_open(notice.to)) continue;
    const bool is_abort = notice.kind == PeerNotice::Kind::kAbort;
    link(index, notice.to).push_back({is_abort ? Item::kAbort : Item::kBye, notice.cause});
  }
  close_if_due(index);
}

void NegotiationModel::close_if_due(int index) {
  if (!watches() || !is_open(index) || !node(index).watch.may_close()) return;
  const bool hurries = node(index).watch.failed() && !options_.causes_go_first;
  if (has_unsent(index) && !hurries) return;
  edit(index).is_closed = true;
  end_links(index, false);
}

void NegotiationModel::check_stuck() const {
  for (int number = 0; number < rank_count(); ++number) {
    const bool is_done = rank(number).ended == options_.steps;
    promise(is_done || !works(node_of(number)), fmt::format("rank {} is not stuck", number));
  }
  for (int index = 0; index < options_.nodes; ++index) {
    const Node& here = node(index);
    if (here.is_dead) continue;
    promise(!watches() || here.is_closed, fmt::format("node {} comes to its end", index));
    for (int from = 0; from < options_.nodes && !watches(); ++from) {
      promise(link(from, index).empty(), "no message is left over");
    }
    if (!here.watch.failed()) continue;
    const bool is_true = node(std::stoi(here.watch.cause())).is_dead;
    promise(is_true, fmt::format("node {} names one that died, not node {}", index, here.watch.cause()));
  }
}

void NegotiationModel::Node::append_state(std::string& out) const {
  out.push_back(static_cast<char>(is_dead << 2 | is_closed << 1 | int{bell}));
  watch.append_state(out);
  if (is_dead || watch.failed()) return;
  for (const Rank& r : ranks) {
    r.controller.append_state(out);
    append(out, uint64_t{r.raised} << 32 | r.owed);
    append(out, static_cast<uint64_t>(r.ended) << 32 | static_cast<uint64_t>(r.seen) << 1 | uint64_t{r.in_step});
    if (ranks.size() > 1) append(out, r.controller.board().results(r.ended, 0).size());
  }
}

std::string NegotiationModel::fingerprint() const {
  std::string out;
  append(out, static_cast<uint64_t>(raisings_) << 32 | static_cast<uint64_t>(deaths_));
  int slowest = options_.steps;
  for (int index = 0; index < options_.nodes; ++index) {
    const Node& here = node(index);
    if (!here.hash) {
      std::string state;
      here.append_state(state);
      here.hash = hash64(state);
    }
    append(out, *here.hash);
    if (!works(index)) continue;
    for (const Rank& r : here.ranks) slowest = std::min(slowest, r.ended);
  }
  for (const Link& items : links_) {
    append(out, items.size());
    for (const Item& item : items) out += static_cast<char>(item.kind) + item.text;
  }
  for (auto step = static_cast<size_t>(slowest); step < agreed_.size(); ++step) {
    append(out, static_cast<uint64_t>(verdicts_[step]));
    append(out, agreed_[step].size());
    for (const AgreedUnit& unit : agreed_[step]) {
      append(out, static_cast<uint64_t>(unit.unit) << 40 | static_cast<uint64_t>(unit.round) << 8 | unit.flags);
    }
  }
  return out;
}

}  // namespace bertft::test
