// The communicator of several ranks: joins a controller (who agrees what is summed when) with a transport (which moves
// bytes). One thread of its own carries the controller's messages, one looks at the words of the node when there are
// any, one for each lane makes the sums; the compute thread announces units and waits at the end. Where the compute
// thread makes the sums it also looks at the words, unless other nodes change them.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <deque>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "comm/comm_observer.h"
#include "comm/communicator.h"
#include "comm/compact_rows.h"
#include "comm/fusion_area.h"
#include "comm/gradient_buffer.h"
#include "comm/negotiator.h"
#include "comm/rank_link.h"
#include "core/layout.h"
#include "core/timer.h"

namespace bertft {

// Who makes the sums.
enum class SumThread {
  kLane,     // a thread for each lane
  kControl,  // one group after the other between two cycles, as Horovod's only thread does
  kCompute,  // the compute thread, in mark_ready() and finish(); within one node
};

struct RankCommunicatorSettings {
  WireType wire = WireType::kFp32;
  SumThread sums = SumThread::kLane;
  bool fuses_by_copy = false;                   // groups of several units travel through the fusion area
  SparseRule sparse_rows = SparseRule::kNever;  // not together with fuses_by_copy
  bool makes_batches = false;  // kLane: all sums that are waiting go to the transport at once; without an observer
  std::shared_ptr<CommObserver> observer = std::make_shared<CommObserver>();  // never null
};

class RankCommunicator final : public Communicator {
 public:
  // Collective. `link`: opened, its transport not attached. `layout` and `gradients` must outlive this object; behind
  // layout.trainable_total elements `gradients` may hold a fusion area.
  RankCommunicator(std::shared_ptr<RankLink> link, std::unique_ptr<Negotiator> negotiator, const Layout& layout,
                   const GradientBuffer& gradients, const RankCommunicatorSettings& settings);
  // Without close() before: as abort().
  ~RankCommunicator() override;

  int rank() const override { return world_.rank; }
  int size() const override { return world_.size; }
  int local_rank() const override { return world_.local_rank; }
  int local_size() const override { return world_.local_size; }
  std::string description() const override;

  const void* sums() const override { return sums_; }
  void set_used_rows(int entry, const std::vector<int32_t>& rows) override { rows_.set_rows(entry, rows); }
  void step_begin(int64_t step) override;
  void mark_ready(int unit) override;
  void finish() override;
  std::vector<NonFinite> take_non_finite() override { return non_finite_->take(); }

  void broadcast(void* data, size_t bytes, int root) override;
  std::vector<std::string> all_gather(const std::string& mine) override;
  void barrier() override;
  Agreement agree(const Agreement& mine) override;
  void abort(const std::string& cause) noexcept override;
  void close() override;
  Counters counters() const override;

 private:
  // Units that travel as one sum.
  struct Sum {
    int64_t step = 0;
    std::vector<int> units;
    int64_t order = 0;     // of its first job
    bool is_last = false;  // of its step
  };

  void run_control();
  void run_bell();
  void flush();
  // rank_communicator_sums.cpp
  void run_lane(int lane);
  std::optional<Sum> next_sum(size_t lane);
  void make_sum(int lane, const Sum& sum);
  void make_batch(int lane, const std::vector<Sum>& sums);
  void make_pending_sums();
  void make_sums_inline();
  void finish_inline();
  void wait_for_agreed();
  void sum_is_done(const std::vector<int>& units, uint32_t word);
  uint32_t flag_word() const;
  ReduceJob job_of(ElementRange range, const Sum& sum, size_t place, uint32_t flags) const;
  ElementRange range_of(int unit) const { return rows_.range_of(unit); }
  void restore_rows();
  void fail(const std::string& cause);
  void require_intact() const;
  std::string position() const;
  void stop_threads();
  double now_s() const { return clock_.seconds(); }
  // Nothing but the words of the node says what is agreed, and the compute thread sums: then it looks there itself, as
  // a thread of its own would take its core for every unit that another rank announces.
  bool is_polled_inline() const {
    return settings_.sums == SumThread::kCompute && world_.nodes == 1 && negotiator_->bell() != nullptr;
  }

  const std::shared_ptr<RankLink> link_;
  const World& world_;
  Transport* const transport_;
  std::unique_ptr<Negotiator> negotiator_;  // under mutex_
  const Layout& layout_;
  const RankCommunicatorSettings settings_;
  FusionArea fusion_;
  CompactRows rows_;  // changed between steps and before the first unit of the table leaves
  std::shared_ptr<NonFiniteLog> non_finite_;
  const void* gradients_;
  const void* results_ = nullptr;  // where the transport leaves sums
  const void* sums_ = nullptr;     // where this object does
  const Timer clock_;

  mutable std::mutex mutex_;
  std::condition_variable changed_;           // for the compute thread
  std::condition_variable work_;              // for the lanes
  std::vector<std::deque<Sum>> lane_queues_;  // one where no lane has a thread
  int64_t step_ = -1;
  int units_left_ = 0;             // of this step: not summed
  int units_to_hand_out_ = 0;      // of this step: not given to a lane
  std::vector<int> posted_units_;  // by the compute thread, in this step
  int64_t next_order_ = 0;         // of the next job
  int next_lane_ = 0;              // of the next sum of this step
  int sums_on_way_ = 0;
  double on_way_since_s_ = 0.0;
  bool is_stopping_ = false;
  bool is_closed_ = false;
  std::string failure_;  // the first cause
  Counters counters_;

  std::thread control_;
  std::thread bell_;
  std::vector<std::thread> lanes_;
};

}  // namespace bertft
