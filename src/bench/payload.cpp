#include "bench/payload.h"

#include <fmt/format.h>

#include <charconv>
#include <filesystem>
#include <map>
#include <set>
#include <sstream>

#include "bench/byte_size.h"
#include "core/error.h"
#include "core/files.h"
#include "core/text.h"

namespace bertft {
namespace {

struct BertSize {
  int64_t layers = 0, width = 0, inner = 0;
};

const std::map<std::string, BertSize> kSizes = {
    {"bert-base", {12, 768, 3072}}, {"bert-small", {4, 512, 2048}}, {"minilm", {6, 384, 1536}}};
constexpr int64_t kVocabulary = 30522;
constexpr int64_t kPositions = 512;
constexpr int64_t kTokenTypes = 2;
constexpr int64_t kMostElements = int64_t{1} << 38;

void add_norm(std::vector<ParameterSpec>& specs, const std::string& scope, int64_t width) {
  specs.push_back({.name = scope + ".LayerNorm.weight", .shape = {width}});
  specs.push_back({.name = scope + ".LayerNorm.bias", .shape = {width}});
}

void add_dense(std::vector<ParameterSpec>& specs, const std::string& scope, int64_t outputs, int64_t inputs) {
  specs.push_back({.name = scope + ".dense.bias", .shape = {outputs}});
  specs.push_back({.name = scope + ".dense.weight", .shape = {outputs, inputs}});
}

// Query, key and value lie side by side, as in the model.
void add_attention(std::vector<ParameterSpec>& specs, const std::string& scope, int64_t width) {
  add_norm(specs, scope + ".output", width);
  add_dense(specs, scope + ".output", width, width);
  for (const std::string part : {"weight", "bias"}) {
    for (const std::string of : {"query", "key", "value"}) {
      std::vector<int64_t> shape = {width};
      if (part == "weight") shape.push_back(width);
      specs.push_back(
          {.name = scope + ".self." + of + "." + part, .shape = std::move(shape), .continues_previous = of != "query"});
    }
  }
}

std::vector<ParameterSpec> bert_shapes(const BertSize& size) {
  std::vector<ParameterSpec> specs;
  add_dense(specs, "pooler", size.width, size.width);
  for (int64_t layer = size.layers - 1; layer >= 0; --layer) {
    const std::string scope = fmt::format("encoder.layer.{}", layer);
    add_norm(specs, scope + ".output", size.width);
    add_dense(specs, scope + ".output", size.width, size.inner);
    add_dense(specs, scope + ".intermediate", size.inner, size.width);
    add_attention(specs, scope + ".attention", size.width);
  }
  add_norm(specs, "embeddings", size.width);
  specs.push_back({.name = "embeddings.token_type_embeddings.weight", .shape = {kTokenTypes, size.width}});
  specs.push_back({.name = "embeddings.position_embeddings.weight", .shape = {kPositions, size.width}});
  specs.push_back(
      {.name = "embeddings.word_embeddings.weight", .shape = {kVocabulary, size.width}, .is_lookup_table = true});
  return specs;
}

// "768x3072" -> {768, 3072}; empty when it is no shape.
std::vector<int64_t> parse_shape(const std::string& text) {
  std::vector<int64_t> shape;
  const char* at = text.data();
  const char* const end = at + text.size();
  int64_t elements = 1;
  while (true) {
    int64_t extent = 0;
    const auto [stop, error] = std::from_chars(at, end, extent);
    if (error != std::errc{} || extent < 1 || extent > kMostElements / elements) return {};
    elements *= extent;
    shape.push_back(extent);
    if (stop == end) return shape;
    if (*stop != 'x') return {};
    at = stop + 1;
  }
}

std::vector<ParameterSpec> shapes_of_file(const std::string& path) {
  std::vector<ParameterSpec> specs;
  std::set<std::string> names;
  std::istringstream text(read_file(path));
  int number = 0;
  for (std::string line; std::getline(text, line);) {
    ++number;
    std::istringstream words(line);
    std::string name, shape, more;
    words >> name >> shape >> more;
    if (name.empty() || name.starts_with('#')) continue;
    const std::string place = fmt::format("{}:{}", path, number);
    const std::vector<int64_t> extents = parse_shape(shape);
    if (extents.empty() || !more.empty()) {
      throw DataError(
          fmt::format("{}: '{}' is not a parameter; write NAME and SHAPE, for example "
                      "encoder.layer.0.output.dense.weight 768x3072",
                      place, excerpt(line)));
    }
    if (!names.insert(name).second) throw DataError(fmt::format("{}: there are two parameters {}", place, name));
    specs.push_back({.name = name, .shape = extents});
  }
  if (specs.empty()) throw DataError(path + ": there is no parameter in it; write one NAME and SHAPE a line");
  return specs;
}

}  // namespace

int64_t Payload::parameters() const { return make_layout(tensors, kUnitPerParameter).parameter_count(); }

// However it is cut, the buffer is the same.
int64_t Payload::summed_bytes() const { return make_layout(tensors, kUnitPerParameter).trainable_total * 4; }

Payload flat_payload(int64_t bytes) {
  check(bytes >= 4 && bytes % 4 == 0, "a flat buffer of whole numbers");
  return {.name = byte_size_text(bytes), .tensors = {{.name = "flat", .shape = {bytes / 4}}}};
}

std::vector<ParameterSpec> model_shapes(const std::string& name) {
  const auto known = kSizes.find(name);
  if (known != kSizes.end()) return bert_shapes(known->second);
  if (std::filesystem::is_regular_file(name)) return shapes_of_file(name);
  std::vector<std::string> names;
  for (const auto& [size, unused] : kSizes) names.push_back(size);
  const auto nearest = nearest_word(name, names);
  throw ConfigError(fmt::format("--shapes: '{}' is neither {} nor a file{}", name, join(names, ", "),
                                nearest ? "; did you mean " + *nearest + "?" : ""));
}

Payload model_payload(const std::string& name) { return {.name = name, .tensors = model_shapes(name)}; }

}  // namespace bertft
