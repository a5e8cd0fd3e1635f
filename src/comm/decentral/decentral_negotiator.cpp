// The decentral controller as a Negotiator: messages between ranks instead of nodes, and the board of the node in the
// words that its ranks share. Where there are none each rank is a node of its own.
#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <new>

#include "comm/decentral/controller.h"
#include "comm/negotiator.h"
#include "core/error.h"

namespace bertft {
namespace {

constexpr size_t kBoardAlignment = 64;

int units_of(const Layout& layout) { return static_cast<int>(layout.units.size()); }

// A board that no other process sees.
class PrivateWords {
 public:
  explicit PrivateWords(int units) {
    memory_ = ::operator new (NodeBoard::bytes(1, units), std::align_val_t{kBoardAlignment});
    NodeBoard::format(memory_, 1, units);
  }
  ~PrivateWords() { ::operator delete (memory_, std::align_val_t{kBoardAlignment}); }
  PrivateWords(const PrivateWords&) = delete;
  PrivateWords& operator=(const PrivateWords&) = delete;
  void* data() const { return memory_; }

 private:
  void* memory_;
};

// Which rank speaks for each node.
class Leaders {
 public:
  Leaders(const World& world, bool are_nodes_shared) {
    for (int rank = 0; rank < world.size; ++rank) {
      const int node = are_nodes_shared ? world.node_of[static_cast<size_t>(rank)] : rank;
      if (node == nodes()) ranks_.push_back(rank);  // nodes are numbered by their lowest rank
    }
  }
  int nodes() const { return static_cast<int>(ranks_.size()); }
  int rank_of(int node) const { return ranks_[static_cast<size_t>(node)]; }
  // -1: a rank that leads no node.
  int node_of(int rank) const {
    const auto at = std::lower_bound(ranks_.begin(), ranks_.end(), rank);
    return at != ranks_.end() && *at == rank ? static_cast<int>(at - ranks_.begin()) : -1;
  }

 private:
  std::vector<int> ranks_;  // [nodes], ascending
};

class DecentralNegotiator final : public Negotiator {
 public:
  DecentralNegotiator(const NegotiatorPlace& place, const Layout& layout, const SharedMemory& words, bool is_static)
      : world_(place.world),
        shared_words_(words),
        leaders_(world_, static_cast<bool>(words)),
        units_(units_of(layout)),
        private_words_(words ? nullptr : std::make_unique<PrivateWords>(units_)),
        controller_({.job = place.job,
                     .node = words ? world_.node : world_.rank,
                     .nodes = leaders_.nodes(),
                     .local_rank = words ? world_.local_rank : 0,
                     .layout_hash = layout.hash()},
                    NodeBoard(words ? words.data() : private_words_->data(), words ? world_.local_size : 1, units_)) {
    if (is_static) controller_.permit_freezing();
  }

  void step_begin(int64_t step) override { controller_.step_begin(step); }
  void mark_ready(int unit) override { controller_.mark_ready(unit); }
  void raise(uint32_t flags) override { controller_.raise(flags); }
  void receive(int from, std::string_view bytes, double) override {
    const int node = leaders_.node_of(from);
    if (node < 0) throw CommError(fmt::format("{} sent a message of a leader, which it is not", world_.name_of(from)));
    controller_.receive(node, bytes);
  }

  uint32_t* bell() const override {
    if (!shared_words_ || world_.local_size == 1) return nullptr;
    return controller_.is_leader() ? controller_.board().leader_bell() : controller_.board().member_bell();
  }
  void poll() override { controller_.poll(); }
  std::vector<uint32_t*> take_bells() override {
    const Bells bells = controller_.take_bells();
    if (!shared_words_) return {};
    std::vector<uint32_t*> words;
    if (bells.leader) words.push_back(controller_.board().leader_bell());
    if (bells.members) words.push_back(controller_.board().member_bell());
    return words;
  }

  std::vector<ControlSend> take_messages() override {
    std::vector<ControlSend> messages = controller_.take_messages();
    for (ControlSend& message : messages) message.to = leaders_.rank_of(message.to);
    return messages;
  }
  std::vector<AgreedRound> take_rounds() override { return controller_.take_agreed(); }

  uint32_t flag_word() const override { return controller_.is_frozen_step() ? controller_.flag_word() : 0; }
  void unit_done(int unit, uint32_t word) override {
    if (controller_.is_frozen_step()) controller_.unit_done(unit, word);
  }
  bool is_step_done() const override { return controller_.step_done(); }
  uint32_t step_end() override { return controller_.step_end(); }

  std::string position() const override {
    const std::string marked = fmt::format("{} of {} units ready here", controller_.marked().count(), units_);
    if (controller_.is_frozen_step()) return marked + ", frozen order";
    const Negotiation* negotiation = controller_.negotiation();
    if (negotiation == nullptr) return marked;
    const NegotiationPosition at = negotiation->position();
    if (at.in_flight) {
      return fmt::format("{}, {} agreed, round {} waits for rank {}", marked, at.agreed.count(), at.round,
                         leaders_.rank_of(at.waiting_for));
    }
    return fmt::format("{}, {} agreed, no round on its way", marked, at.agreed.count());
  }

 private:
  const World world_;
  const SharedMemory shared_words_;
  const Leaders leaders_;
  const int units_;
  const std::unique_ptr<PrivateWords> private_words_;
  DecentralController controller_;
};

}  // namespace

std::unique_ptr<Negotiator> make_decentral_negotiator(const NegotiatorPlace& place, const Layout& layout,
                                                      const SharedMemory& words, bool is_static) {
  return std::make_unique<DecentralNegotiator>(place, layout, words, is_static);
}

size_t node_words_bytes(const Layout& layout, int local_size) { return NodeBoard::bytes(local_size, units_of(layout)); }

void format_node_words(const SharedMemory& words, const Layout& layout, int local_size) {
  NodeBoard::format(words.data(), local_size, units_of(layout));
}

}  // namespace bertft
