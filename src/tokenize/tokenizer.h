// A WordPiece tokenizer loaded from a model folder: text -> ids, equal to those of the reference on every input.
// docs/tokenizer.md says what the reference is, where the two `compat` values differ, and how equality is tested.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "tokenize/options.h"
#include "tokenize/special_tokens.h"

namespace bertft {

// One sequence as the model reads it. ids and token_types have the same length.
struct Encoding {
  std::vector<int32_t> ids;
  std::vector<int32_t> token_types;  // 0 for [CLS] A [SEP], 1 for B [SEP]
  // How many ids there would be without max_length. Exact when EncodeOptions::count_exactly is set or nothing was cut;
  // otherwise a lower bound that is larger than max_length, since reading stops soon after the cut.
  int32_t untruncated_length = 0;
};

// Immutable after load(): any number of threads may call the const functions at once. Texts are UTF-8; bytes that are
// not count as U+FFFD, one for each maximal invalid part.
class Tokenizer {
 public:
  // Reads vocab.txt, tokenizer.json, tokenizer_config.json, special_tokens_map.json, added_tokens.json and the class
  // names in config.json of `folder`, as far as they are there. Throws DataError: see tokenizer_spec.h.
  static Tokenizer load(const std::string& folder, Compat compat);

  Tokenizer(Tokenizer&&) noexcept;
  Tokenizer& operator=(Tokenizer&&) noexcept;
  ~Tokenizer();

  // The ids of a text alone, neither cut nor framed by special tokens.
  std::vector<int32_t> ids_without_special(std::string_view text) const;

  // [CLS] A [SEP]. The second form reuses the memory of `*encoding`. Throws ConfigError when max_length is below 2.
  Encoding encode(std::string_view text, const EncodeOptions& options) const;
  void encode(std::string_view text, const EncodeOptions& options, Encoding* encoding) const;

  // [CLS] A [SEP] B [SEP]. A second text without tokens gives [CLS] A [SEP] [SEP], as the reference does for a batch of
  // pairs; kGoogle: [CLS] A [SEP]. Throws ConfigError when max_length is below 3 and DataError when kOnlyFirst cannot
  // cut the pair.
  Encoding encode_pair(std::string_view a, std::string_view b, const EncodeOptions& options) const;
  void encode_pair(std::string_view a, std::string_view b, const EncodeOptions& options, Encoding* encoding) const;

  // The text of an id (0 <= id < vocab_size()); "" for ids that stand for nothing.
  const std::string& piece(int32_t id) const;

  // 1 + the largest id that can come out: how many rows an embedding needs at least.
  int32_t vocab_size() const;

  const SpecialIds& special_ids() const;  // mask is -1 when there is none
  int32_t pad_id() const { return special_ids().pad; }
  int32_t unk_id() const { return special_ids().unk; }
  int32_t cls_id() const { return special_ids().cls; }
  int32_t sep_id() const { return special_ids().sep; }
  int32_t mask_id() const { return special_ids().mask; }

  bool lower_case() const;
  Compat compat() const;

  // The limit in tokenizer_config.json; 0 when there is none (or the 1e30 that stands for none).
  int64_t model_max_length() const;

  // Names of the tokenizer files in the folder: what a written model directory needs copies of.
  const std::vector<std::string>& files() const;

  // One line each for what a user should know: files that disagree, defaults that were taken.
  const std::vector<std::string>& notes() const;

  // Changes when anything changes that ids depend on: for the keys of caches.
  uint64_t hash() const;

 private:
  struct State;
  explicit Tokenizer(std::unique_ptr<const State> state);

  void append_ids(std::string_view text, size_t limit, std::vector<int32_t>* ids) const;

  std::unique_ptr<const State> state_;
};

}  // namespace bertft
