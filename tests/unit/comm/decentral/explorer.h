// Explores every state that a model can reach, in whatever order its actions happen, and reports the first action or
// final state that breaks a promise together with the actions that led there. States are told apart by a 64-bit hash.
#pragma once

#include <cstdint>
#include <deque>
#include <optional>
#include <stdexcept>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "core/hash.h"

namespace bertft::test {

// A promise that does not hold.
struct Violation : std::runtime_error {
  using std::runtime_error::runtime_error;
};

inline void promise(bool holds, const std::string& what) {
  if (!holds) throw Violation(what);
}

struct Exploration {
  size_t states = 0;
  size_t transitions = 0;
  size_t final_states = 0;
  bool is_complete = true;     // false: stopped at the limit
  std::string counterexample;  // "" when every promise holds; else what is broken, and the actions that lead there
};

struct ExploreOptions {
  bool shortest = false;  // breadth first: the counterexample is one of the shortest
  size_t most_states = 20'000'000;
};

// A Model is copyable and has
//   std::vector<int> actions() const    what may happen next
//   std::string name(int action) const
//   void apply(int action)              throws when a promise is broken
//   std::string fingerprint() const     equal exactly for states with equal futures
//   void check_stuck() const            called where nothing can happen any more; throws unless that is a proper end
template <class Model>
class Explorer {
 public:
  static Exploration run(const Model& initial, const ExploreOptions& options) {
    Explorer explorer(options);
    explorer.explore(initial);
    return explorer.result_;
  }

 private:
  struct Origin {
    uint64_t parent = 0;
    int action = -1;
  };

  explicit Explorer(const ExploreOptions& options) : options_(options) {}

  void explore(const Model& initial) {
    const uint64_t root = hash64(initial.fingerprint());
    origins_[root] = {};
    open_.emplace_back(root, initial);
    while (!open_.empty() && result_.counterexample.empty()) {
      if (origins_.size() > options_.most_states) {
        result_.is_complete = false;
        break;
      }
      auto [hash, state] = options_.shortest ? std::move(open_.front()) : std::move(open_.back());
      options_.shortest ? open_.pop_front() : open_.pop_back();
      expand(initial, hash, state);
    }
    result_.states = origins_.size();
  }

  void expand(const Model& initial, uint64_t hash, const Model& state) {
    const std::vector<int> actions = state.actions();
    try {
      if (actions.empty()) {
        state.check_stuck();
        ++result_.final_states;
      }
    } catch (const std::exception& broken) {
      result_.counterexample = std::string(broken.what()) + path(initial, hash, -1);
      return;
    }
    for (const int action : actions) {
      ++result_.transitions;
      Model next = state;
      try {
        next.apply(action);
      } catch (const std::exception& broken) {
        result_.counterexample = std::string(broken.what()) + path(initial, hash, action);
        return;
      }
      const uint64_t key = hash64(next.fingerprint());
      if (origins_.try_emplace(key, Origin{hash, action}).second) open_.emplace_back(key, std::move(next));
    }
  }

  std::string path(const Model& initial, uint64_t hash, int last) const {
    std::vector<int> actions;
    if (last >= 0) actions.push_back(last);
    for (Origin origin = origins_.at(hash); origin.action >= 0; origin = origins_.at(origin.parent)) {
      actions.push_back(origin.action);
    }
    std::string text = "\nafter";
    for (auto action = actions.rbegin(); action != actions.rend(); ++action) text += "\n  " + initial.name(*action);
    return text;
  }

  ExploreOptions options_;
  std::unordered_map<uint64_t, Origin> origins_;
  std::deque<std::pair<uint64_t, Model>> open_;
  Exploration result_;
};

template <class Model>
Exploration explore(const Model& initial, const ExploreOptions& options = {}) {
  return Explorer<Model>::run(initial, options);
}

}  // namespace bertft::test
