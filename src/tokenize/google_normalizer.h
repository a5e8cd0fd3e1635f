// Text -> words by the rules of Google's BasicTokenizer, for `compat: google`; plain and not tuned for speed.
// Where it differs from BertNormalizer is listed in docs/tokenizer.md; Unicode data is that of Python 3.11 (14.0).
#pragma once

#include <string>
#include <string_view>

#include "tokenize/bert_normalizer.h"

namespace bertft {

// Calls `visitor` for each word until it returns false. Accents are stripped exactly when `lower_case` is true; CJK
// ideographs always stand alone. Bytes that are not UTF-8 count as U+FFFD, which the rules drop.
// Source: BasicTokenizer in tokenization.py of google-research/bert.
void for_each_google_word(std::string_view text, bool lower_case, WordVisitor* visitor);

}  // namespace bertft
