// What joins the ranks of a job before there is a model: a transport, and the watch over it. From here on a lost rank
// is named at once by all others, and one that is late after comm.stall_warn_s, whatever they are busy with.
#pragma once

#include <atomic>
#include <memory>
#include <string>
#include <vector>

#include "comm/non_finite.h"
#include "comm/rank_watch.h"
#include "comm/transport.h"
#include "comm/world.h"

namespace bertft {

class RankLink {
 public:
  // `non_finite`: what the transport writes to.
  RankLink(World world, std::unique_ptr<Transport> transport, WatchSettings settings,
           std::shared_ptr<NonFiniteLog> non_finite);
  // Without close() before: as abort().
  ~RankLink();

  const World& world() const { return world_; }
  Transport& transport() { return *transport_; }
  RankWatch& watch() { return *watch_; }
  const std::shared_ptr<NonFiniteLog>& non_finite() const { return non_finite_; }

  // Collective: Transport::open(), watched.
  void open();
  // Collective: the texts of all ranks, in rank order. Throws CommError as soon as a rank is lost.
  std::vector<std::string> all_gather(const std::string& mine);
  // Tells all ranks why this one ends, and gives them a moment to end first when it only follows another's failure. A
  // second call has no effect.
  void abort(const std::string& cause) noexcept;
  // Collective: good-bye, watched. Throws CommError when a rank is lost before.
  void close();

 private:
  const World world_;
  std::unique_ptr<Transport> transport_;
  const std::shared_ptr<NonFiniteLog> non_finite_;
  std::unique_ptr<RankWatch> watch_;
  std::atomic<bool> is_over_{false};
};

}  // namespace bertft
