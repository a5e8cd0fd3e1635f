// The communicator of a world of one: nothing to exchange, but the same contract, checked.
#pragma once

#include <string>
#include <vector>

#include "comm/communicator.h"

namespace bertft {

class LocalCommunicator final : public Communicator {
 public:
  // `gradients` must outlive this object.
  LocalCommunicator(const Layout& layout, const void* gradients);

  int rank() const override { return 0; }
  int size() const override { return 1; }
  int local_rank() const override { return 0; }
  int local_size() const override { return 1; }
  std::string description() const override { return "one process, nothing to exchange"; }

  const void* sums() const override { return gradients_; }
  void step_begin(int64_t step) override;
  void mark_ready(int unit) override;
  void finish() override;

  void broadcast(void* data, size_t bytes, int root) override;
  std::vector<std::string> all_gather(const std::string& mine) override { return {mine}; }
  void barrier() override {}
  Agreement agree(const Agreement& mine) override { return mine; }
  void abort(const std::string& cause) noexcept override;
  void close() override {}
  Counters counters() const override { return {}; }

 private:
  const void* gradients_;
  std::vector<char> is_ready_;  // per unit, in this step
  bool is_in_step_ = false;
};

}  // namespace bertft
