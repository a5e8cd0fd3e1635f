// One rank's side of opening connections: calls those that listen, answers those that call and know the secret, until
// all expected links stand. One thread, nothing blocks but poll().
#pragma once

#include <chrono>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "comm/native/fd.h"
#include "comm/native/frames.h"
#include "comm/native/topology.h"

namespace bertft::native {

// How a peer is reached: over TCP at one of several addresses, or by the name of a local socket.
struct Callee {
  Link link;
  std::vector<std::string> addresses;  // tried in turn, again and again
  int port = 0;
  std::string local_name;  // used when not empty
};

class Greeter {
 public:
  Greeter(const Topology& topology, const JobSecret& secret);

  void add_listener(Fd listener) { listeners_.push_back(std::move(listener)); }
  void call(Callee callee);
  void expect(Link link) { expected_.push_back(link); }

  // Returns all connections. Throws CommError after `timeout_s`, naming whom it still waits for and what was tried, and
  // with the cause soon after a peer has ended; tells those that are connected why. After `warn_s` (0:
  // never) the lowest rank that is there warns.
  std::map<Link, Fd> run(double timeout_s, double warn_s = 0.0);
  // Connections that were closed because they did not belong to the job.
  int64_t closed_strangers() const { return closed_strangers_; }

 private:
  using Clock = std::chrono::steady_clock;
  enum class Stage { kIdle, kConnecting, kAwaitsAnswer };
  struct Call {
    Callee callee;
    Fd socket;
    Stage stage = Stage::kIdle;
    size_t next_address = 0;
    Clock::time_point until;  // kIdle: when to try again; else when to give this attempt up
    std::string received;
    std::string last_error;
  };
  struct Visitor {
    Fd socket;
    Clock::time_point until;
    std::string from;
    std::string received;
  };

  void start(Call& call);
  void give_up(Call& call, const std::string& reason);
  void go_on(Call& call);
  bool hear(Visitor& visitor);  // true when the visitor is dealt with
  void turn_away(const Visitor& visitor, const char* reason);
  void accept_all(const Fd& listener);
  bool is_done() const { return done_.size() == calls_.size() + expected_.size(); }
  void connect_all(Clock::time_point end, std::optional<Clock::time_point> warn_at);
  void look_at_calls();
  void look_at_visitors();
  void look_at_peers();
  void job_fails(const std::string& cause);
  void tell_peers(const std::string& cause) const;
  bool is_lowest() const;
  void wait(Clock::time_point end);
  std::string missing() const;

  const Topology& topology_;
  const JobSecret& secret_;
  std::vector<Fd> listeners_;
  std::vector<Call> calls_;
  std::vector<Visitor> visitors_;
  std::vector<Link> expected_;
  std::map<Link, Fd> done_;
  std::string cause_;  // why the job cannot come together, as all ranks shall say it
  Clock::time_point cause_since_;
  int64_t closed_strangers_ = 0;
};

}  // namespace bertft::native
