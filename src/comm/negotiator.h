// What the communicator needs of a controller, whichever it is: events go in, messages and agreed rounds come out.
// Calls must not overlap; nothing in here waits or reads a clock.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "comm/agreed.h"
#include "comm/control_send.h"
#include "comm/shared_memory.h"
#include "comm/world.h"
#include "core/layout.h"

namespace bertft {

class Timeline;

class Negotiator {
 public:
  virtual ~Negotiator() = default;

  virtual void step_begin(int64_t step) = 0;
  virtual void mark_ready(int unit) = 0;
  virtual void raise(uint32_t flags) = 0;  // StatusFlag
  // Throws CommError on bytes that do not belong here.
  virtual void receive(int from, std::string_view bytes, double now_s) = 0;

  // When tick() is wanted next, on the clock of `now_s`; none: never. Only a protocol with a cycle ticks.
  virtual std::optional<double> next_tick_s() const { return std::nullopt; }
  virtual void tick(double /*now_s*/) {}

  // Words that the ranks of a node share, where a protocol has them. bell(): the word that others of the node change
  // and wake (a futex) when this rank shall poll(); none: it never has to. take_bells(): those that this rank is to
  // ring.
  virtual uint32_t* bell() const { return nullptr; }
  virtual void poll() {}
  virtual std::vector<uint32_t*> take_bells() { return {}; }

  // After each of the calls above: what is to be sent, in order, and what may be summed, in order.
  virtual std::vector<ControlSend> take_messages() = 0;
  virtual std::vector<AgreedRound> take_rounds() = 0;
  // Lines for the log about ranks that others wait for.
  virtual std::vector<std::string> take_reports() { return {}; }

  // Bits that travel with the data of a unit, and their OR over the ranks on its return; 0 where flags have messages.
  virtual uint32_t flag_word() const { return 0; }
  virtual void unit_done(int /*unit*/, uint32_t /*word*/) {}

  // All units were handed out and the flags are known. Then step_end() gives those that act now, equal on all ranks.
  virtual bool is_step_done() const = 0;
  virtual uint32_t step_end() = 0;
  // After the last step, on every rank: what is still to be exchanged before the peers may end. is_shut_down() says
  // when nothing more comes or goes.
  virtual void request_shutdown() {}
  virtual bool is_shut_down() const { return true; }
  // The first unit that is not agreed yet, and who is missing as far as this rank can tell; for reports.
  virtual std::string position() const = 0;
};

struct NegotiatorPlace {
  uint64_t job = 0;
  World world = {};
};

// Dissemination of readiness bits among nodes (docs/communicator.md). `is_static`: freezes the order when it repeats.
// `words`: node_words_bytes() that the ranks of this node share, formatted; none, on all ranks: each counts as a node.
std::unique_ptr<Negotiator> make_decentral_negotiator(const NegotiatorPlace& place, const Layout& layout,
                                                      const SharedMemory& words, bool is_static);
size_t node_words_bytes(const Layout& layout, int local_size);
// By one rank of the node, before any of them makes its negotiator.
void format_node_words(const SharedMemory& words, const Layout& layout, int local_size);

struct HorovodSettings {
  double cycle_s = 1e-3;
  int64_t fusion_bytes = int64_t{128} << 20;  // as rounded_threshold() gave it
  int cache_capacity = 1024;
  double stall_warn_s = 0.0;  // 0: no reports
  double stall_abort_s = 0.0;
  bool has_timeline = false;     // rank 0 writes one; alike on all ranks
  Timeline* timeline = nullptr;  // on rank 0; outlives the negotiator
};

// Horovod's cycle with rank 0 as coordinator (docs/communicator-coordinator.md).
std::unique_ptr<Negotiator> make_coordinator_negotiator(const NegotiatorPlace& place, const Layout& layout,
                                                        const HorovodSettings& settings);

}  // namespace bertft
