// Horovod's controller as a Negotiator: a tensor for each unit, a cycle at fixed times.
#include <fmt/format.h>

#include <utility>

#include "comm/coordinator/coordinator_controller.h"
#include "comm/negotiator.h"
#include "comm/unit_tensors.h"
#include "core/error.h"

namespace bertft {
namespace {

CoordinatorOptions options_of(const NegotiatorPlace& place, const HorovodSettings& settings) {
  return {.rank = place.world.rank,
          .size = place.world.size,
          .job = place.job,
          .cache_capacity = settings.cache_capacity,
          .fusion = {.threshold_bytes = settings.fusion_bytes},
          .stall = {.warn_s = settings.stall_warn_s, .shutdown_s = settings.stall_abort_s},
          .has_timeline = settings.has_timeline};
}

class CoordinatorNegotiator final : public Negotiator {
 public:
  CoordinatorNegotiator(const NegotiatorPlace& place, const Layout& layout, const HorovodSettings& settings)
      : controller_(options_of(place, settings), tensors_of_units(layout), settings.timeline),
        cycle_s_(settings.cycle_s) {}

  void step_begin(int64_t step) override { controller_.step_begin(step); }
  void mark_ready(int unit) override { controller_.mark_ready(unit); }
  void raise(uint32_t flags) override { controller_.raise(flags); }
  void receive(int from, std::string_view bytes, double now_s) override { controller_.receive(from, bytes, now_s); }

  std::optional<double> next_tick_s() const override {
    if (controller_.is_running() || controller_.is_shut_down()) return std::nullopt;
    return last_tick_s_ + cycle_s_;
  }
  void tick(double now_s) override {
    last_tick_s_ = now_s;
    controller_.tick(now_s);
  }

  std::vector<ControlSend> take_messages() override {
    std::vector<ControlSend> messages;
    for (auto& message : controller_.take_messages()) messages.push_back({message.to, std::move(message.bytes)});
    return messages;
  }

  std::vector<AgreedRound> take_rounds() override {
    for (const auto& failure : controller_.take_failures()) {
      throw CommError(fmt::format("unit {} ({}): {}", failure.unit, controller_.unit_name(failure.unit), failure.text));
    }
    return controller_.take_agreed();
  }

  std::vector<std::string> take_reports() override {
    std::vector<std::string> reports;
    for (const CoordinatorStallReport& report : controller_.take_stall_reports()) reports.push_back(report.text);
    return reports;
  }

  bool is_step_done() const override { return controller_.step_done(); }
  uint32_t step_end() override { return controller_.step_end(); }
  void request_shutdown() override { controller_.request_shutdown(); }
  bool is_shut_down() const override { return controller_.is_shut_down(); }

  std::string position() const override {
    const std::vector<int> pending = controller_.pending_units();
    return fmt::format("{} units announced and not agreed, cycle {}{}", pending.size(),
                       controller_.cycle().collectives().cycle(), controller_.is_running() ? " is running" : "");
  }

 private:
  CoordinatorController controller_;
  double cycle_s_;
  double last_tick_s_ = 0.0;
};

}  // namespace

std::unique_ptr<Negotiator> make_coordinator_negotiator(const NegotiatorPlace& place, const Layout& layout,
                                                        const HorovodSettings& settings) {
  return std::make_unique<CoordinatorNegotiator>(place, layout, settings);
}

}  // namespace bertft
