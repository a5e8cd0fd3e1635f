// Notices tensors that some ranks wait for and others never announce, and names both. As StallInspector of Horovod
// 0.28; it sees only ranks that still take part in the cycles: one that stands still stops the cycle itself, and the
// watch over the connections has to name it.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "comm/coordinator/tensor_traits.h"

namespace bertft {

struct CoordinatorStallOptions {
  double warn_s = 60.0;     // 0: no check at all
  double shutdown_s = 0.0;  // 0: never; below warn_s it is taken as 0, as Horovod does
};

struct CoordinatorStallReport {
  std::map<int, std::vector<std::string>> missing;  // rank -> names that it has not announced, sorted
  bool is_shutdown = false;                         // some have been missing for longer than shutdown_s
  std::string text;                                 // for the log: at most six names a rank
};

// All times are of one clock, in seconds. Checks happen at most once in warn_s.
class CoordinatorStall {
 public:
  CoordinatorStall(int size, const CoordinatorStallOptions& options);

  // Rank 0: a rank announced a tensor, or all have and it is answered.
  void announced(int tensor, int rank, double now_s);
  void answered(int tensor);
  // Every rank: a hit waits for the others; it waits no longer.
  void hit_waits(int tensor, double now_s);
  void hit_ends(int tensor);

  bool is_due(double now_s);  // the first call starts the clock
  void checked(double now_s) { last_check_s_ = now_s; }
  // Rank 0: nothing when no tensor waits for longer than warn_s.
  std::optional<CoordinatorStallReport> report(double now_s, const TensorNames& names) const;
  // Every rank: hits that have waited for longer than warn_s, ascending. Their entries are to be erased on all ranks,
  // so that they go the slow way and rank 0 can name who is missing.
  std::vector<int> overdue_hits(double now_s) const;

 private:
  struct Waiting {
    std::vector<bool> has_announced;  // by rank
    double since_s;
  };

  int size_;
  CoordinatorStallOptions options_;
  std::optional<double> last_check_s_;
  std::map<int, Waiting> announced_;  // by tensor
  std::vector<double> hit_since_s_;   // by tensor; NaN: no hit waits
};

}  // namespace bertft
