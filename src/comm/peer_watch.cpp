#include "comm/peer_watch.h"

#include <utility>

#include "core/error.h"

namespace bertft {

PeerWatch::PeerWatch(int rank, int size) : rank_(rank), peers_(static_cast<size_t>(size)) {
  check(rank >= 0 && rank < size, "a rank is one of the job");
}

void PeerWatch::end_of_stream(int peer, const std::string& what) {
  Peer& other = peers_.at(static_cast<size_t>(peer));
  if (other.is_gone) return;
  other.is_gone = true;
  const bool is_normal = finished_ && other.said_bye;
  if (!is_normal) fail(what);
}

void PeerWatch::abort_received(int, const std::string& cause) { fail(cause); }

void PeerWatch::bye_received(int peer) { peers_.at(static_cast<size_t>(peer)).said_bye = true; }

void PeerWatch::abort(const std::string& cause) { fail(cause); }

void PeerWatch::finish() {
  check(!finished_, "a rank says good-bye once");
  if (failed_) return;
  finished_ = true;
  tell_all(PeerNotice::Kind::kBye, "");
}

void PeerWatch::fail(const std::string& cause) {
  if (failed_) return;
  failed_ = true;
  cause_ = cause;
  tell_all(PeerNotice::Kind::kAbort, cause);
}

void PeerWatch::tell_all(PeerNotice::Kind kind, const std::string& cause) {
  for (size_t peer = 0; peer < peers_.size(); ++peer) {
    if (static_cast<int>(peer) == rank_ || peers_[peer].is_gone) continue;
    notices_.push_back({static_cast<int>(peer), kind, cause});
  }
}

std::vector<PeerNotice> PeerWatch::take_notices() { return std::exchange(notices_, {}); }

bool PeerWatch::is_gone(int peer) const { return peers_.at(static_cast<size_t>(peer)).is_gone; }

bool PeerWatch::may_close() const {
  if (failed_) return true;
  if (!finished_) return false;
  for (size_t peer = 0; peer < peers_.size(); ++peer) {
    if (static_cast<int>(peer) != rank_ && !peers_[peer].said_bye) return false;
  }
  return true;
}

void PeerWatch::append_state(std::string& out) const {
  out.push_back(static_cast<char>(failed_ << 1 | int{finished_}));
  for (const Peer& peer : peers_) out.push_back(static_cast<char>(peer.said_bye << 1 | int{peer.is_gone}));
  out += cause_;
  out.push_back('\0');
}

}  // namespace bertft
