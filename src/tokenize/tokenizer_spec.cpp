#include "tokenize/tokenizer_spec.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>

#include "core/error.h"
#include "core/files.h"
#include "core/text.h"
#include "tokenize/named_tokens.h"
#include "tokenize/tokenizer_json.h"

namespace bertft {
namespace {

std::string path_in(const TokenizerFolder& folder, const std::string& name) {
  return (std::filesystem::path(folder.path) / name).string();
}

Vocab read_vocab(const TokenizerFolder& folder, std::vector<std::string>* notes) {
  const std::string text_path = path_in(folder, "vocab.txt");
  const bool has_text = folder.has("vocab.txt");
  if (!folder.has("tokenizer.json")) {
    Vocab vocab = Vocab::from_text(read_file(text_path), text_path);
    if (vocab.has_crlf())
      notes->push_back(text_path + " has CRLF line ends; they are not taken for part of the tokens");
    return vocab;
  }
  Vocab vocab = read_tokenizer_json_vocab(folder.tokenizer_json);
  if (has_text) {
    const Vocab other = Vocab::from_text(read_file(text_path), text_path);
    if (other.sorted() != vocab.sorted()) {
      notes->push_back(fmt::format(
          "vocab.txt ({} tokens) and tokenizer.json ({}) differ; tokenizer.json is used, as transformers does",
          other.different_pieces(), vocab.different_pieces()));
    }
  }
  return vocab;
}

NormalizerOptions bert_normalizer_options(const TokenizerFolder& folder, std::vector<std::string>* notes) {
  const JsonFile& config = folder.tokenizer_config;
  NormalizerOptions options;
  options.lower_case = config.boolean("do_lower_case").value_or(true);
  options.strip_accents = config.boolean("strip_accents").value_or(options.lower_case);
  options.handle_chinese_chars = config.boolean("tokenize_chinese_chars").value_or(true);
  if (!config.has("do_lower_case")) {
    notes->push_back("tokenizer_config.json does not set do_lower_case; true is taken, the default of transformers");
  }
  const auto stored = stored_lower_case(folder.tokenizer_json);
  if (stored && *stored != options.lower_case) {
    notes->push_back(fmt::format("lower case is {} in tokenizer.json, but {} by tokenizer_config.json, which counts",
                                 *stored, options.lower_case));
  }
  return options;
}

int64_t read_model_max_length(const JsonFile& config) {
  constexpr double kNone = 1e9;  // transformers writes 1e30 for "no limit"
  auto length = config.number("model_max_length");
  if (!length) length = config.number("max_len");
  return length && *length >= 1 && *length < kNone ? static_cast<int64_t>(*length) : 0;
}

void note_moved_ids(const NamedTokens& named, TokenizerSpec* spec) {
  for (const auto& [id, token] : named.with_ids) {
    const int32_t actual = spec->added.find(token.content, spec->vocab);
    if (actual == id) continue;
    spec->notes.push_back(fmt::format("added token \"{}\" is listed with id {}, but has {}, as in transformers",
                                      excerpt(token.content), id, actual));
  }
}

// Takes out the roles whose token is neither in the vocabulary nor listed with an id: the reference would invent an id
// for it that no embedding has.
void take_out_missing(const Vocab& vocab, NamedTokens* named) {
  std::erase_if(named->by_role, [&](const auto& entry) {
    const std::string& content = entry.second.content;
    const bool is_listed = std::any_of(named->with_ids.begin(), named->with_ids.end(),
                                       [&](const auto& listed) { return listed.second.content == content; });
    return !is_listed && vocab.find(content) < 0;
  });
}

// Tokens of the vocabulary that look like special ones under another name.
std::string likely_names(const Vocab& vocab) {
  std::vector<std::string> found;
  for (const char* name : {"<unk>", "<pad>", "<s>", "</s>", "<cls>", "<sep>", "[unk]", "[pad]", "[cls]", "[sep]"}) {
    if (vocab.find(name) >= 0) found.emplace_back(name);
  }
  return found.empty() ? "" : " (the vocabulary has " + join(found, " ") + ")";
}

void require_roles(const TokenizerFolder& folder, const Vocab& vocab, const NamedTokens& before,
                   const NamedTokens& after) {
  std::vector<std::string> not_found;
  bool is_fatal = false;
  for (const char* role : {"unk_token", "pad_token", "cls_token", "sep_token", "mask_token"}) {
    if (after.find(role) != nullptr) continue;
    const AddedToken* wanted = before.find(role);
    is_fatal = is_fatal || std::string_view(role) != "mask_token";
    not_found.push_back(fmt::format("{} ({})", wanted == nullptr ? "none" : wanted->content, role));
  }
  if (!is_fatal) return;
  const std::string vocab_file = path_in(folder, folder.has("tokenizer.json") ? "tokenizer.json" : "vocab.txt");
  throw DataError(fmt::format(
      "{}: special tokens not found in the vocabulary: {}{}. Name the right ones in tokenizer_config.json, for example "
      "\"cls_token\": \"<s>\", or use the vocabulary that belongs to the model",
      vocab_file, join(not_found, ", "), likely_names(vocab)));
}

// BertTokenizer: the roles decide.
void resolve_bert(const TokenizerFolder& folder, NamedTokens named, TokenizerSpec* spec) {
  const NamedTokens as_named = named;
  take_out_missing(spec->vocab, &named);
  require_roles(folder, spec->vocab, as_named, named);
  const AddedToken* mask = as_named.find("mask_token");
  if (mask != nullptr && named.find("mask_token") == nullptr) {
    spec->notes.push_back(fmt::format("the vocabulary has no {}; it is ordinary text", mask->content));
  }
  spec->added.add(named.in_order(), spec->vocab);
  note_moved_ids(named, spec);
  const auto id_of = [&](const char* role) {
    const AddedToken* token = named.find(role);
    return token == nullptr ? -1 : spec->added.find(token->content, spec->vocab);
  };
  spec->ids = {id_of("pad_token"), id_of("unk_token"), id_of("cls_token"), id_of("sep_token"), id_of("mask_token")};
}

void check_pipeline_ids(const JsonFile& file, const TokenizerJsonPipeline& pipeline, const std::string& pad_name,
                        const TokenizerSpec& spec) {
  if (spec.ids.unk < 0) {
    file.fail("model", fmt::format("the unknown token \"{}\" is not in the vocabulary", pipeline.unk_token));
  }
  if (spec.ids.pad < 0) {
    file.fail("padding", fmt::format("the padding token \"{}\" is not in the vocabulary; name one as \"pad_token\" in "
                                     "tokenizer_config.json",
                                     pad_name));
  }
  const int32_t size = std::max(spec.vocab.size(), spec.added.max_id() + 1);
  for (const int32_t id : {pipeline.cls_id, pipeline.sep_id}) {
    if (id < 0 || id >= size) file.fail("post_processor", fmt::format("the id {} is not in the vocabulary", id));
  }
}

// PreTrainedTokenizerFast: the pipeline of tokenizer.json decides; roles only add tokens that may stand in a text.
void resolve_tokenizer_json(const TokenizerFolder& folder, TokenizerSpec* spec) {
  const TokenizerJsonPipeline pipeline = read_tokenizer_json_pipeline(folder.tokenizer_json);
  spec->normalizer = pipeline.normalizer;
  spec->wordpiece.continuation_prefix = pipeline.continuation_prefix;
  spec->wordpiece.max_input_chars_per_word = pipeline.max_input_chars_per_word;
  std::vector<AddedToken> stored;
  for (auto& [id, token] : read_added_tokens_list(folder.tokenizer_json)) stored.push_back(token);
  spec->added.add(stored, spec->vocab);
  NamedTokens named = read_named_tokens(folder, false);
  take_out_missing(spec->vocab, &named);
  spec->added.add(named.in_order(), spec->vocab);
  note_moved_ids(named, spec);
  const auto id_of = [&](const std::string& content) { return spec->added.find(content, spec->vocab); };
  const AddedToken* pad = named.find("pad_token");
  const AddedToken* mask = named.find("mask_token");
  const std::string pad_name = pad != nullptr ? pad->content : pipeline.pad_token.value_or("[PAD]");
  spec->ids = {id_of(pad_name), spec->vocab.find(pipeline.unk_token), pipeline.cls_id, pipeline.sep_id,
               mask == nullptr ? -1 : id_of(mask->content)};
  check_pipeline_ids(folder.tokenizer_json, pipeline, pad_name, *spec);
}

}  // namespace

TokenizerSpec read_tokenizer_spec(const std::string& path, Compat compat) {
  const TokenizerFolder folder = read_tokenizer_folder(path);
  const TokenizerKind kind = choose_tokenizer_kind(folder);
  std::vector<std::string> notes;
  TokenizerSpec spec{.vocab = read_vocab(folder, &notes), .files = folder.files, .notes = std::move(notes)};
  if (kind == TokenizerKind::kTokenizerJson) {
    resolve_tokenizer_json(folder, &spec);
  } else {
    spec.normalizer = bert_normalizer_options(folder, &spec.notes);
    resolve_bert(folder, read_named_tokens(folder, true), &spec);
  }
  spec.wordpiece.unk_id = spec.ids.unk;
  spec.model_max_length = read_model_max_length(folder.tokenizer_config);
  spec.keep_special_text = folder.tokenizer_config.boolean("split_special_tokens").value_or(false);
  spec.truncate_left = folder.tokenizer_config.text("truncation_side").value_or("right") == "left";
  if (compat == Compat::kGoogle) spec.wordpiece.max_input_chars_per_word = 200;
  return spec;
}

}  // namespace bertft
