#include "comm/coordinator/tensor_lists.h"

#include <fmt/format.h>

#include "comm/coordinator/cycle_bytes.h"

namespace bertft {

namespace {

constexpr size_t kLeastRequestBytes = 11;   // type, op, device, length of the name, dimensions
constexpr size_t kLeastResponseBytes = 15;  // response, type, op, three counts
constexpr size_t kLeastTensorBytes = 12;    // length of the name, elements

TensorType read_type(CycleBytesReader& reader) {
  const uint8_t value = reader.u8();
  if (value >= kTensorTypes) {
    reader.fail(fmt::format("unknown type {}", value));
  }
  return TensorType{value};
}

ReduceOp read_op(CycleBytesReader& reader) {
  const uint8_t value = reader.u8();
  if (value >= kReduceOps) {
    reader.fail(fmt::format("unknown operation {}", value));
  }
  return ReduceOp{value};
}

TensorRequest read_request(CycleBytesReader& reader, TensorNames& names) {
  auto traits = std::make_shared<TensorTraits>();
  traits->type = read_type(reader);
  traits->op = read_op(reader);
  traits->device = reader.i32();
  const std::string_view name = reader.text();
  traits->shape.resize(reader.u8());
  for (int64_t& extent : traits->shape) {
    extent = reader.i64();
  }
  if (!has_valid_shape(*traits)) {
    reader.fail(fmt::format("{} has the shape {}", name, text_of_shape(traits->shape)));
  }
  return {names.number(name), std::move(traits)};
}

using Devices = std::shared_ptr<const std::vector<int32_t>>;

// `previous` are the devices of the response before, which are taken again when they are the same.
Devices read_devices(CycleBytesReader& reader, int size, const Devices& previous) {
  std::vector<int32_t> devices(reader.count(4));
  if (devices.size() != static_cast<size_t>(size)) {
    reader.fail(fmt::format("{} devices for {} ranks", devices.size(), size));
  }
  for (int32_t& device : devices) {
    device = reader.i32();
  }
  return previous && *previous == devices ? previous : std::make_shared<const std::vector<int32_t>>(std::move(devices));
}

TensorResponse read_response(CycleBytesReader& reader, int size, TensorNames& names, const Devices& previous) {
  TensorResponse response;
  const uint8_t kind = reader.u8();
  response.response = ResponseType{kind};
  if (response.response != ResponseType::kAllreduce && response.response != ResponseType::kError) {
    reader.fail(fmt::format("unknown response {}", kind));
  }
  const bool is_error = response.response == ResponseType::kError;
  response.type = read_type(reader);
  response.op = read_op(reader);
  const size_t tensors = reader.count(kLeastTensorBytes);
  if (tensors == 0 || (is_error && tensors > 1)) {
    reader.fail(fmt::format("a response about {} tensors", tensors));
  }
  for (size_t i = 0; i < tensors; ++i) {
    response.tensors.push_back(names.number(reader.text()));
    const int64_t elements = reader.i64();
    if (!has_valid_shape({.type = response.type, .shape = {elements}})) {
      reader.fail(fmt::format("{} has {} elements", names.name(response.tensors.back()), elements));
    }
    if (!is_error) {
      response.elements.push_back(elements);
    }
  }
  response.error = std::string(reader.text());
  if (response.error.empty() == is_error) {
    reader.fail("an error without a text, or a text without an error");
  }
  response.devices = read_devices(reader, size, previous);
  return response;
}

}  // namespace

std::string encode(const RequestList& list, const TensorNames& names) {
  CycleBytesWriter writer;
  writer.u8(list.shutdown ? 1 : 0);
  writer.u32(static_cast<uint32_t>(list.requests.size()));
  for (const TensorRequest& request : list.requests) {
    writer.u8(static_cast<uint8_t>(request.traits->type));
    writer.u8(static_cast<uint8_t>(request.traits->op));
    writer.i32(request.traits->device);
    writer.text(names.name(request.tensor));
    writer.u8(static_cast<uint8_t>(request.traits->shape.size()));
    for (const int64_t extent : request.traits->shape) {
      writer.i64(extent);
    }
  }
  return writer.take();
}

std::string encode(const ResponseList& list, const TensorNames& names) {
  CycleBytesWriter writer;
  writer.u8(list.shutdown ? 1 : 0);
  writer.u32(static_cast<uint32_t>(list.responses.size()));
  for (const TensorResponse& response : list.responses) {
    writer.u8(static_cast<uint8_t>(response.response));
    writer.u8(static_cast<uint8_t>(response.type));
    writer.u8(static_cast<uint8_t>(response.op));
    writer.u32(static_cast<uint32_t>(response.tensors.size()));
    for (size_t i = 0; i < response.tensors.size(); ++i) {
      writer.text(names.name(response.tensors[i]));
      writer.i64(response.elements.empty() ? 0 : response.elements[i]);
    }
    writer.text(response.error);
    writer.u32(static_cast<uint32_t>(response.devices->size()));
    for (const int32_t device : *response.devices) {
      writer.i32(device);
    }
  }
  return writer.take();
}

RequestList decode_requests(std::string_view bytes, int from, TensorNames& names) {
  CycleBytesReader reader(bytes, fmt::format("request list of rank {}", from));
  RequestList list;
  list.shutdown = reader.flag();
  const size_t requests = reader.count(kLeastRequestBytes);
  list.requests.reserve(requests);
  for (size_t i = 0; i < requests; ++i) {
    list.requests.push_back(read_request(reader, names));
  }
  reader.expect_end();
  return list;
}

ResponseList decode_responses(std::string_view bytes, int size, TensorNames& names) {
  CycleBytesReader reader(bytes, "response list of rank 0");
  ResponseList list;
  list.shutdown = reader.flag();
  const size_t responses = reader.count(kLeastResponseBytes);
  list.responses.reserve(responses);
  for (size_t i = 0; i < responses; ++i) {
    const Devices previous = list.responses.empty() ? nullptr : list.responses.back().devices;
    list.responses.push_back(read_response(reader, size, names, previous));
  }
  reader.expect_end();
  return list;
}

}  // namespace bertft
