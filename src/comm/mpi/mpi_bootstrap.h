// MPI as the launcher of a job: finds the ranks that mpirun or srun started. No type of MPI appears here.
#pragma once

#include <memory>

#include "comm/bootstrap.h"
#include "comm/start_watch.h"

namespace bertft {

class MpiBootstrap final : public Bootstrap {
 public:
  // Starts MPI, once per process. `expected_size`: how many processes the launcher's variables speak of. Throws
  // CommError when MPI sees another number, as with a launcher that does not know this MPI, and when it lacks what is
  // needed.
  static std::unique_ptr<MpiBootstrap> start(int expected_size);

  int rank() const override { return rank_; }
  int size() const override { return size_; }
  std::vector<std::string> all_gather(const std::string& mine) override;
  void barrier() override;
  void expect_short_waits(const StallSettings& limits) override;
  // Ends MPI; without it the launcher takes the end of the process for a failure, as it should after one.
  void finish() override;

 private:
  MpiBootstrap() = default;
  StartWatch watch_{StallSettings{}};
  StartWatch::Kind kind_ = StartWatch::Kind::kLong;
  int rank_ = 0;
  int size_ = 1;
};

}  // namespace bertft
