#include "comm/coordinator/cycle_collectives.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "comm/coordinator/cycle_bytes.h"
#include "core/error.h"

namespace bertft {

using Kind = ExchangeStep::Kind;

namespace {

std::string bytes_of_lengths(const std::vector<uint32_t>& lengths) {
  CycleBytesWriter writer;
  for (const uint32_t length : lengths) {
    writer.u32(length);
  }
  return writer.take();
}

}  // namespace

CycleCollectives::CycleCollectives(const Options& options)
    : options_(options),
      place_(place_in_tree(options.rank, options.size, options.tree)),
      exchange_(recursive_doubling(options.rank, options.size)) {
  check(options.size > 0 && options.rank >= 0 && options.rank < options.size, "a rank of the job");
}

void CycleCollectives::begin_cycle(int64_t steps_done) {
  check(!is_in_cycle_, "a cycle begins before the last one has ended");
  is_in_cycle_ = true;
  ++cycle_;
  steps_done_ = steps_done;
}

void CycleCollectives::end_cycle() {
  check(is_in_cycle_ && is_done(), "a cycle ends within a collective");
  is_in_cycle_ = false;
  const auto left = arrived_.begin();
  if (left != arrived_.end() && std::get<0>(left->first) == cycle_) {
    throw CommError(
        fmt::format("rank {} sent a message of stage {} in cycle {} that nobody waits for: the ranks disagree",
                    std::get<3>(left->first), static_cast<int>(std::get<1>(left->first)), cycle_));
  }
}

void CycleCollectives::start_and(std::vector<uint64_t> words, uint32_t flags) {
  start_reduction(std::move(words), flags, CycleStage::kAnd);
}

void CycleCollectives::start_or(std::vector<uint64_t> words) { start_reduction(std::move(words), 0, CycleStage::kOr); }

void CycleCollectives::start_reduction(std::vector<uint64_t> words, uint32_t flags, CycleStage stage) {
  check(is_in_cycle_ && is_done(), "collectives come one after the other, within a cycle");
  words_ = std::move(words);
  flags_ = flags;
  stage_ = stage;
  next_step_ = 0;
  has_sent_step_ = false;
  state_ = State::kReducing;
  advance();
}

void CycleCollectives::start_gather(std::string mine, uint32_t flags) {
  check(is_in_cycle_ && is_done(), "collectives come one after the other, within a cycle");
  lengths_ = {static_cast<uint32_t>(mine.size())};
  text_ = std::move(mine);
  flags_ = flags;
  texts_.clear();
  next_rank_ = options_.rank + 1;
  state_ = State::kGatheringLengths;
  advance();
}

void CycleCollectives::start_broadcast(std::string text, uint32_t flags) {
  check(is_in_cycle_ && is_done(), "collectives come one after the other, within a cycle");
  text_ = std::move(text);
  flags_ = flags;
  state_ = State::kLengthOfText;
  advance();
}

void CycleCollectives::advance() {
  bool goes_on = true;
  while (goes_on) {
    switch (state_) {
      case State::kReducing:
        goes_on = advance_reduction();
        break;
      case State::kGatheringLengths:
        goes_on = advance_lengths();
        break;
      case State::kGatheringTexts:
        goes_on = advance_texts();
        break;
      case State::kLengthOfText:
        goes_on = advance_length_of_text();
        break;
      case State::kText:
        goes_on = advance_text();
        break;
      case State::kDone:
        return;
    }
  }
}

bool CycleCollectives::advance_reduction() {
  if (next_step_ == exchange_.size()) {
    state_ = State::kDone;
    return true;
  }
  const ExchangeStep& step = exchange_[next_step_];
  if (!has_sent_step_ && (step.kind == Kind::kExchange || step.kind == Kind::kSend)) {
    send(step.peer, stage_, step.phase, flags_, bytes_of_words(words_));
    has_sent_step_ = true;
  }
  if (step.kind != Kind::kSend && !combine(step)) {
    return false;
  }
  ++next_step_;
  has_sent_step_ = false;
  return true;
}

bool CycleCollectives::combine(const ExchangeStep& step) {
  Arrived message;
  if (!take(stage_, step.phase, step.peer, &message)) {
    return false;
  }
  const std::vector<uint64_t> other =
      words_of_bytes(message.payload, words_.size(), fmt::format("vector of rank {}", step.peer));
  if (step.kind == Kind::kReplace) {
    words_ = other;
    flags_ = message.flags;
    return true;
  }
  for (size_t i = 0; i < words_.size(); ++i) {
    words_[i] = stage_ == CycleStage::kAnd ? words_[i] & other[i] : words_[i] | other[i];
  }
  flags_ |= message.flags;
  return true;
}

bool CycleCollectives::advance_lengths() {
  while (next_rank_ < options_.rank + place_.subtree) {
    Arrived message;
    if (!take(CycleStage::kLengths, 0, next_rank_, &message)) {
      return false;
    }
    const int ranks = subtree_of(next_rank_, options_.size, options_.tree);
    CycleBytesReader reader(message.payload, fmt::format("lengths of rank {}", next_rank_));
    for (int i = 0; i < ranks; ++i) {
      lengths_.push_back(reader.u32());
    }
    reader.expect_end();
    next_rank_ += ranks;
  }
  next_rank_ = 1;
  state_ = State::kGatheringTexts;
  if (options_.rank > 0) {
    send(place_.parent, CycleStage::kLengths, 0, 0, bytes_of_lengths(lengths_));
    send(0, CycleStage::kRequests, 0, flags_, text_);
    state_ = State::kDone;
  } else {
    texts_.push_back(std::move(text_));
  }
  return true;
}

bool CycleCollectives::advance_texts() {
  for (; next_rank_ < options_.size; ++next_rank_) {
    Arrived message;
    if (!take(CycleStage::kRequests, 0, next_rank_, &message)) {
      return false;
    }
    if (message.payload.size() != lengths_[static_cast<size_t>(next_rank_)]) {
      throw CommError(fmt::format("rank {} announced {} bytes and sent {}", next_rank_,
                                  lengths_[static_cast<size_t>(next_rank_)], message.payload.size()));
    }
    flags_ |= message.flags;
    texts_.push_back(std::move(message.payload));
  }
  state_ = State::kDone;
  return true;
}

bool CycleCollectives::advance_length_of_text() {
  if (options_.rank == 0) {
    lengths_ = {static_cast<uint32_t>(text_.size())};
  } else {
    Arrived message;
    if (!take(CycleStage::kResponseLength, 0, place_.parent, &message)) {
      return false;
    }
    CycleBytesReader reader(message.payload, fmt::format("length from rank {}", place_.parent));
    lengths_ = {reader.u32()};
    reader.expect_end();
  }
  for (const int child : place_.children) {
    send(child, CycleStage::kResponseLength, 0, 0, bytes_of_lengths(lengths_));
  }
  state_ = State::kText;
  return true;
}

bool CycleCollectives::advance_text() {
  if (options_.rank > 0) {
    Arrived message;
    if (!take(CycleStage::kResponses, 0, place_.parent, &message)) {
      return false;
    }
    if (message.payload.size() != lengths_.front()) {
      throw CommError(
          fmt::format("rank 0 announced {} bytes of responses and sent {}", lengths_.front(), message.payload.size()));
    }
    text_ = std::move(message.payload);
    flags_ = message.flags;
  }
  for (const int child : place_.children) {
    send(child, CycleStage::kResponses, 0, flags_, text_);
  }
  state_ = State::kDone;
  return true;
}

void CycleCollectives::send(int to, CycleStage stage, int phase, uint32_t flags, std::string_view payload) {
  const CycleHeader header{stage, static_cast<uint8_t>(phase), flags, options_.job, steps_done_, cycle_};
  outgoing_.push_back({to, encode(header, payload)});
  sent_[static_cast<size_t>(stage)] += {1, static_cast<int64_t>(outgoing_.back().bytes.size())};
}

bool CycleCollectives::take(CycleStage stage, int phase, int from, Arrived* message) {
  const auto place = arrived_.find({cycle_, stage, phase, from});
  if (place == arrived_.end()) {
    return false;
  }
  *message = std::move(place->second);
  arrived_.erase(place);
  if (message->steps_done != steps_done_) {
    throw CommError(fmt::format("rank {} has agreed on {} steps in cycle {} and this rank on {}", from,
                                message->steps_done, cycle_, steps_done_));
  }
  return true;
}

bool CycleCollectives::is_expected(CycleStage stage, int phase, int from) const {
  switch (stage) {
    case CycleStage::kAnd:
    case CycleStage::kOr:
      return std::any_of(exchange_.begin(), exchange_.end(), [&](const ExchangeStep& step) {
        return step.peer == from && step.phase == phase && step.kind != Kind::kSend;
      });
    case CycleStage::kLengths:
      return phase == 0 && parent_of(from, options_.tree) == options_.rank;
    case CycleStage::kRequests:
      return phase == 0 && options_.rank == 0;
    case CycleStage::kResponseLength:
    case CycleStage::kResponses:
      return phase == 0 && from == place_.parent;
  }
  return false;
}

void CycleCollectives::receive(int from, std::string_view bytes) {
  check(from >= 0 && from < options_.size && from != options_.rank, "messages come from other ranks of the job");
  std::string_view payload;
  const CycleHeader header = decode_cycle_header(bytes, from, &payload);
  if (header.job != options_.job) {
    throw CommError(fmt::format("rank {} sent a message of another job", from));
  }
  const bool is_now = is_in_cycle_ && header.cycle == cycle_;
  if (!is_now && header.cycle != cycle_ + 1) {
    throw CommError(fmt::format("rank {} sent a message of cycle {} while this rank is in cycle {}", from, header.cycle,
                                is_in_cycle_ ? cycle_ : cycle_ + 1));
  }
  if (!is_expected(header.stage, header.phase, from)) {
    throw CommError(fmt::format("rank {} sent stage {} phase {}, which this rank does not expect from it", from,
                                static_cast<int>(header.stage), header.phase));
  }
  Arrived message{header.flags, header.steps_done, std::string(payload)};
  if (!arrived_.try_emplace({header.cycle, header.stage, header.phase, from}, std::move(message)).second) {
    throw CommError(
        fmt::format("rank {} sent stage {} of cycle {} twice", from, static_cast<int>(header.stage), header.cycle));
  }
  if (is_now) {
    advance();
  }
}

std::vector<ControlSend> CycleCollectives::take_messages() { return std::exchange(outgoing_, {}); }

CycleCounts CycleCollectives::sent() const {
  CycleCounts total;
  for (const CycleCounts& counts : sent_) {
    total += counts;
  }
  return total;
}

}  // namespace bertft
