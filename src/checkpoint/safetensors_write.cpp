#include <algorithm>
#include <nlohmann/json.hpp>

#include "checkpoint/safetensors.h"
#include "checkpoint/safetensors_header.h"
#include "core/error.h"
#include "core/files.h"

namespace bertft {
namespace {

using OrderedJson = nlohmann::ordered_json;

std::vector<const TensorView*> in_file_order(const std::vector<TensorView>& tensors) {
  std::vector<const TensorView*> ordered;
  ordered.reserve(tensors.size());
  for (const TensorView& tensor : tensors) {
    check(tensor.name != kMetadataKey, "a tensor must not be called __metadata__");
    check(tensor.bytes == static_cast<size_t>(element_count(tensor.shape)) * dtype_bytes(tensor.dtype),
          "a tensor's bytes must fit its shape and element type");
    ordered.push_back(&tensor);
  }
  std::sort(ordered.begin(), ordered.end(), [](const TensorView* a, const TensorView* b) {
    return a->dtype != b->dtype ? a->dtype > b->dtype : a->name < b->name;
  });
  return ordered;
}

std::string header_json(const std::vector<const TensorView*>& ordered,
                        const std::map<std::string, std::string>& metadata) {
  OrderedJson header = OrderedJson::object();
  if (!metadata.empty()) header[std::string(kMetadataKey)] = metadata;
  size_t begin = 0;
  for (const TensorView* tensor : ordered) {
    OrderedJson entry = {{"dtype", dtype_name(tensor->dtype)},
                         {"shape", tensor->shape},
                         {"data_offsets", {begin, begin + tensor->bytes}}};
    const size_t entries_before = header.size();
    header[tensor->name] = std::move(entry);
    check(header.size() == entries_before + 1, "two tensors must not have the same name");
    begin += tensor->bytes;
  }
  std::string text = header.dump(-1, ' ', false, OrderedJson::error_handler_t::replace);
  text.append((8 - text.size() % 8) % 8, ' ');
  check(text.size() <= kMaxHeaderBytes, "a safetensors header must not exceed 100 MB");
  return text;
}

}  // namespace

void write_safetensors(const std::string& path, const std::vector<TensorView>& tensors,
                       const std::map<std::string, std::string>& metadata) {
  const std::vector<const TensorView*> ordered = in_file_order(tensors);
  const std::string header = header_json(ordered, metadata);
  std::string length(8, '\0');
  for (size_t i = 0; i < length.size(); ++i) length[i] = static_cast<char>(header.size() >> (8 * i) & 0xff);

  AtomicFile file(path);
  file.write(length);
  file.write(header);
  for (const TensorView* tensor : ordered) file.write(tensor->data, tensor->bytes);
  file.commit();
}

}  // namespace bertft
