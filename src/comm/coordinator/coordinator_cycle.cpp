#include "comm/coordinator/coordinator_cycle.h"

#include <fmt/format.h>

#include <utility>

#include "core/error.h"

namespace bertft {

CoordinatorCycle::CoordinatorCycle(const CoordinatorOptions& options, Timeline* timeline)
    : options_(options),
      timeline_(options.rank == 0 && options.has_timeline ? timeline : nullptr),
      cache_(options.cache_capacity),
      table_(options.size),
      stall_(options.size, options.stall),
      collectives_({options.rank, options.size, options.job, options.tree}) {}

void CoordinatorCycle::announce(int tensor, SharedTraits traits) {
  check(has_valid_shape(*traits), "a tensor with an impossible shape");
  queue_.add(tensor, std::move(traits), names_);
}

void CoordinatorCycle::tick(double now_s, uint32_t flags, int64_t steps_done, bool wants_shutdown) {
  check(!is_running() && !outcome_, "a cycle begins before the last one is done with");
  check(!is_shut_down_, "a cycle after the shutdown");
  collectives_.begin_cycle(steps_done);
  current_ = {};
  current_.cycle = collectives_.cycle();
  flags_ = flags;
  vote_ = CycleVote(cache_.bits(), options_.has_timeline);
  waiting_ = queue_.take_waiting();
  if (cache_.capacity() > 0) {
    look_up(now_s);
  }
  check_for_stall(now_s, &wants_shutdown);
  if (wants_shutdown) {
    vote_.say_shutdown();
  }
  if (timeline_ != nullptr) {
    timeline_->mark_cycle(now_s);
  }
  if (cache_.capacity() > 0) {
    phase_ = Phase::kVoting;
    collectives_.start_and(vote_.and_words(), flags_);
  } else {
    start_slow_path();
  }
  advance(now_s);
}

void CoordinatorCycle::look_up(double now_s) {
  for (const TensorRequest& request : waiting_) {
    switch (cache_.state(request.tensor, request.traits)) {
      case CacheState::kHit:
        vote_.add_hit(cache_.bit(request.tensor));
        stall_.hit_waits(request.tensor, now_s);
        break;
      case CacheState::kInvalid:
        vote_.add_invalid(cache_.bit(request.tensor));
        stall_.hit_ends(request.tensor);
        break;
      case CacheState::kMiss:
        vote_.say_uncached();
        stall_.hit_ends(request.tensor);
        break;
    }
  }
}

void CoordinatorCycle::check_for_stall(double now_s, bool* wants_shutdown) {
  if (!stall_.is_due(now_s)) {
    return;
  }
  if (options_.rank == 0) {
    current_.stall = stall_.report(now_s, names_);
    *wants_shutdown = *wants_shutdown || (current_.stall && current_.stall->is_shutdown);
  }
  for (const int tensor : stall_.overdue_hits(now_s)) {
    vote_.add_invalid(cache_.bit(tensor));
  }
  stall_.checked(now_s);
}

void CoordinatorCycle::receive(int from, std::string_view bytes, double now_s) {
  collectives_.receive(from, bytes);
  if (is_running()) {
    advance(now_s);
  }
}

// Goes on from collective to collective until one has to wait for messages.
void CoordinatorCycle::advance(double now_s) {
  while (is_running() && collectives_.is_done()) {
    switch (phase_) {
      case Phase::kVoting:
        vote_.apply_and(collectives_.words());
        current_.flags = collectives_.flags();
        if (vote_.is_invalid()) {
          phase_ = Phase::kErasing;
          collectives_.start_or(vote_.or_words());
        } else {
          settle_hits(now_s);
        }
        break;
      case Phase::kErasing:
        vote_.apply_or(collectives_.words());
        erase_invalid();
        settle_hits(now_s);
        break;
      case Phase::kGathering:
        answer(now_s);
        break;
      case Phase::kAnswering:
        adopt_answer();
        break;
      case Phase::kIdle:
        return;
    }
  }
}

void CoordinatorCycle::erase_invalid() {
  for (const int bit : vote_.invalid().to_vector()) {
    cache_.erase(bit);
  }
}

// Divides what waits into common hits, hits that have to wait, and misses, which stay in `waiting_` for the slow path.
void CoordinatorCycle::settle_hits(double now_s) {
  if (timeline_ != nullptr) {
    for (const int bit : vote_.any_hits().to_vector()) {
      timeline_->negotiate_start(names_.name(cache_.tensor(bit)), now_s);
    }
    for (const int bit : vote_.hits().to_vector()) {
      timeline_->negotiate_end(names_.name(cache_.tensor(bit)), now_s);
    }
  }
  std::vector<TensorRequest> misses;
  for (const TensorRequest& request : waiting_) {
    const bool is_hit = cache_.state(request.tensor, request.traits) == CacheState::kHit;
    if (is_hit && !vote_.hits().contains(cache_.bit(request.tensor))) {
      queue_.put_back(request);
      continue;
    }
    stall_.hit_ends(request.tensor);
    if (!is_hit) {
      misses.push_back(request);
    }
  }
  waiting_ = std::move(misses);
  current_.is_shutdown = vote_.is_shutdown();
  if (vote_.is_uncached()) {
    start_slow_path();
    return;
  }
  std::vector<TensorResponse> responses;
  for (const int bit : vote_.hits().to_vector()) {
    responses.push_back(cache_.use(bit));
  }
  current_.path = responses.empty() ? CycleOutcome::Path::kNothing : CycleOutcome::Path::kFast;
  current_.responses = fused(std::move(responses), options_.fusion);
  end_cycle();
}

void CoordinatorCycle::start_slow_path() {
  const bool has_flags_left = cache_.capacity() == 0;  // else the AND has carried them
  RequestList list;
  list.shutdown = vote_.is_shutdown();
  list.requests = waiting_;
  phase_ = Phase::kGathering;
  current_.path = CycleOutcome::Path::kSlow;
  const std::string mine = options_.rank == 0 ? std::string() : encode(list, names_);
  collectives_.start_gather(mine, has_flags_left ? flags_ : 0);
}

void CoordinatorCycle::record(int rank, const TensorRequest& request, std::vector<int>* ready, double now_s) {
  const std::string& name = names_.name(request.tensor);
  if (timeline_ != nullptr) {
    timeline_->negotiate_start(name, now_s);
    timeline_->negotiate_rank_ready(name, rank, now_s);
  }
  const bool is_complete = table_.add(rank, request, names_);
  stall_.announced(request.tensor, rank, now_s);
  if (is_complete) {
    ready->push_back(request.tensor);
    if (timeline_ != nullptr) {
      timeline_->negotiate_end(name, now_s);
    }
  }
}

// Rank 0: counts all requests, answers those that are complete. The others only wait for the answer.
void CoordinatorCycle::answer(double now_s) {
  phase_ = Phase::kAnswering;
  if (options_.rank > 0) {
    collectives_.start_broadcast({}, 0);
    return;
  }
  answer_ = {};
  answer_.shutdown = vote_.is_shutdown();
  std::vector<int> ready;
  for (const TensorRequest& request : waiting_) {
    record(0, request, &ready, now_s);
  }
  for (int rank = 1; rank < options_.size; ++rank) {
    const RequestList list = decode_requests(collectives_.gathered()[static_cast<size_t>(rank)], rank, names_);
    answer_.shutdown = answer_.shutdown || list.shutdown;
    for (const TensorRequest& request : list.requests) {
      record(rank, request, &ready, now_s);
    }
  }
  for (const int bit : vote_.hits().to_vector()) {
    answer_.responses.push_back(cache_.peek(bit));
  }
  for (const int tensor : ready) {
    answer_.responses.push_back(table_.take_response(tensor, names_));
    stall_.answered(tensor);
  }
  answer_.responses = fused(std::move(answer_.responses), options_.fusion);
  collectives_.start_broadcast(encode(answer_, names_), collectives_.flags());
}

void CoordinatorCycle::adopt_answer() {
  ResponseList list =
      options_.rank == 0 ? std::move(answer_) : decode_responses(collectives_.text(), options_.size, names_);
  current_.is_shutdown = list.shutdown;
  current_.flags |= collectives_.flags();
  for (const TensorResponse& response : list.responses) {
    std::vector<SharedTraits> traits;
    for (size_t i = 0; i < response.tensors.size(); ++i) {
      const SharedTraits own = queue_.in_flight(response.tensors[i]);
      const bool is_error = response.response == ResponseType::kError;
      if (!own || (!is_error &&
                   (own->type != response.type || own->op != response.op || own->elements() != response.elements[i]))) {
        throw CommError(fmt::format("rank 0 answered about {}, which this rank has not announced in that form",
                                    names_.name(response.tensors[i])));
      }
      traits.push_back(own);
    }
    if (response.response == ResponseType::kAllreduce) {
      cache_.put(response, traits);
    }
  }
  current_.responses = std::move(list.responses);
  end_cycle();
}

void CoordinatorCycle::end_cycle() {
  for (const TensorResponse& response : current_.responses) {
    for (const int tensor : response.tensors) {
      if (!queue_.in_flight(tensor)) {
        throw CommError(fmt::format("the answer names {} twice", names_.name(tensor)));
      }
      queue_.finish(tensor);
    }
  }
  cache_.renumber();
  collectives_.end_cycle();
  waiting_.clear();
  phase_ = Phase::kIdle;
  is_shut_down_ = current_.is_shutdown;
  outcome_ = std::move(current_);
}

std::optional<CycleOutcome> CoordinatorCycle::take_outcome() { return std::exchange(outcome_, std::nullopt); }

}  // namespace bertft
