// Tells whom a waiting rank waits for, and whether that one is slow or stuck. Ranks that wait say so to all others once
// in a while, and a rank that works answers those with what it does and how far it is; so nothing is sent while nobody
// waits. Pure: no clock, no socket; times are seconds of one clock.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "comm/stall_settings.h"
#include "comm/world.h"

namespace bertft {

// Where a rank is. `point` counts the places where ranks wait for each other, in the same order on all of them.
struct RankStatus {
  int64_t point = 0;  // the last one that it has come to
  bool is_waiting = false;
  int64_t step = 0;     // below 0: before the first one
  uint64_t pieces = 0;  // of work done, core/work_meter.h
  std::string phase;    // what it does unless it waits
};
std::string packed(const RankStatus& status);
RankStatus unpacked_status(std::string_view bytes);  // throws CommError

class StallWatch {
 public:
  StallWatch(const World& world, const StallSettings& settings);

  void wait_begins(int64_t point, double now_s);
  void wait_ends();
  void heard(int rank, const RankStatus& status, double now_s);

  // Whether this rank should tell the others its status now.
  bool has_to_announce(double now_s);

  struct Report {
    std::string late;         // "rank 2 (b), which ...", or that there is no such rank
    double stands_s = 0.0;    // for so long nothing has moved
    bool is_fatal = false;    // longer than abort_s
    bool is_speaker = false;  // of the ranks that wait, this one is to say it on the console
  };
  // To be called several times a second. A gap in between means that this process stood still itself, and counts as no
  // waiting.
  std::optional<Report> look(double now_s);

 private:
  struct Peer {
    std::optional<RankStatus> status;
    double heard_s = 0.0;
    double moved_s = 0.0;  // when its status last showed that it gets on
  };

  bool is_fresh(const Peer& peer, double now_s) const;
  bool is_late(const Peer& peer, double now_s) const;
  std::string describe(int rank, double now_s) const;
  void skip(double gap_s);

  const World& world_;
  const StallSettings settings_;
  std::vector<Peer> peers_;
  int64_t point_ = 0;
  bool is_waiting_ = false;
  double wait_since_s_ = 0.0;
  double last_look_s_ = 0.0;
  std::optional<double> last_warning_s_;
  std::optional<double> last_announcement_s_;
};

}  // namespace bertft
