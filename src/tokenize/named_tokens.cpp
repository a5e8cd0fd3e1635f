#include "tokenize/named_tokens.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <set>

#include "core/error.h"

namespace bertft {
namespace {

using nlohmann::json;

// In the reference's order; the last five have the default names of BERT.
constexpr std::array<const char*, 7> kRoles = {"bos_token", "eos_token", "unk_token", "sep_token",
                                               "pad_token", "cls_token", "mask_token"};
constexpr std::array<const char*, 7> kDefaultNames = {"", "", "[UNK]", "[SEP]", "[PAD]", "[CLS]", "[MASK]"};

// A token written as text or as an object with its flags.
AddedToken parse_token(const json& value, bool is_special, const JsonFile& file, const std::string& key) {
  AddedToken token;
  token.special = is_special;
  token.normalized = !is_special;
  if (value.is_string()) {
    token.content = value.get<std::string>();
    return token;
  }
  if (!value.is_object() || !value.contains("content") || !value["content"].is_string()) {
    file.fail(key, "expected a token: a text, or an object with \"content\"");
  }
  token.content = value["content"].get<std::string>();
  const auto flag = [&](const char* name, bool fallback) {
    const auto found = value.find(name);
    if (found == value.end() || found->is_null()) return fallback;
    if (!found->is_boolean()) file.fail(key, fmt::format("\"{}\" must be true or false", name));
    return found->get<bool>();
  };
  token.special = flag("special", is_special);
  token.normalized = flag("normalized", !token.special);
  token.single_word = flag("single_word", false);
  token.lstrip = flag("lstrip", false);
  token.rstrip = flag("rstrip", false);
  return token;
}

void set_role(NamedTokens* named, const std::string& role, AddedToken token) {
  const auto known = std::find_if(named->by_role.begin(), named->by_role.end(),
                                  [&](const auto& entry) { return entry.first == role; });
  if (known != named->by_role.end()) {
    known->second = std::move(token);
  } else {
    named->by_role.emplace_back(role, std::move(token));
  }
}

void add_extra(NamedTokens* named, const JsonFile& file, const std::string& key) {
  const auto found = file.root().find(key);
  if (found == file.root().end() || found->is_null()) return;
  if (found->is_object()) {
    for (const auto& [role, value] : found->items()) set_role(named, role, parse_token(value, true, file, key));
    return;
  }
  if (!found->is_array()) file.fail(key, "expected a list of tokens");
  for (const json& value : *found) named->extra.push_back(parse_token(value, true, file, key));
}

// Every "..._token" key of `file`; null removes a role.
void read_roles(const JsonFile& file, NamedTokens* named) {
  constexpr std::string_view kSuffix = "_token";
  for (const auto& [key, value] : file.root().items()) {
    if (!std::string_view(key).ends_with(kSuffix)) continue;
    const bool is_standard = std::find(kRoles.begin(), kRoles.end(), std::string_view(key)) != kRoles.end();
    if (value.is_null()) {
      std::erase_if(named->by_role, [&](const auto& entry) { return entry.first == key; });
    } else if (is_standard || value.is_string()) {
      set_role(named, key, parse_token(value, true, file, key));
    }
  }
  add_extra(named, file, "additional_special_tokens");
  add_extra(named, file, "extra_special_tokens");
}

void read_decoder(const JsonFile& file, NamedTokens* named) {
  const std::string key = "added_tokens_decoder";
  const json& decoder = file.root()[key];
  if (!decoder.is_object()) file.fail(key, "expected an object of ids and tokens");
  for (const auto& [text, value] : decoder.items()) {
    int64_t id = -1;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), id);
    if (error != std::errc() || end != text.data() + text.size()) file.fail(key, fmt::format("\"{}\" is no id", text));
    named->with_ids[id] = parse_token(value, false, file, key);
  }
}

void read_legacy_ids(const TokenizerFolder& folder, NamedTokens* named) {
  std::set<std::string> special;
  for (const auto& [role, token] : named->by_role) special.insert(token.content);
  for (const AddedToken& token : named->extra) special.insert(token.content);
  for (const auto& [content, id] : folder.added_tokens.root().items()) {
    if (!id.is_number_integer()) folder.added_tokens.fail(content, "expected an id");
    named->with_ids[id.get<int64_t>()] = parse_token(content, special.count(content) > 0, folder.added_tokens, content);
  }
  for (auto& [id, token] : read_added_tokens_list(folder.tokenizer_json)) named->with_ids[id] = token;
}

}  // namespace

const AddedToken* NamedTokens::find(const std::string& role) const {
  for (const auto& [name, token] : by_role) {
    if (name == role) return &token;
  }
  return nullptr;
}

std::vector<AddedToken> NamedTokens::in_order() const {
  std::set<std::string> roles;
  for (const auto& [role, token] : by_role) roles.insert(token.content);
  std::vector<AddedToken> tokens;
  std::set<std::string> seen;
  for (const auto& [id, token] : with_ids) {
    tokens.push_back(token);
    seen.insert(token.content);
    if (roles.count(token.content) > 0) tokens.back().special = true;
  }
  for (const auto& [role, token] : by_role) {
    if (seen.insert(token.content).second) tokens.push_back(token);
  }
  for (const AddedToken& token : extra) {
    if (seen.insert(token.content).second) tokens.push_back(token);
  }
  return tokens;
}

NamedTokens read_named_tokens(const TokenizerFolder& folder, bool default_roles) {
  // The order of the standard roles is fixed, whichever of them the files name; those without a token go at the end.
  NamedTokens named;
  for (size_t i = 0; i < kRoles.size(); ++i) {
    AddedToken token;
    if (default_roles) token.content = kDefaultNames[i];
    named.by_role.emplace_back(kRoles[i], token);
  }
  read_roles(folder.tokenizer_config, &named);
  if (folder.tokenizer_config.has("added_tokens_decoder")) {
    read_decoder(folder.tokenizer_config, &named);
  } else {
    read_roles(folder.special_tokens_map, &named);
    read_legacy_ids(folder, &named);
  }
  std::erase_if(named.by_role, [](const auto& entry) { return entry.second.content.empty(); });
  return named;
}

std::vector<std::pair<int64_t, AddedToken>> read_added_tokens_list(const JsonFile& tokenizer_json) {
  const std::string key = "added_tokens";
  std::vector<std::pair<int64_t, AddedToken>> tokens;
  const auto found = tokenizer_json.root().find(key);
  if (found == tokenizer_json.root().end() || found->is_null()) return tokens;
  if (!found->is_array()) tokenizer_json.fail(key, "expected a list");
  for (const json& value : *found) {
    const AddedToken token = parse_token(value, false, tokenizer_json, key);
    if (!value.is_object() || !value.contains("id") || !value["id"].is_number_integer()) {
      tokenizer_json.fail(key, fmt::format("\"{}\" has no id", token.content));
    }
    tokens.emplace_back(value["id"].get<int64_t>(), token);
  }
  return tokens;
}

}  // namespace bertft
