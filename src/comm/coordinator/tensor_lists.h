// The two lists of the slow path and their bytes: what a rank asks for and what rank 0 answers. Contents as Horovod's
// RequestList and ResponseList, the encoding is our own (docs/communicator-coordinator.md, byte by byte).
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "comm/coordinator/tensor_traits.h"

namespace bertft {

// The sender is known from the message, so a request carries no rank (Horovod's does).
struct TensorRequest {
  int tensor = 0;  // TensorNames of this process
  SharedTraits traits;
};

struct RequestList {
  bool shutdown = false;
  std::vector<TensorRequest> requests;
};

// Horovod's numbers; the types between (allgather, broadcast, ...) are not part of this protocol.
enum class ResponseType : uint8_t { kAllreduce = 0, kError = 8 };

// Several tensors: they are fused, that is, added up as one. Equal devices are one object within a process: at 1,024
// ranks they are 4 KiB.
struct TensorResponse {
  ResponseType response = ResponseType::kAllreduce;
  TensorType type = TensorType::kFloat32;
  ReduceOp op = ReduceOp::kSum;
  std::shared_ptr<const std::vector<int32_t>> devices;  // of all ranks
  std::vector<int> tensors;                             // TensorNames of this process; one when it is an error
  std::vector<int64_t> elements;                        // of each; empty when it is an error
  std::string error;                                    // names tensor and ranks
};

struct ResponseList {
  bool shutdown = false;
  std::vector<TensorResponse> responses;
};

std::string encode(const RequestList& list, const TensorNames& names);
std::string encode(const ResponseList& list, const TensorNames& names);

// Both throw CommError on malformed bytes: a list that ends early or late, unknown types, impossible shapes. Names that
// are new to this process get a number. `size` is the number of ranks: each response names that many devices.
RequestList decode_requests(std::string_view bytes, int from, TensorNames& names);
ResponseList decode_responses(std::string_view bytes, int size, TensorNames& names);

}  // namespace bertft
