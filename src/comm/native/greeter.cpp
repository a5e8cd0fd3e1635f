#include "comm/native/greeter.h"

#include <fmt/format.h>
#include <poll.h>
#include <sys/socket.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "comm/native/hang_up.h"
#include "comm/native/sockets.h"
#include "core/error.h"
#include "core/log.h"

namespace bertft::native {
namespace {

constexpr auto kAttempt = std::chrono::seconds(3);          // until an address is connected
constexpr auto kAnswerTime = std::chrono::seconds(10);      // and until the other side has answered
constexpr auto kPause = std::chrono::milliseconds(50);      // before an address is tried again
constexpr auto kPatience = std::chrono::seconds(5);         // with a visitor who says nothing
constexpr auto kFarewell = std::chrono::milliseconds(400);  // to reach those who are to be told why the job ends
constexpr size_t kMostVisitors = 4096;

// Small enough for the buffer of a fresh connection.
bool send_whole(const Fd& socket, const std::string& bytes) {
  return ::send(socket.get(), bytes.data(), bytes.size(), MSG_NOSIGNAL) == static_cast<ssize_t>(bytes.size());
}

}  // namespace

Greeter::Greeter(const Topology& topology, const JobSecret& secret) : topology_(topology), secret_(secret) {}

void Greeter::call(Callee callee) {
  calls_.emplace_back();
  calls_.back().callee = std::move(callee);
}

void Greeter::start(Call& call) {
  std::string error;
  if (!call.callee.local_name.empty()) {
    call.socket = connect_local(call.callee.local_name, error);
  } else {
    const std::string& address = call.callee.addresses[call.next_address % call.callee.addresses.size()];
    call.socket = start_connect_tcp(address, call.callee.port, error);
  }
  // All ranks listened before any of them called.
  if (!call.socket && !call.callee.local_name.empty() && is_refused(error)) {
    job_fails(gone_cause(topology_.name_of(call.callee.link.peer)));
  }
  if (!call.socket) return give_up(call, error);
  call.stage = Stage::kConnecting;
  call.until = Clock::now() + kAttempt;
}

void Greeter::give_up(Call& call, const std::string& reason) {
  const Callee& callee = call.callee;
  const std::string place =
      callee.local_name.empty()
          ? fmt::format("{} port {}", callee.addresses[call.next_address % callee.addresses.size()], callee.port)
          : "a local socket";
  call.last_error = fmt::format("{}: {}", place, reason);
  call.socket.reset();
  call.received.clear();
  call.next_address += 1;
  call.stage = Stage::kIdle;
  call.until = Clock::now() + kPause;
}

void Greeter::go_on(Call& call) {
  if (call.stage == Stage::kConnecting) {
    const std::string error = connect_error(call.socket);
    if (!error.empty()) return give_up(call, error);
    const Greeting greeting{topology_.rank, call.callee.link.peer, call.callee.link.channel};
    if (!send_whole(call.socket, encode(greeting, secret_))) return give_up(call, "the connection broke");
    call.stage = Stage::kAwaitsAnswer;
    call.until = Clock::now() + kAnswerTime;
    return;
  }
  char bytes[kAnswerBytes];
  const IoResult io = read_some(call.socket.get(), bytes, kAnswerBytes - call.received.size());
  if (io.is_ended) return give_up(call, "closed before it answered: another job or program listens there");
  call.received.append(bytes, io.count);
  if (call.received.size() < kAnswerBytes) return;
  if (!is_answer(call.received, secret_)) return give_up(call, "the answer is not this job's");
  done_[call.callee.link] = std::move(call.socket);
}

void Greeter::accept_all(const Fd& listener) {
  std::string from;
  while (visitors_.size() < kMostVisitors) {
    Fd socket = accept_from(listener, from);
    if (!socket) return;
    visitors_.push_back({std::move(socket), Clock::now() + kPatience, from, ""});
  }
}

void Greeter::turn_away(const Visitor& visitor, const char* reason) {
  closed_strangers_ += 1;
  log::warn(fmt::format("a connection from {} was closed: {}", visitor.from, reason));
}

bool Greeter::hear(Visitor& visitor) {
  char bytes[kGreetingBytes];
  const IoResult io = read_some(visitor.socket.get(), bytes, kGreetingBytes - visitor.received.size());
  visitor.received.append(bytes, io.count);
  if (visitor.received.size() < kGreetingBytes) {
    if (io.is_ended) turn_away(visitor, "it ended before it said who it is");
    return io.is_ended;
  }
  Greeting greeting;
  if (!decode(visitor.received, secret_, greeting)) {
    turn_away(visitor, "it does not know the secret of this job");
    return true;
  }
  const Link link{greeting.from, greeting.channel};
  const auto place = std::find(expected_.begin(), expected_.end(), link);
  if (greeting.to != topology_.rank || place == expected_.end()) {
    turn_away(visitor, "it is of this job, but nobody waits for it");
    return true;
  }
  // A second call for a link means that the caller gave the first one up.
  if (send_whole(visitor.socket, encode_answer(secret_))) done_[link] = std::move(visitor.socket);
  return true;
}

void Greeter::wait(Clock::time_point end) {
  std::vector<pollfd> polls;
  Clock::time_point next = end;
  for (const Fd& listener : listeners_) {
    polls.push_back({listener.get(), POLLIN, 0});
  }
  for (const Call& call : calls_) {
    if (done_.contains(call.callee.link)) continue;
    next = std::min(next, call.until);
    if (call.stage == Stage::kConnecting) polls.push_back({call.socket.get(), POLLOUT, 0});
    if (call.stage == Stage::kAwaitsAnswer) polls.push_back({call.socket.get(), POLLIN, 0});
  }
  for (const Visitor& visitor : visitors_) {
    next = std::min(next, visitor.until);
    polls.push_back({visitor.socket.get(), POLLIN, 0});
  }
  for (const auto& [link, socket] : done_) {
    if (link.channel == 0 && cause_.empty()) polls.push_back({socket.get(), POLLRDHUP, 0});
  }
  const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(next - Clock::now()).count() + 1;
  ::poll(polls.data(), polls.size(), static_cast<int>(std::max<int64_t>(left, 0)));
}

std::map<Link, Fd> Greeter::run(double timeout_s, double warn_s) {
  const auto in = [now = Clock::now()](double seconds) {
    return now + std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(seconds));
  };
  try {
    connect_all(in(timeout_s), warn_s > 0.0 ? std::optional(in(warn_s)) : std::nullopt);
  } catch (const std::exception& failure) {
    tell_peers(cause_.empty() ? topology_.name_of(topology_.rank) + ": " + failure.what() : cause_);
    throw;
  }
  return std::move(done_);
}

void Greeter::connect_all(Clock::time_point end, std::optional<Clock::time_point> warn_at) {
  while (!is_done()) {
    if (Clock::now() >= end) throw CommError(cause_.empty() ? missing() : cause_);
    if (warn_at && Clock::now() >= *warn_at) {
      warn_at.reset();
      const std::string text = "still connecting: " + missing();
      is_lowest() ? log::warn_of_rank(text) : log::warn(text);
    }
    look_at_calls();
    for (const Fd& listener : listeners_) {
      accept_all(listener);
    }
    look_at_visitors();
    look_at_peers();
    if (!cause_.empty()) end = std::min(end, cause_since_ + kFarewell);
    if (!is_done()) wait(warn_at ? std::min(end, *warn_at) : end);
  }
  if (!cause_.empty()) throw CommError(cause_);
  for (const Visitor& visitor : visitors_) {
    turn_away(visitor, "all ranks of this job are there");
  }
  visitors_.clear();
}

void Greeter::look_at_calls() {
  for (Call& call : calls_) {
    if (done_.contains(call.callee.link)) continue;
    const bool is_late = Clock::now() >= call.until;
    if (call.stage == Stage::kIdle) {
      if (is_late) start(call);
      continue;
    }
    pollfd one = {call.socket.get(), static_cast<short>(call.stage == Stage::kConnecting ? POLLOUT : POLLIN), 0};
    if (::poll(&one, 1, 0) > 0) {
      go_on(call);
    } else if (is_late) {
      give_up(call, "no answer");
    }
  }
}

void Greeter::look_at_visitors() {
  std::erase_if(visitors_, [&](Visitor& visitor) {
    if (hear(visitor)) return true;
    if (Clock::now() < visitor.until) return false;
    turn_away(visitor, "it said nothing");
    return true;
  });
}

// Whether one that was there has ended.
void Greeter::look_at_peers() {
  for (const auto& [link, socket] : done_) {
    if (link.channel != 0 || !cause_.empty()) continue;
    if (const auto cause = cause_of_end(socket, secret_.job, topology_.name_of(link.peer))) job_fails(*cause);
  }
}

// The first cause stands.
void Greeter::job_fails(const std::string& cause) {
  if (!cause_.empty()) return;
  cause_ = cause;
  cause_since_ = Clock::now();
}

void Greeter::tell_peers(const std::string& cause) const {
  for (const auto& [link, socket] : done_) {
    if (link.channel == 0) send_abort(socket, secret_.job, cause);
  }
}

// Of the ranks that are connected.
bool Greeter::is_lowest() const {
  return std::none_of(done_.begin(), done_.end(), [&](const auto& one) { return one.first.peer < topology_.rank; });
}

std::string Greeter::missing() const {
  std::string text;
  int count = 0;
  for (const Call& call : calls_) {
    if (done_.contains(call.callee.link) || ++count > 5) continue;
    text += fmt::format("; {} ({})", topology_.name_of(call.callee.link.peer), call.last_error);
  }
  for (const Link& link : expected_) {
    if (done_.contains(link) || ++count > 5) continue;
    text += fmt::format("; {} (has not called)", topology_.name_of(link.peer));
  }
  return fmt::format(
      "{} of {} connections do not stand{}. Check that the nodes reach each other (firewall, "
      "comm.interface) and that every rank was started",
      count, calls_.size() + expected_.size(), text);
}

}  // namespace bertft::native
