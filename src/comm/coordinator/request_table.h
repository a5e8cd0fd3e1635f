// What rank 0 knows of tensors that some ranks have announced and others have not, and its verdict when the last one
// has: a response, or an error where the ranks disagree. As the message table and ConstructResponse of Horovod 0.28.
#pragma once

#include <vector>

#include "comm/coordinator/tensor_lists.h"
#include "comm/coordinator/tensor_traits.h"

namespace bertft {

class RequestTable {
 public:
  explicit RequestTable(int size) : size_(size) {}

  // True when `rank` was the last one. Throws CommError when it has announced this tensor before.
  bool add(int rank, const TensorRequest& request, const TensorNames& names);
  // REQUIRES that all ranks have announced it; forgets it. Types, operations, shapes and kinds of device are compared,
  // in this order; the first that differs makes an error that names the tensor and says which ranks have what.
  TensorResponse take_response(int tensor, const TensorNames& names);

  bool has(int tensor) const;

 private:
  struct Announcement {
    int rank;
    SharedTraits traits;
  };
  using Announcements = std::vector<Announcement>;
  struct Entry {
    Announcements announcements;  // in the order of arrival
    std::vector<bool> has_rank;
  };

  Entry& of(int tensor);
  std::shared_ptr<const std::vector<int32_t>> devices_of(const Announcements& announcements);

  int size_;
  std::vector<Entry> by_tensor_;
  std::shared_ptr<const std::vector<int32_t>> last_devices_;
};

}  // namespace bertft
