// Where the time of a thread goes: named scopes, one inside the other, counted by their place in that tree. Costs one
// look at a thread-local pointer per scope while nothing is recorded.
#pragma once

#include <chrono>
#include <cstdint>
#include <string_view>
#include <vector>

namespace bertft {

// What one call of an operation has to do, by its shapes.
struct ProfileWork {
  double flops = 0.0;  // floating-point operations
  double bytes = 0.0;  // of its operands and results, each once
};

class Profile {
 public:
  struct Node {
    std::string_view name;
    int parent = -1;  // -1: a root
    int64_t calls = 0;
    double seconds = 0.0;  // children included
    ProfileWork work;      // of all calls, children not included
    std::vector<int> children;
  };
  struct Event {
    int node = 0;
    double begin_s = 0.0, end_s = 0.0;  // since the profile was made
  };

  // Single events are kept of the first `traced_roots` scopes that lie in no other.
  explicit Profile(int64_t traced_roots) : traced_roots_(traced_roots), start_(Clock::now()) {}

  // Parents come before their children. Times of scopes that are still open are not in.
  const std::vector<Node>& nodes() const { return nodes_; }
  const std::vector<Event>& events() const { return events_; }
  // Seconds of a node that no child of it accounts for.
  double own_seconds(int node) const;

 private:
  friend class ProfileScope;
  using Clock = std::chrono::steady_clock;

  int enter(const char* name);
  void leave(int node, Clock::time_point begin, const ProfileWork& work);

  int64_t traced_roots_;
  int64_t roots_ = 0;  // scopes without a parent, ended
  int open_ = -1;      // the innermost
  Clock::time_point start_;
  std::vector<Node> nodes_;
  std::vector<int> root_nodes_;
  std::vector<Event> events_;
};

// While this lives, what the calling thread does is counted in `profile`; null records nothing. One at a time a thread.
class ProfileRecording {
 public:
  explicit ProfileRecording(Profile* profile);
  ~ProfileRecording();
  ProfileRecording(const ProfileRecording&) = delete;
  ProfileRecording& operator=(const ProfileRecording&) = delete;
};

// Part of the recording of this thread, if there is one. `name`: a literal.
class ProfileScope {
 public:
  explicit ProfileScope(const char* name, const ProfileWork& work = {});
  ~ProfileScope();
  ProfileScope(const ProfileScope&) = delete;
  ProfileScope& operator=(const ProfileScope&) = delete;

 private:
  Profile* const profile_;
  const ProfileWork work_;
  int node_ = -1;
  Profile::Clock::time_point begin_;
};

}  // namespace bertft
