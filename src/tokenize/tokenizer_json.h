// tokenizer.json, the single-file format of the `tokenizers` package: its vocabulary, and, where it rules the
// tokenizer, its pipeline. Only the BERT WordPiece pipeline is accepted; any other part is refused by name (DataError).
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "tokenize/json_file.h"
#include "tokenize/options.h"
#include "tokenize/vocab.h"

namespace bertft {

// "model"."vocab". Refuses a model that is not WordPiece.
Vocab read_tokenizer_json_vocab(const JsonFile& file);

// "normalizer"."lowercase", if the file has it; for a note when another file overrides it.
std::optional<bool> stored_lower_case(const JsonFile& file);

// What the file's pipeline does. Truncation and padding stored in it are ignored, as AutoTokenizer does.
struct TokenizerJsonPipeline {
  NormalizerOptions normalizer;
  std::string unk_token;
  std::string continuation_prefix;
  int32_t max_input_chars_per_word;
  int32_t cls_id;  // what the post-processor puts around a text: cls A sep, cls A sep B sep
  int32_t sep_id;
  std::optional<std::string> pad_token;  // of the stored padding
};

TokenizerJsonPipeline read_tokenizer_json_pipeline(const JsonFile& file);

}  // namespace bertft
