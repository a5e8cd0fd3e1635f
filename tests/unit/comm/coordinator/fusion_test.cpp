// Fusion: every rule of the look-ahead on cases computed by hand.
#include "comm/coordinator/fusion.h"

#include "tests/support/test.h"

namespace bertft {

namespace {

struct Tensor {
  int64_t elements;
  TensorType type = TensorType::kFloat32;
  ReduceOp op = ReduceOp::kSum;
  std::vector<int32_t> devices = {kCpuDevice, kCpuDevice};
};

// The groups that come out, by index into `tensors`; elements -1 stands for an error.
std::vector<std::vector<int>> groups_of(const std::vector<Tensor>& tensors, const FusionOptions& options) {
  std::vector<TensorResponse> responses;
  for (size_t i = 0; i < tensors.size(); ++i) {
    TensorResponse response;
    response.tensors = {static_cast<int>(i)};
    response.type = tensors[i].type;
    response.op = tensors[i].op;
    response.devices = std::make_shared<const std::vector<int32_t>>(tensors[i].devices);
    if (tensors[i].elements < 0) {
      response.response = ResponseType::kError;
      response.error = "mismatch";
    } else {
      response.elements = {tensors[i].elements};
    }
    responses.push_back(std::move(response));
  }
  std::vector<std::vector<int>> groups;
  for (const TensorResponse& response : fused(std::move(responses), options)) {
    groups.push_back(response.tensors);
  }
  return groups;
}

using Groups = std::vector<std::vector<int>>;
constexpr auto kHalf = TensorType::kFloat16;

}  // namespace

TEST_CASE("responses are fused up to the threshold, which may be met exactly") {
  CHECK(groups_of({{4}, {4}, {4}}, {.threshold_bytes = 48}) == Groups{{0, 1, 2}});
  CHECK(groups_of({{4}, {4}, {4}}, {.threshold_bytes = 47}) == Groups{{0, 1}, {2}});
  CHECK(groups_of({{4}, {4}, {4}}, {.threshold_bytes = 16}) == Groups{{0}, {1}, {2}});
  CHECK(groups_of({}, {.threshold_bytes = 16}).empty());
  CHECK(groups_of({{1}, {1}}, {}) == Groups{{0, 1}});
}

TEST_CASE("a threshold of 0 fuses nothing") {
  CHECK(groups_of({{4}, {4}, {1}}, {.threshold_bytes = 0}) == Groups{{0}, {1}, {2}});
}

TEST_CASE("a tensor above the threshold travels alone and is not passed over") {
  CHECK(groups_of({{100}, {1}, {1}}, {.threshold_bytes = 16}) == Groups{{0}, {1, 2}});
  // Tensor 0 has 4 of 16 bytes; tensor 1 (400 bytes) cannot join, nor be passed over: 4 + 400 > 16. So 2 stays alone.
  CHECK(groups_of({{1}, {100}, {1}}, {.threshold_bytes = 16}) == Groups{{0}, {1}, {2}});
}

TEST_CASE("other types are passed over while joined and passed over bytes stay within the threshold") {
  // fp32 8 bytes each, fp16 4 bytes each, alternating: 8 joined, 4 passed over (12 <= 24), 16 joined, 8 passed over
  // (24 <= 24), 24 joined; then the fp16 ones, in their order.
  const std::vector<Tensor> mixed = {{2}, {2, kHalf}, {2}, {2, kHalf}, {2}};
  CHECK(groups_of(mixed, {.threshold_bytes = 24}) == Groups{{0, 2, 4}, {1, 3}});
  // 23: 8, 4 passed over, 16 joined, then 16 + 8 > 23 ends the search before the last one; the fp16 tensors come first
  // then.
  CHECK(groups_of(mixed, {.threshold_bytes = 23}) == Groups{{0, 2}, {1, 3}, {4}});
}

TEST_CASE("the search ends at the first tensor that does not fit, although smaller ones behind it would") {
  // 40 bytes joined; 64 do not fit into 100 and 40 + 64 > 100: the search ends although 20 bytes would fit.
  CHECK(groups_of({{10}, {16}, {5}}, {.threshold_bytes = 100}) == Groups{{0}, {1, 2}});
  // 60 and 40 are 100, which is full.
  CHECK(groups_of({{15}, {10}, {9}, {1}}, {.threshold_bytes = 100}) == Groups{{0, 1}, {2, 3}});
}

TEST_CASE("only equal types, operations and devices are fused") {
  CHECK(groups_of({{1}, {1, TensorType::kFloat32, ReduceOp::kMax}, {1}}, {}) == Groups{{0, 2}, {1}});
  CHECK(groups_of({{1}, {1, TensorType::kFloat32, ReduceOp::kSum, {kCpuDevice, 0}}, {1}}, {}) == Groups{{0, 2}, {1}});
}

TEST_CASE("errors are never fused and do not keep others apart") {
  CHECK(groups_of({{1}, {-1}, {1}, {-1}}, {}) == Groups{{0, 2}, {1}, {3}});
  CHECK(groups_of({{-1}, {1}, {1}}, {}) == Groups{{0}, {1, 2}});
}

TEST_CASE("each tensor counts as a multiple of the padding") {
  // 1 element: 4 bytes, padded to 16.
  CHECK(groups_of({{1}, {1}, {1}}, {.threshold_bytes = 32, .padding_bytes = 16}) == Groups{{0, 1}, {2}});
  CHECK(groups_of({{4}, {4}}, {.threshold_bytes = 32, .padding_bytes = 16}) == Groups{{0, 1}});
  CHECK(groups_of({{5}, {1}}, {.threshold_bytes = 32, .padding_bytes = 16}) == Groups{{0}, {1}});
}

TEST_CASE("the threshold is rounded up to 512 bytes for each local rank of equal nodes") {
  CHECK(rounded_threshold(0, 8) == 0);
  CHECK(rounded_threshold(1, 1) == 512);
  CHECK(rounded_threshold(512, 1) == 512);
  CHECK(rounded_threshold(513, 3) == 1536);
  CHECK(rounded_threshold(int64_t{128} << 20, 8) == int64_t{128} << 20);
  CHECK(rounded_threshold(int64_t{128} << 20, 3) == 134217728 + 1024);  // the next multiple of 1,536
  CHECK(rounded_threshold(1000, 0) == 1000);                            // nodes of different sizes
}

}  // namespace bertft
