// A job of nodes and their ranks as one state that an explorer can branch: the real controllers, boards and peer
// watches, links of bounded capacity between the leaders, and what the ranks do (mark units, raise flags, die). It
// knows the truth about every rank, and each action checks what the controllers promise against it.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "comm/decentral/controller.h"
#include "comm/peer_watch.h"
#include "tests/unit/comm/decentral/explorer.h"
#include "tests/unit/comm/decentral/model_action.h"

namespace bertft::test {

struct ModelOptions {
  int nodes = 2;
  int local_size = 1;
  int units = 1;
  int steps = 1;
  int flags = 0;                // raisings in all, on any rank at any time; raising k raises flag k % kStatusFlagCount
  int deaths = 0;               // of nodes, at any time; only with one rank a node
  bool any_order = true;        // each rank marks its units in any order; else node i begins with unit i
  size_t capacity = 1;          // messages that a link holds; what does not fit waits at the sender
  bool sends_block = false;     // a node with messages that do not fit reads nothing until they do
  bool causes_go_first = true;  // a rank that fails closes only when everybody has been told why
  bool failing_ranks_read = true;  // and goes on reading until then
  // Beside `flags`: this rank raises this flag in step 0, when it has marked that many units.
  int raiser = -1;
  uint32_t raised_flag = 0;
  int raised_after = 0;
  DecentralRules rules = {};
};

class NegotiationModel {
 public:
  explicit NegotiationModel(const ModelOptions& options);

  std::vector<int> actions() const;
  static std::string name(int action) { return name_of_action(action); }
  static bool is_death(int action);
  void apply(int action);
  std::string fingerprint() const;
  void check_stuck() const;
  // Per step, once it has ended somewhere: the flags that acted; else -1.
  const std::vector<int64_t>& verdicts() const { return verdicts_; }

 private:
  struct Item {
    enum Kind : char { kMessage = 'm', kAbort = 'a', kBye = 'b', kEndOfStream = 'e' };
    Kind kind = kMessage;
    std::string text;
  };

  // Items of one sender to one receiver; the first `capacity` of them are on the wire, the others still at the sender.
  using Link = std::vector<Item>;

  struct Rank {
    explicit Rank(const DecentralController& the_controller) : controller(the_controller) {}
    DecentralController controller;
    int ended = 0;  // steps
    bool in_step = false;
    uint32_t raised = 0;  // the truth: flags raised and not acted on
    uint32_t owed = 0;    // those raised before this step began
    int seen = 0;         // units of this step that this rank has seen agreed
  };

  struct Node {
    explicit Node(const ModelOptions& options, int index);
    Node(const Node& other);
    void append_state(std::string& out) const;

    std::vector<uint64_t> words;  // of the board
    std::vector<Rank> ranks;
    PeerWatch watch;
    bool is_dead = false;
    bool is_closed = false;
    bool bell = false;  // rung by a rank that is not the leader
    mutable std::optional<uint64_t> hash;
  };

  struct AgreedUnit {
    int unit = 0;
    int64_t round = 0;
    uint32_t flags = 0;
    bool operator==(const AgreedUnit&) const = default;
  };

  bool watches() const { return options_.deaths > 0; }
  bool is_open(int index) const { return !node(index).is_dead && !node(index).is_closed; }
  int node_of(int rank) const { return rank / options_.local_size; }
  // Branches share the nodes that they have in common: what is changed is copied first.
  const Node& node(int index) const { return *nodes_[static_cast<size_t>(index)]; }
  Node& edit(int index);
  const Rank& rank(int number) const {
    return node(node_of(number)).ranks[static_cast<size_t>(number % options_.local_size)];
  }
  Rank& edit_rank(int number) { return edit(node_of(number)).ranks[static_cast<size_t>(number % options_.local_size)]; }
  DecentralController& leader_of(int index) { return edit(index).ranks[0].controller; }
  int rank_count() const { return options_.nodes * options_.local_size; }
  Link& link(int from, int to) { return links_[static_cast<size_t>(from * options_.nodes + to)]; }
  const Link& link(int from, int to) const { return links_[static_cast<size_t>(from * options_.nodes + to)]; }
  bool works(int index) const;  // neither dead nor failed
  bool reads(int index) const;
  bool has_unsent(int index) const;

  void add_rank_actions(int number, std::vector<int>& actions) const;
  void end_links(int index, bool loses_messages);
  void deliver(int from, int to);
  void die(int index, bool loses_messages);
  void settle(int number);
  void look(int number);
  void raise(int number, uint32_t flag);
  void raise_as_told(int number);
  void end_step(int number);
  void check_published(int index);
  void notify(int index);
  void close_if_due(int index);

  ModelOptions options_;
  std::vector<std::shared_ptr<Node>> nodes_;
  std::vector<Link> links_;
  int raisings_ = 0;
  int deaths_ = 0;
  std::vector<std::vector<AgreedUnit>> agreed_;  // per step, in order, as the first node published them
  std::vector<int64_t> verdicts_;                // per step: flags, -1 while nobody has ended it
};

}  // namespace bertft::test
