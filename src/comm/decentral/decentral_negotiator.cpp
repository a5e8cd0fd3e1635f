// The decentral controller as a Negotiator in which every rank is a node of its own: the board lies in private memory.
#include <fmt/format.h>

#include <memory>
#include <new>

#include "comm/decentral/controller.h"
#include "comm/negotiator.h"

namespace bertft {
namespace {

constexpr size_t kBoardAlignment = 64;

class BoardMemory {
 public:
  explicit BoardMemory(int units) : bytes_(NodeBoard::bytes(1, units)) {
    memory_ = ::operator new (bytes_, std::align_val_t{kBoardAlignment});
    NodeBoard::format(memory_, 1, units);
  }
  ~BoardMemory() { ::operator delete (memory_, std::align_val_t{kBoardAlignment}); }
  BoardMemory(const BoardMemory&) = delete;
  BoardMemory& operator=(const BoardMemory&) = delete;
  void* data() const { return memory_; }

 private:
  size_t bytes_;
  void* memory_;
};

class DecentralNegotiator final : public Negotiator {
 public:
  DecentralNegotiator(const NegotiatorPlace& place, const Layout& layout, bool is_static)
      : units_(static_cast<int>(layout.units.size())),
        memory_(units_),
        controller_({.job = place.job, .node = place.rank, .nodes = place.size, .layout_hash = layout.hash()},
                    NodeBoard(memory_.data(), 1, units_)) {
    if (is_static) controller_.permit_freezing();
  }

  void step_begin(int64_t step) override { controller_.step_begin(step); }
  void mark_ready(int unit) override { controller_.mark_ready(unit); }
  void raise(uint32_t flags) override { controller_.raise(flags); }
  void receive(int from, std::string_view bytes, double) override { controller_.receive(from, bytes); }
  std::vector<ControlSend> take_messages() override { return controller_.take_messages(); }
  std::vector<AgreedRound> take_rounds() override { return controller_.take_agreed(); }

  uint32_t flag_word() const override { return controller_.is_frozen_step() ? controller_.flag_word() : 0; }
  void unit_done(int unit, uint32_t word) override {
    if (controller_.is_frozen_step()) controller_.unit_done(unit, word);
  }
  bool is_step_done() const override { return controller_.step_done(); }
  uint32_t step_end() override { return controller_.step_end(); }

  std::string position() const override {
    const NegotiationPosition at = controller_.negotiation()->position();
    const std::string marked = fmt::format("{} of {} units ready here", controller_.marked().count(), units_);
    if (controller_.is_frozen_step()) return marked + ", frozen order";
    if (!at.in_flight) return fmt::format("{}, {} agreed, no round on its way", marked, at.agreed.count());
    return fmt::format("{}, {} agreed, round {} waits for rank {}", marked, at.agreed.count(), at.round,
                       at.waiting_for);
  }

 private:
  int units_;
  BoardMemory memory_;
  DecentralController controller_;
};

}  // namespace

std::unique_ptr<Negotiator> make_decentral_negotiator(const NegotiatorPlace& place, const Layout& layout,
                                                      bool is_static) {
  return std::make_unique<DecentralNegotiator>(place, layout, is_static);
}

}  // namespace bertft
