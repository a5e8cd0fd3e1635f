// What rank 0 answers, and the texts when the ranks disagree.
#include "comm/coordinator/request_table.h"

#include "core/error.h"
#include "tests/support/test.h"

namespace bertft {
using Catch::Contains;

namespace {

SharedTraits shared(TensorTraits traits) { return std::make_shared<const TensorTraits>(std::move(traits)); }

// The response when rank r has traits[r], announced in the order of `ranks`.
TensorResponse verdict(const std::vector<TensorTraits>& traits, const std::vector<int>& ranks) {
  TensorNames names;
  const int tensor = names.number("encoder.weight");
  RequestTable table(static_cast<int>(traits.size()));
  for (size_t i = 0; i < ranks.size(); ++i) {
    const bool is_last = i + 1 == ranks.size();
    CHECK(table.add(ranks[i], {tensor, shared(traits[static_cast<size_t>(ranks[i])])}, names) == is_last);
    CHECK(table.has(tensor));
  }
  TensorResponse response = table.take_response(tensor, names);
  CHECK_FALSE(table.has(tensor));
  return response;
}

}  // namespace

TEST_CASE("a tensor that all ranks announce alike is answered, with the devices of all ranks") {
  const TensorResponse response = verdict(
      {{.device = 0, .shape = {2, 3}}, {.device = 1, .shape = {2, 3}}, {.device = 0, .shape = {2, 3}}}, {2, 0, 1});
  CHECK(response.response == ResponseType::kAllreduce);
  CHECK(response.elements == std::vector<int64_t>{6});
  CHECK(*response.devices == std::vector<int32_t>{0, 1, 0});
  CHECK(response.error.empty());
}

TEST_CASE("disagreements name the tensor, what differs, and the ranks") {
  const TensorTraits plain{.shape = {2, 3}};
  TensorTraits other = plain;
  other.type = TensorType::kFloat16;
  TensorResponse response = verdict({plain, other, plain, other}, {3, 2, 1, 0});
  CHECK(response.response == ResponseType::kError);
  CHECK(response.elements.empty());
  CHECK(response.error == "tensor encoder.weight: mismatched data types: float16 on ranks 1, 3; float32 on ranks 0, 2");

  other = plain;
  other.op = ReduceOp::kMax;
  CHECK(verdict({plain, other}, {0, 1}).error ==
        "tensor encoder.weight: mismatched operations: sum on rank 0; max on rank 1");

  other = plain;
  other.shape = {3, 2};
  CHECK(verdict({plain, plain, other}, {0, 1, 2}).error ==
        "tensor encoder.weight: mismatched shapes: [2, 3] on ranks 0, 1; [3, 2] on rank 2");

  other = plain;
  other.device = 0;
  CHECK(verdict({plain, other}, {0, 1}).error ==
        "tensor encoder.weight: mismatched devices: CPU on rank 0; GPU on rank 1");
}

TEST_CASE("of several disagreements the first in Horovod's order is told") {
  const TensorTraits a{.type = TensorType::kFloat32, .op = ReduceOp::kSum, .shape = {1}};
  const TensorTraits b{.type = TensorType::kFloat32, .op = ReduceOp::kMin, .shape = {2}};
  const TensorTraits c{.type = TensorType::kFloat64, .op = ReduceOp::kMin, .shape = {2}};
  CHECK_THAT(verdict({a, b}, {0, 1}).error, Contains("operations") && !Contains("shapes"));
  CHECK_THAT(verdict({a, b, c}, {0, 1, 2}).error, Contains("data types") && !Contains("operations"));
}

TEST_CASE("a rank that announces a tensor twice is refused") {
  TensorNames names;
  const int tensor = names.number("w");
  RequestTable table(3);
  table.add(1, {tensor, shared({})}, names);
  CHECK_THROWS_AS(table.add(1, {tensor, shared({})}, names), CommError);
  CHECK_THROWS_AS(table.take_response(tensor, names), InternalError);
}

}  // namespace bertft
