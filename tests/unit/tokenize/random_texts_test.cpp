// A million random texts give the words and ids of the references, by digests of 10,000 texts.
#include "random_texts.h"

#include <string>
#include <vector>

#include "core/files.h"
#include "digests.h"
#include "tests/support/temp_folder.h"
#include "tests/support/test.h"
#include "tokenize/tokenizer.h"

namespace bertft::test {
namespace {

constexpr size_t kBlock = 10000;

template <class Append>
std::string digest_of_block(size_t block, Append append) {
  std::string bytes;
  for (size_t i = block * kBlock; i < (block + 1) * kBlock; ++i) append(random_text(i), &bytes);
  return digest(bytes);
}

std::string texts_digest(size_t block) {
  return digest_of_block(block, [](const std::string& text, std::string* bytes) { *bytes += text + kTextEnd; });
}

std::string words_digest(const BertNormalizer& normalizer, size_t block) {
  std::string buffer;
  WordBytes out;
  return digest_of_block(block, [&](const std::string& text, std::string* bytes) {
    normalizer.for_each_word(text, &buffer, &out);
    out.end_text();
    *bytes += out.bytes;
    out.bytes.clear();
  });
}

std::string ids_digest(const Tokenizer& tokenizer, size_t block) {
  return digest_of_block(block, [&](const std::string& text, std::string* bytes) {
    append_ids(tokenizer.ids_without_special(text), bytes);
  });
}

}  // namespace

TEST_CASE("a million random texts give the words and ids of the references") {
  const DigestTable table = read_digest_table(golden_path("random_digests.txt"));
  REQUIRE(table.rows.size() == 100);
  REQUIRE(table.columns == std::vector<std::string>{"texts", "words_cased", "words_uncased", "ids_cased", "ids_uncased",
                                                    "google_cased", "google_uncased"});
  const TempFolder cased;
  const TempFolder uncased;
  const std::string vocab = read_file(golden_path("vocab_small.txt"));
  for (const TempFolder* folder : {&cased, &uncased}) folder->write("vocab.txt", vocab);
  cased.write("tokenizer_config.json", R"({"do_lower_case": false})");
  uncased.write("tokenizer_config.json", R"({"do_lower_case": true})");
  const BertNormalizer normalizer_cased({.strip_accents = false, .lower_case = false});
  const BertNormalizer normalizer_uncased({});
  const Tokenizer hf_cased = Tokenizer::load(cased.path(), Compat::kHf);
  const Tokenizer hf_uncased = Tokenizer::load(uncased.path(), Compat::kHf);
  const Tokenizer google_cased = Tokenizer::load(cased.path(), Compat::kGoogle);
  const Tokenizer google_uncased = Tokenizer::load(uncased.path(), Compat::kGoogle);
  const std::vector<const Tokenizer*> tokenizers = {&hf_cased, &hf_uncased, &google_cased, &google_uncased};
  check_digests(table, [&](size_t block, size_t column) {
    if (column == 0) return texts_digest(block);
    if (column <= 2) return words_digest(column == 1 ? normalizer_cased : normalizer_uncased, block);
    return ids_digest(*tokenizers[column - 3], block);
  });
}

}  // namespace bertft::test
