#include "core/profile.h"

#include "core/error.h"

namespace bertft {
namespace {

thread_local Profile* current_profile = nullptr;

double seconds_between(std::chrono::steady_clock::time_point begin, std::chrono::steady_clock::time_point end) {
  return std::chrono::duration<double>(end - begin).count();
}

}  // namespace

double Profile::own_seconds(int node) const {
  const Node& of = nodes_.at(static_cast<size_t>(node));
  double own = of.seconds;
  for (const int child : of.children) own -= nodes_[static_cast<size_t>(child)].seconds;
  return own;
}

// A node has few children, so they are searched one after the other.
int Profile::enter(const char* name) {
  const std::vector<int>& siblings = open_ < 0 ? root_nodes_ : nodes_[static_cast<size_t>(open_)].children;
  for (const int sibling : siblings) {
    if (nodes_[static_cast<size_t>(sibling)].name == name) return open_ = sibling;
  }
  const int node = static_cast<int>(nodes_.size());
  nodes_.push_back({.name = name, .parent = open_, .calls = 0, .seconds = 0.0, .work = {}, .children = {}});
  (open_ < 0 ? root_nodes_ : nodes_[static_cast<size_t>(open_)].children).push_back(node);
  return open_ = node;
}

void Profile::leave(int node, Clock::time_point begin, const ProfileWork& work) {
  const Clock::time_point end = Clock::now();
  Node& of = nodes_[static_cast<size_t>(node)];
  ++of.calls;
  of.seconds += seconds_between(begin, end);
  of.work.flops += work.flops;
  of.work.bytes += work.bytes;
  if (roots_ < traced_roots_) events_.push_back({node, seconds_between(start_, begin), seconds_between(start_, end)});
  open_ = of.parent;
  if (open_ < 0) ++roots_;
}

ProfileRecording::ProfileRecording(Profile* profile) {
  check(current_profile == nullptr, "a thread has one recording at a time");
  current_profile = profile;
}

ProfileRecording::~ProfileRecording() { current_profile = nullptr; }

ProfileScope::ProfileScope(const char* name, const ProfileWork& work) : profile_(current_profile), work_(work) {
  if (profile_ == nullptr) return;
  node_ = profile_->enter(name);
  begin_ = Profile::Clock::now();
}

ProfileScope::~ProfileScope() {
  if (profile_ != nullptr) profile_->leave(node_, begin_, work_);
}

}  // namespace bertft
