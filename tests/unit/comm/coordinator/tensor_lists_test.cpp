// Bytes of lists and headers as documented, round trips, and damaged bytes of every kind.
#include "comm/coordinator/tensor_lists.h"

#include <random>

#include "comm/coordinator/cycle_bytes.h"
#include "comm/coordinator/cycle_message.h"
#include "core/error.h"
#include "tests/support/test.h"

namespace bertft {

namespace {

std::string bytes_of(const std::vector<int>& values) { return {values.begin(), values.end()}; }

std::string some_requests(TensorNames& names) {
  RequestList list;
  list.requests.push_back({names.number("a"), std::make_shared<TensorTraits>(TensorTraits{.shape = {2, 3}})});
  list.requests.push_back({names.number("bias"),
                           std::make_shared<TensorTraits>(TensorTraits{TensorType::kFloat16, ReduceOp::kMax, 3, {}})});
  return encode(list, names);
}

std::string some_responses(TensorNames& names) {
  ResponseList list;
  list.shutdown = true;
  TensorResponse fused;
  fused.devices = std::make_shared<const std::vector<int32_t>>(std::vector<int32_t>{kCpuDevice, 1});
  fused.tensors = {names.number("a"), names.number("b")};
  fused.elements = {6, 1};
  list.responses.push_back(fused);
  TensorResponse error = fused;
  error.response = ResponseType::kError;
  error.tensors = {names.number("c")};
  error.elements = {};
  error.error = "tensor c: mismatch";
  list.responses.push_back(error);
  return encode(list, names);
}

}  // namespace

TEST_CASE("a request list has the documented bytes") {
  TensorNames names;
  // shutdown, count; type, op, device, length, name, dimensions, extents ...
  const std::string expected =
      bytes_of({0, 2, 0,  0,  0,                                                                                 //
                2, 0, -1, -1, -1, -1, 1, 0, 0, 0, 'a', 2,   2,   0,   0, 0, 0, 0, 0, 0, 3, 0, 0, 0, 0, 0, 0, 0,  //
                0, 2, 3,  0,  0,  0,  4, 0, 0, 0, 'b', 'i', 'a', 's', 0});
  CHECK(some_requests(names) == expected);
}

TEST_CASE("a request list comes back with the numbers of the reader") {
  TensorNames names;
  TensorNames others;
  others.number("bias");
  const RequestList list = decode_requests(some_requests(names), 1, others);
  CHECK_FALSE(list.shutdown);
  REQUIRE(list.requests.size() == 2);
  CHECK(list.requests[0].tensor == 1);
  CHECK(others.name(1) == "a");
  CHECK(list.requests[1].tensor == 0);
  CHECK(*list.requests[0].traits == TensorTraits{.shape = {2, 3}});
  CHECK(*list.requests[1].traits == TensorTraits{TensorType::kFloat16, ReduceOp::kMax, 3, {}});
}

TEST_CASE("a response list comes back, with devices shared when they are equal") {
  TensorNames names;
  const std::string bytes = some_responses(names);
  // 5; response, type, op, count (7), two tensors of 13, error (4), devices (12); the same with one tensor and 18 of
  // text.
  CHECK(bytes.size() == 5 + (7 + 2 * 13 + 4 + 12) + (7 + 13 + 4 + 18 + 12));
  const ResponseList list = decode_responses(bytes, 2, names);
  CHECK(list.shutdown);
  REQUIRE(list.responses.size() == 2);
  CHECK(list.responses[0].tensors == std::vector<int>{0, 1});
  CHECK(list.responses[0].elements == std::vector<int64_t>{6, 1});
  CHECK(*list.responses[0].devices == std::vector<int32_t>{kCpuDevice, 1});
  CHECK(list.responses[1].devices == list.responses[0].devices);
  CHECK(list.responses[1].error == "tensor c: mismatch");
  CHECK(list.responses[1].elements.empty());
  CHECK_THROWS_AS(decode_responses(bytes, 3, names), CommError);  // another number of ranks
}

TEST_CASE("every list that is cut short or has bytes too many is refused") {
  TensorNames names;
  const std::string requests = some_requests(names);
  const std::string responses = some_responses(names);
  for (size_t length = 0; length < requests.size(); ++length) {
    CHECK_THROWS_AS(decode_requests(requests.substr(0, length), 1, names), CommError);
  }
  for (size_t length = 0; length < responses.size(); ++length) {
    CHECK_THROWS_AS(decode_responses(responses.substr(0, length), 2, names), CommError);
  }
  CHECK_THROWS_AS(decode_requests(requests + '\0', 1, names), CommError);
  CHECK_THROWS_AS(decode_responses(responses + '\0', 2, names), CommError);
}

TEST_CASE("lists with impossible contents are refused") {
  TensorNames names;
  const auto changed = [](std::string bytes, size_t place, int value) {
    bytes[place] = static_cast<char>(value);
    return bytes;
  };
  const std::string requests = some_requests(names);
  CHECK_THROWS_AS(decode_requests(changed(requests, 0, 2), 1, names), CommError);      // shutdown
  CHECK_THROWS_AS(decode_requests(changed(requests, 4, 0x7F), 1, names), CommError);   // two thousand million requests
  CHECK_THROWS_AS(decode_requests(changed(requests, 5, 4), 1, names), CommError);      // type
  CHECK_THROWS_AS(decode_requests(changed(requests, 6, 3), 1, names), CommError);      // operation
  CHECK_THROWS_AS(decode_requests(changed(requests, 14, 0x7F), 1, names), CommError);  // length of the name
  CHECK_THROWS_AS(decode_requests(changed(requests, 24, 0x80), 1, names), CommError);  // a negative extent
  CHECK_THROWS_AS(decode_requests(changed(requests, 24, 0x7F), 1, names), CommError);  // more bytes than there can be
  const std::string responses = some_responses(names);
  CHECK_THROWS_AS(decode_responses(changed(responses, 5, 1), 2, names), CommError);      // response
  CHECK_THROWS_AS(decode_responses(changed(responses, 5, 8), 2, names), CommError);      // an error about two tensors
  CHECK_THROWS_AS(decode_responses(changed(responses, 8, 0), 2, names), CommError);      // about none
  CHECK_THROWS_AS(decode_responses(changed(responses, 24, 0x80), 2, names), CommError);  // negative elements
}

TEST_CASE("random bytes and damaged lists never do worse than a CommError") {
  std::mt19937_64 random(7);
  TensorNames names;
  const std::string lists[] = {some_requests(names), some_responses(names), std::string(64, '\0')};
  int refused = 0;
  for (int i = 0; i < 20000; ++i) {
    std::string bytes = lists[random() % 3];
    for (uint64_t change = random() % 6; change > 0; --change) {
      bytes[random() % bytes.size()] = static_cast<char>(random());
    }
    bytes.resize(random() % 4 == 0 ? random() % (bytes.size() + 1) : bytes.size());
    TensorNames known;
    try {
      decode_requests(bytes, 1, known);
      decode_responses(bytes, 2, known);
    } catch (const CommError&) {
      ++refused;
    }
  }
  CHECK(refused > 10000);
}

TEST_CASE("the header of a message has the documented bytes and comes back") {
  const CycleHeader header{CycleStage::kRequests, 4, 9, 0x0102030405060708, 2, 258};
  const std::string bytes = encode(header, "xyz");
  CHECK(bytes == bytes_of({0xC5, 1, 3, 4, 9, 0, 0, 0, 8, 7, 6, 5, 4, 3, 2,   1,   2,  0,
                           0,    0, 0, 0, 0, 0, 2, 1, 0, 0, 0, 0, 0, 0, 'x', 'y', 'z'}));
  std::string_view payload;
  const CycleHeader read = decode_cycle_header(bytes, 3, &payload);
  CHECK(payload == "xyz");
  CHECK(read.stage == header.stage);
  CHECK(read.phase == 4);
  CHECK(read.flags == 9);
  CHECK(read.job == header.job);
  CHECK(read.steps_done == 2);
  CHECK(read.cycle == 258);
  for (size_t length = 0; length < kCycleHeaderBytes; ++length) {
    CHECK_THROWS_AS(decode_cycle_header(std::string_view(bytes).substr(0, length), 3, &payload), CommError);
  }
  for (const size_t place : {0, 1, 2, 5}) {  // kind, version, stage, flags
    std::string damaged = bytes;
    damaged[place] = 0x77;
    CHECK_THROWS_AS(decode_cycle_header(damaged, 3, &payload), CommError);
  }
}

}  // namespace bertft
