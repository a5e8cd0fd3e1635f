#include "bench/exchange.h"

#include <algorithm>
#include <utility>

#include "comm/make_communicator.h"
#include "comm/mpi/plain_allreduce.h"
#include "core/error.h"
#include "core/threads.h"
#include "core/timer.h"

namespace bertft {
namespace {

class CommunicatorExchange final : public Exchange {
 public:
  explicit CommunicatorExchange(std::unique_ptr<Communicator> communicator) : communicator_(std::move(communicator)) {}

  std::string description() const override { return communicator_->description(); }
  bool has_counts() const override { return true; }
  Counters counters() const override { return communicator_->counters(); }
  void barrier() override { communicator_->barrier(); }
  void step_begin(int64_t step) override { communicator_->step_begin(step); }
  void mark_ready(int unit) override { communicator_->mark_ready(unit); }
  void finish() override { communicator_->finish(); }
  const float* sums() const override { return static_cast<const float*>(communicator_->sums()); }
  void abort(const std::string& cause) noexcept override { communicator_->abort(cause); }
  void close() override { communicator_->close(); }

 private:
  std::unique_ptr<Communicator> communicator_;
};

// Nothing is on its way before all gradients are there, as in a program that calls MPI after backward.
class PlainMpiExchange final : public Exchange {
 public:
  PlainMpiExchange(const Layout& layout, const GradientBuffer& gradients, Bootstrap& bootstrap)
      : values_(static_cast<float*>(gradients.data())), elements_(layout.trainable_total), bootstrap_(bootstrap) {}

  std::string description() const override { return "MPI_Allreduce of the whole buffer, in place, after backward"; }
  bool has_counts() const override { return false; }
  Counters counters() const override { return counters_; }
  void barrier() override { bootstrap_.barrier(); }
  void step_begin(int64_t /*step*/) override {}
  void mark_ready(int /*unit*/) override {}
  void finish() override {
    const Timer timer;
    plain_allreduce(values_, elements_);
    counters_.exposed_s += timer.seconds();
    counters_.total_s = counters_.exposed_s;
  }
  const float* sums() const override { return values_; }
  void abort(const std::string& /*cause*/) noexcept override {}  // the launcher ends the others with this process
  void close() override {}

 private:
  float* values_;
  int64_t elements_;
  Bootstrap& bootstrap_;
  Counters counters_;
};

}  // namespace

int64_t elements_for(const std::vector<BenchMode>& modes, const Payload& payload, const World& world) {
  int64_t elements = 0;
  for (const BenchMode& mode : modes) {
    const Layout layout = layout_of(mode, payload);
    const int64_t needed = mode.is_plain_mpi ? layout.trainable_total : gradient_elements(mode.options, layout, world);
    elements = std::max(elements, needed);
  }
  return elements;
}

WireType wire_of(const BenchMode& mode, const World& world) {
  const std::string name = mode.is_plain_mpi ? "fp32" : resolved_wire(mode.options, world);
  for (const WireType type : {WireType::kFp32, WireType::kFp16, WireType::kBf16, WireType::kMixed}) {
    if (name == wire_type_name(type)) return type;
  }
  throw InternalError("a wire type that there is not: " + name);
}

std::unique_ptr<Exchange> open_exchange(const BenchMode& mode, const Layout& layout, const GradientBuffer& gradients,
                                        const World& world, Bootstrap& bootstrap) {
  if (mode.is_plain_mpi) return std::make_unique<PlainMpiExchange>(layout, gradients, bootstrap);
  const bool are_cores_filled = world.local_size >= usable_cores();  // one compute thread a rank
  return std::make_unique<CommunicatorExchange>(
      make_communicator(mode.options, layout, world, bootstrap, gradients, are_cores_filled));
}

}  // namespace bertft
