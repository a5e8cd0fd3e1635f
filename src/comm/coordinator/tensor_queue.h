// The tensors that this rank has announced and that are not agreed yet, and which of them the next cycle has to look
// at. As Horovod's TensorQueue: a table by name and a queue of messages, which hits that are not common go back into.
#pragma once

#include <cstddef>
#include <vector>

#include "comm/coordinator/tensor_lists.h"
#include "comm/coordinator/tensor_traits.h"

namespace bertft {

class TensorQueue {
 public:
  // Throws InternalError when the tensor is in flight already, as Horovod's duplicate-name error: a name may be
  // announced again only after the response about it.
  void add(int tensor, SharedTraits traits, const TensorNames& names);
  // All waiting requests, in the order in which they came; the queue is then empty, the tensors are still in flight.
  std::vector<TensorRequest> take_waiting();
  // Looks at it again in the next cycle, behind what came in the meantime.
  void put_back(const TensorRequest& request) { waiting_.push_back(request); }

  // Null when it is not in flight.
  SharedTraits in_flight(int tensor) const;
  void finish(int tensor);  // REQUIRES that it is in flight
  int in_flight_count() const { return in_flight_count_; }
  std::vector<int> all_in_flight() const;  // ascending

 private:
  std::vector<TensorRequest> waiting_;
  std::vector<SharedTraits> in_flight_;  // by tensor
  int in_flight_count_ = 0;
};

}  // namespace bertft
