// Who is still there, who has left in order, and why the job ends: the rules by which all survivors of a failure name
// its first cause. Pure: no socket, no clock; the owner of the control connections feeds it and sends what it says.
//
// Rules (the model in tests/unit/comm/decentral explores them with one and two deaths):
// - A connection that ends is normal only when this rank and the peer have both said good-bye on it.
// - A rank that fails tells all peers the cause before it closes, and closes only when that is out (or the peer is
// gone).
//   So a peer reads the cause before the end of the connection, and never takes a survivor for the one that died.
// - The first cause stands; it is passed on as it came. Nothing is learned from data connections: those also end when a
//   survivor closes them.
// - A rank that is done closes only after every peer's good-bye.
#pragma once

#include <string>
#include <vector>

namespace bertft {

// What a rank tells a peer on their control connection, in order with everything else there.
struct PeerNotice {
  enum class Kind { kAbort, kBye };
  int to = 0;
  Kind kind = Kind::kBye;
  std::string cause;  // of an abort
};

class PeerWatch {
 public:
  PeerWatch(int rank, int size);

  // What happened on the connection to `peer`. `what` is a complete cause, "rank 3 on host b: connection closed", used
  // when nothing better is known. Events after the first failure change nothing.
  void end_of_stream(int peer, const std::string& what);
  void abort_received(int peer, const std::string& cause);
  void bye_received(int peer);

  // This rank cannot go on.
  void abort(const std::string& cause);
  // This rank has nothing more to do with its peers. REQUIRES that nobody calls it twice.
  void finish();

  // To be sent now, each once, in this order.
  std::vector<PeerNotice> take_notices();

  bool failed() const { return failed_; }
  const std::string& cause() const { return cause_; }  // the first one; "" unless failed()
  bool is_gone(int peer) const;                        // its connection has ended
  // All good-byes are said and heard (or the job failed): connections may be closed once all notices are out.
  bool may_close() const;
  // All that decides what this machine will do, for tests that explore states.
  void append_state(std::string& out) const;

 private:
  struct Peer {
    bool said_bye = false;
    bool is_gone = false;
  };

  void fail(const std::string& cause);
  void tell_all(PeerNotice::Kind kind, const std::string& cause);

  int rank_;
  std::vector<Peer> peers_;
  std::vector<PeerNotice> notices_;
  std::string cause_;
  bool failed_ = false;
  bool finished_ = false;
};

}  // namespace bertft
