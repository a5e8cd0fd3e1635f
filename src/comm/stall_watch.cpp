#include "comm/stall_watch.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "core/error.h"

namespace bertft {
namespace {

constexpr double kGap = 1.0;  // s between two looks: this process was stopped
constexpr size_t kMostNamed = 8;

struct Fixed {
  int64_t point;
  int64_t step;
  uint64_t pieces;
  uint64_t is_waiting;
};

}  // namespace

std::string packed(const RankStatus& status) {
  const Fixed fixed{status.point, status.step, status.pieces, status.is_waiting ? uint64_t{1} : uint64_t{0}};
  std::string bytes(sizeof fixed, '\0');
  std::memcpy(bytes.data(), &fixed, sizeof fixed);
  return bytes + status.phase;
}

RankStatus unpacked_status(std::string_view bytes) {
  Fixed fixed{};
  if (bytes.size() < sizeof fixed) throw CommError("a rank sent a status of another form");
  std::memcpy(&fixed, bytes.data(), sizeof fixed);
  return {fixed.point, fixed.is_waiting != 0, fixed.step, fixed.pieces, std::string(bytes.substr(sizeof fixed))};
}

double StallSettings::announce_every_s() const {
  const double limit = warn_s > 0.0 && abort_s > 0.0 ? std::min(warn_s, abort_s) : std::max(warn_s, abort_s);
  return std::clamp(limit / 4.0, 0.1, 1.0);
}

StallWatch::StallWatch(const World& world, const StallSettings& settings)
    : world_(world), settings_(settings), peers_(static_cast<size_t>(world.size)) {}

void StallWatch::wait_begins(int64_t point, double now_s) {
  point_ = point;
  is_waiting_ = true;
  wait_since_s_ = now_s;
}

void StallWatch::wait_ends() {
  is_waiting_ = false;
  last_warning_s_.reset();
}

void StallWatch::heard(int rank, const RankStatus& status, double now_s) {
  Peer& peer = peers_.at(static_cast<size_t>(rank));
  const bool has_moved = !peer.status || peer.status->pieces != status.pieces || peer.status->point != status.point ||
                         peer.status->step != status.step;
  if (has_moved) peer.moved_s = now_s;
  peer.status = status;
  peer.heard_s = now_s;
}

// Late messages of a loaded machine are not silence.
bool StallWatch::is_fresh(const Peer& peer, double now_s) const {
  return peer.status && now_s - peer.heard_s < 3.0 * settings_.announce_every_s() + 0.5;
}

bool StallWatch::is_late(const Peer& peer, double now_s) const {
  return !is_fresh(peer, now_s) || peer.status->point < point_ ||
         (peer.status->point == point_ && !peer.status->is_waiting);
}

bool StallWatch::has_to_announce(double now_s) {
  if (!settings_.is_on()) return false;
  if (last_announcement_s_ && now_s - *last_announcement_s_ < settings_.announce_every_s()) return false;
  const bool is_asked = std::any_of(peers_.begin(), peers_.end(), [&](const Peer& peer) {
    return is_fresh(peer, now_s) && peer.status->is_waiting && peer.status->point >= point_;
  });
  const bool has_waited = is_waiting_ && now_s - wait_since_s_ >= settings_.announce_every_s();
  if (!has_waited && !is_asked) return false;
  last_announcement_s_ = now_s;
  return true;
}

std::string StallWatch::describe(int rank, double now_s) const {
  const Peer& peer = peers_[static_cast<size_t>(rank)];
  const std::string name = world_.name_of(rank);
  if (!is_fresh(peer, now_s)) {
    return fmt::format("{}, which has said nothing for {:.0f} s: its process is stopped or its machine overloaded",
                       name, now_s - std::max(peer.heard_s, wait_since_s_));
  }
  const RankStatus& status = *peer.status;
  const std::string step = status.step < 0 ? "" : fmt::format(" in step {}", status.step);
  if (status.is_waiting) return fmt::format("{}, which waits at an earlier place{}", name, step);
  return fmt::format("{}, which is {}{} and has not got on for {:.0f} s", name, status.phase, step,
                     now_s - std::max(peer.moved_s, wait_since_s_));
}

void StallWatch::skip(double gap_s) {
  wait_since_s_ += gap_s;
  if (last_warning_s_) *last_warning_s_ += gap_s;
  for (Peer& peer : peers_) {
    peer.heard_s += gap_s;
    peer.moved_s += gap_s;
  }
}

std::optional<StallWatch::Report> StallWatch::look(double now_s) {
  if (now_s - last_look_s_ > kGap && last_look_s_ > 0.0) skip(now_s - last_look_s_);
  last_look_s_ = now_s;
  if (!is_waiting_) return std::nullopt;
  std::vector<int> late;
  double stands_s = 0.0;
  int first_waiting = world_.rank;
  for (int rank = 0; rank < world_.size; ++rank) {
    const Peer& peer = peers_[static_cast<size_t>(rank)];
    if (rank == world_.rank) continue;
    if (!is_late(peer, now_s)) {
      first_waiting = std::min(first_waiting, rank);
      continue;
    }
    late.push_back(rank);
    const double moved_s = is_fresh(peer, now_s) ? std::max(peer.moved_s, wait_since_s_) : wait_since_s_;
    stands_s = std::max(stands_s, now_s - moved_s);
  }
  if (late.empty()) stands_s = now_s - wait_since_s_;
  const bool is_fatal = settings_.abort_s > 0.0 && stands_s >= settings_.abort_s;
  const bool is_warning = settings_.warn_s > 0.0 && stands_s >= settings_.warn_s &&
                          (!last_warning_s_ || now_s - *last_warning_s_ >= settings_.warn_s);
  if (!is_fatal && !is_warning) return std::nullopt;
  last_warning_s_ = now_s;
  std::string names;
  for (size_t i = 0; i < std::min(late.size(), kMostNamed); ++i) {
    names += (i == 0 ? "" : "; ") + describe(late[i], now_s);
  }
  if (late.size() > kMostNamed) names += fmt::format("; and {} more ranks", late.size() - kMostNamed);
  if (late.empty()) names = "a message: all ranks wait";
  return Report{names, stands_s, is_fatal, first_waiting == world_.rank};
}

}  // namespace bertft
