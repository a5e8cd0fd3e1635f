// Sums over the ranks of one communicator: every owner gets all others' contributions to its slice (MPI_Ialltoallv),
// adds them in order and gives everybody the result (MPI_Iallgatherv). One rank computes an element and all take its
// bits, so the ranks are bit-equal whatever the library does. Work comes in windows, several of which are on their way
// at once. Private to this folder: it knows MPI's types.
#pragma once

#include <mpi.h>

#include <cstdint>
#include <functional>
#include <map>
#include <utility>
#include <vector>

#include "comm/mpi/mpi_wait.h"
#include "comm/mpi/ordered_sum.h"
#include "comm/mpi/wire_packet.h"
#include "comm/native/attached_gradients.h"
#include "comm/native/meter.h"
#include "comm/transport.h"

namespace bertft::mpi {

// A rank of the communicator, by its number there.
struct Member {
  int rank = 0;   // of the job
  int group = 0;  // see Contribution
};

class OwnerExchange {
 public:
  // What `rank` contributed to elements from `first` on, when their sum is not finite.
  using OnWrong =
      std::function<void(const ReduceJob& job, int rank, int64_t first, int64_t count, const void* elements)>;
  struct Context {
    const native::AttachedGradients& gradients;
    int lane;
    MpiWait& wait;
    native::Meter& meter;
    OnWrong on_wrong;
  };
  // Contributions and results have communicators of their own, as members may come to them in different orders.
  struct Comms {
    MPI_Comm contributions = MPI_COMM_NULL;
    MPI_Comm results = MPI_COMM_NULL;
  };
  // `own`: this rank's place among the members, the first `owners` of which own slices. `slots`: windows at once.
  OwnerExchange(Context context, const Comms& comms, std::vector<Member> members, int own, int owners, int slots);

  // The steps of one window, in this order, each for the same windows in the same order on all members. `job` and the
  // buffer must not change before the last.
  void send_contributions(int slot, const ReduceJob& job, ElementRange window);
  bool have_contributions_come(int slot);  // asks MPI, never waits
  void add_contributions(int slot);        // then: this rank's slice of the buffer becomes the sum of its members'
  void send_results(int slot);
  bool have_results_come(int slot);
  void take_results(int slot);  // then: the window holds the owners' results

  ElementRange own_slice(ElementRange window) const { return slice(window, own_); }

 private:
  struct Slot {
    const ReduceJob* job = nullptr;
    ElementRange window;
    std::vector<WirePacket> packets;  // [member]; of 16-bit wires
    std::vector<int> send_bytes, send_at, receive_bytes, receive_at;
    std::vector<int> result_bytes, result_at;
    std::vector<std::byte> outgoing, incoming, results;
    std::vector<MPI_Request> collective;
    std::vector<MPI_Request> apart;  // blocks that travel by themselves
    bool are_apart_asked_for = false;
    std::map<std::pair<int, size_t>, std::vector<float>> apart_values;  // of contributions, by member and block
  };

  int count() const { return static_cast<int>(members_.size()); }
  ElementRange slice(ElementRange window, int member) const;
  bool is_plain(const Slot& slot) const { return slot.job->wire == WireType::kFp32; }
  std::byte* at(int64_t element) const;
  size_t message_bytes(const Slot& slot, int member) const;
  size_t payload_bytes(const Slot& slot, int member) const;
  void encode_contributions(Slot& slot);
  void add_plain(Slot& slot);
  void add_encoded(Slot& slot);
  void encode_results(Slot& slot);
  void decode_results(Slot& slot);
  void send_apart(Slot& slot, int member, const WireBlock& block, int tag);
  void receive_apart(Slot& slot, int member, const WireBlock& block, int tag, void* into);
  void add_up(const Slot& slot, const std::vector<Contribution>& sources, ElementRange range);
  void ask_for_contributions(Slot& slot);
  void ask_for_results(Slot& slot);
  // So many messages of the size of one for the slice of `message_of`.
  void count_sent(const Slot& slot, int message_of, int messages);
  void count_received(const Slot& slot, int message_of, int messages);

  Context context_;
  Comms comms_;
  std::vector<Member> members_;
  int own_;
  int owners_;
  std::vector<Slot> slots_;
};

}  // namespace bertft::mpi
