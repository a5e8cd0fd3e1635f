#include "comm/coordinator/tensor_queue.h"

#include "core/error.h"

namespace bertft {

void TensorQueue::add(int tensor, SharedTraits traits, const TensorNames& names) {
  const auto place = static_cast<size_t>(tensor);
  if (place >= in_flight_.size()) {
    in_flight_.resize(place + 1);
  }
  if (in_flight_[place]) {
    throw InternalError("tensor " + names.name(tensor) +
                        " is announced again before its sum is agreed: each name once at a time");
  }
  in_flight_[place] = traits;
  ++in_flight_count_;
  waiting_.push_back({tensor, std::move(traits)});
}

std::vector<TensorRequest> TensorQueue::take_waiting() {
  std::vector<TensorRequest> taken;
  taken.swap(waiting_);
  return taken;
}

SharedTraits TensorQueue::in_flight(int tensor) const {
  const auto place = static_cast<size_t>(tensor);
  return place < in_flight_.size() ? in_flight_[place] : nullptr;
}

void TensorQueue::finish(int tensor) {
  check(in_flight(tensor) != nullptr, "a tensor is finished that is not in flight");
  in_flight_[static_cast<size_t>(tensor)] = nullptr;
  --in_flight_count_;
}

std::vector<int> TensorQueue::all_in_flight() const {
  std::vector<int> tensors;
  for (size_t i = 0; i < in_flight_.size(); ++i) {
    if (in_flight_[i]) {
      tensors.push_back(static_cast<int>(i));
    }
  }
  return tensors;
}

}  // namespace bertft
