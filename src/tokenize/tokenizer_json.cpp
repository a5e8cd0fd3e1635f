#include "tokenize/tokenizer_json.h"

#include <fmt/format.h>

#include <utility>
#include <vector>

#include "core/error.h"

namespace bertft {
namespace {

using nlohmann::json;

constexpr const char* kSupported =
    "Supported: model WordPiece, normalizer BertNormalizer, pre_tokenizer BertPreTokenizer, post_processor "
    "TemplateProcessing or BertProcessing that gives [CLS] A [SEP] and [CLS] A [SEP] B [SEP]";

// A part of the pipeline, which must be an object.
const json& part(const JsonFile& file, const char* name) {
  const auto found = file.root().find(name);
  if (found == file.root().end() || !found->is_object()) file.fail(name, fmt::format("is missing. {}", kSupported));
  return *found;
}

std::string type_of(const json& object) {
  const auto type = object.find("type");
  return type != object.end() && type->is_string() ? type->get<std::string>() : "";
}

const json& part_of_type(const JsonFile& file, const char* name, const std::string& type) {
  const json& found = part(file, name);
  if (type_of(found) != type)
    file.fail(name, fmt::format("type \"{}\" is not supported. {}", type_of(found), kSupported));
  return found;
}

template <class T>
T value_or(const JsonFile& file, const char* part_name, const json& object, const char* key, T fallback) {
  const auto found = object.find(key);
  if (found == object.end() || found->is_null()) return fallback;
  try {
    return found->get<T>();
  } catch (const json::type_error&) {
    file.fail(part_name, fmt::format("\"{}\" has the wrong type ({})", key, found->type_name()));
  }
}

NormalizerOptions read_normalizer(const JsonFile& file) {
  const json& object = part_of_type(file, "normalizer", "BertNormalizer");
  const auto flag = [&](const char* key, bool fallback) { return value_or(file, "normalizer", object, key, fallback); };
  NormalizerOptions options;
  options.clean_text = flag("clean_text", true);
  options.handle_chinese_chars = flag("handle_chinese_chars", true);
  options.lower_case = flag("lowercase", true);
  options.strip_accents = flag("strip_accents", options.lower_case);
  return options;
}

[[noreturn]] void refuse_template(const JsonFile& file) {
  file.fail("post_processor", fmt::format("puts together something else than BERT's sequences. {}", kSupported));
}

// "[CLS]:0 A:0 [SEP]:0" for a template, with names and token types.
std::string describe_template(const JsonFile& file, const json& pieces) {
  if (!pieces.is_array()) refuse_template(file);
  std::string text;
  for (const json& piece : pieces) {
    if (!piece.is_object() || piece.size() != 1) refuse_template(file);
    const json& body = piece.begin().value();
    if (!body.is_object()) refuse_template(file);
    const char* mark = piece.begin().key() == "Sequence" ? "$" : "";
    text += fmt::format("{}{}:{} ", mark, value_or<std::string>(file, "post_processor", body, "id", ""),
                        value_or<int>(file, "post_processor", body, "type_id", 0));
  }
  return text;
}

int32_t template_id(const JsonFile& file, const json& object, const std::string& name) {
  const json::json_pointer pointer = json::json_pointer("/special_tokens") / name / "ids";
  if (!object.contains(pointer)) refuse_template(file);
  const json& ids = object.at(pointer);
  if (!ids.is_array() || ids.size() != 1 || !ids[0].is_number_integer()) refuse_template(file);
  return ids[0].get<int32_t>();
}

std::string first_name(const JsonFile& file, const json& single, size_t at) {
  if (!single.is_array() || single.size() != 3) refuse_template(file);
  const json::json_pointer pointer("/SpecialToken/id");
  if (!single[at].is_object() || !single[at].contains(pointer) || !single[at].at(pointer).is_string())
    refuse_template(file);
  return single[at].at(pointer).get<std::string>();
}

void read_post_processor(const JsonFile& file, TokenizerJsonPipeline* pipeline) {
  const json& object = part(file, "post_processor");
  if (type_of(object) == "BertProcessing") {
    for (const auto& [key, id] : {std::pair{"cls", &pipeline->cls_id}, std::pair{"sep", &pipeline->sep_id}}) {
      const auto found = object.find(key);
      if (found == object.end() || !found->is_array() || found->size() != 2 || !(*found)[1].is_number_integer())
        refuse_template(file);
      *id = (*found)[1].get<int32_t>();
    }
    return;
  }
  if (type_of(object) != "TemplateProcessing" || !object.contains("single") || !object.contains("pair"))
    refuse_template(file);
  const std::string cls = first_name(file, object["single"], 0);
  const std::string sep = first_name(file, object["single"], 2);
  const std::string single = fmt::format("{}:0 $A:0 {}:0 ", cls, sep);
  if (describe_template(file, object["single"]) != single) refuse_template(file);
  if (describe_template(file, object["pair"]) != fmt::format("{}$B:1 {}:1 ", single, sep)) refuse_template(file);
  pipeline->cls_id = template_id(file, object, cls);
  pipeline->sep_id = template_id(file, object, sep);
}

}  // namespace

Vocab read_tokenizer_json_vocab(const JsonFile& file) {
  const json& model = part(file, "model");
  const std::string type = type_of(model);
  if (type != "WordPiece" && !type.empty())
    file.fail("model", fmt::format("type \"{}\" is not supported. {}", type, kSupported));
  const auto vocab = model.find("vocab");
  if (vocab == model.end() || !vocab->is_object())
    file.fail("model", fmt::format("has no WordPiece vocabulary. {}", kSupported));
  std::vector<std::pair<std::string, int64_t>> pieces;
  pieces.reserve(vocab->size());
  for (const auto& [piece, id] : vocab->items()) {
    if (!id.is_number_integer()) file.fail("model", fmt::format("the id of \"{}\" is no whole number", piece));
    pieces.emplace_back(piece, id.get<int64_t>());
  }
  return Vocab::from_ids(pieces, file.path());
}

std::optional<bool> stored_lower_case(const JsonFile& file) {
  const json::json_pointer pointer("/normalizer/lowercase");
  const json& root = file.root();
  if (!root.contains("normalizer") || !root["normalizer"].is_object() || !root.contains(pointer)) return std::nullopt;
  return root.at(pointer).is_boolean() ? std::optional<bool>(root.at(pointer).get<bool>()) : std::nullopt;
}

TokenizerJsonPipeline read_tokenizer_json_pipeline(const JsonFile& file) {
  TokenizerJsonPipeline pipeline{};
  pipeline.normalizer = read_normalizer(file);
  part_of_type(file, "pre_tokenizer", "BertPreTokenizer");
  const json& model = part(file, "model");
  pipeline.unk_token = value_or<std::string>(file, "model", model, "unk_token", "[UNK]");
  pipeline.continuation_prefix = value_or<std::string>(file, "model", model, "continuing_subword_prefix", "##");
  pipeline.max_input_chars_per_word = value_or<int32_t>(file, "model", model, "max_input_chars_per_word", 100);
  read_post_processor(file, &pipeline);
  const auto padding = file.root().find("padding");
  if (padding != file.root().end() && padding->is_object() && padding->contains("pad_token")) {
    pipeline.pad_token = value_or<std::string>(file, "padding", *padding, "pad_token", "[PAD]");
  }
  return pipeline;
}

}  // namespace bertft
