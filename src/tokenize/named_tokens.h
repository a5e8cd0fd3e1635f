// The tokens that the files of a folder name or list: [CLS] and the others by role, extra special tokens, tokens added
// to the vocabulary. Follows AutoTokenizer of transformers 5.24 where files disagree.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "tokenize/special_tokens.h"
#include "tokenize/tokenizer_class.h"

namespace bertft {

struct NamedTokens {
  // Role ("cls_token") -> token, in the order in which the reference adds them. Roles of BERT that no file names have
  // their default; a role that is null in the files is left out.
  std::vector<std::pair<std::string, AddedToken>> by_role;
  std::vector<AddedToken> extra;           // additional_special_tokens, extra_special_tokens
  std::map<int64_t, AddedToken> with_ids;  // tokens that some file lists with an id

  const AddedToken* find(const std::string& role) const;

  // All of them in the reference's order of adding, each content once.
  std::vector<AddedToken> in_order() const;
};

// Roles: tokenizer_config.json, then special_tokens_map.json over it. Ids: added_tokens_decoder of
// tokenizer_config.json; without it (then only is special_tokens_map.json read) added_tokens.json and tokenizer.json.
// `default_roles`: [UNK] and the others for roles that are not named (BertTokenizer has them).
NamedTokens read_named_tokens(const TokenizerFolder& folder, bool default_roles);

// The "added_tokens" list of a tokenizer.json in its order, with ids.
std::vector<std::pair<int64_t, AddedToken>> read_added_tokens_list(const JsonFile& tokenizer_json);

}  // namespace bertft
