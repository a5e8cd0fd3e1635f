// Every Unicode scalar value in five surroundings gives the words and ids of the references, by digests of 4,096
// scalars.
#include <cstdint>
#include <string>
#include <vector>

#include "core/files.h"
#include "digests.h"
#include "tests/support/temp_folder.h"
#include "tests/support/test.h"
#include "tokenize/bert_normalizer.h"
#include "tokenize/google_normalizer.h"
#include "tokenize/tokenizer.h"
#include "tokenize/utf8.h"

namespace bertft::test {
namespace {

constexpr size_t kBlock = 4096;
constexpr size_t kScalars = 0x110000 - 0x800;

struct Context {
  const char* before;
  const char* after;
};

// CONTEXTS of make_scalar_digests.py.
constexpr Context kContexts[] = {
    {"", ""}, {"a", "b"}, {"", "\u0301"}, {"A\u302e", "\U0001d165B"}, {"\u0391\u03a3", "\u0391"}};

std::vector<std::string> texts_of_block(size_t block) {
  std::vector<std::string> texts;
  for (size_t index = block * kBlock; index < std::min((block + 1) * kBlock, kScalars); ++index) {
    const size_t code = index < 0xD800 ? index : index + 0x800;
    for (const Context& context : kContexts) {
      std::string text = context.before;
      append_utf8(static_cast<char32_t>(code), &text);
      texts.push_back(text + context.after);
    }
  }
  return texts;
}

std::string words_digest(const BertNormalizer& normalizer, size_t block) {
  WordBytes out;
  std::string buffer;
  for (const std::string& text : texts_of_block(block)) {
    normalizer.for_each_word(text, &buffer, &out);
    out.end_text();
  }
  return digest(out.bytes);
}

std::string google_digest(bool lower_case, size_t block) {
  WordBytes out;
  for (const std::string& text : texts_of_block(block)) {
    for_each_google_word(text, lower_case, &out);
    out.end_text();
  }
  return digest(out.bytes);
}

std::string ids_digest(const Tokenizer& tokenizer, size_t block) {
  std::string bytes;
  for (const std::string& text : texts_of_block(block)) append_ids(tokenizer.ids_without_special(text), &bytes);
  return digest(bytes);
}

BertNormalizer normalizer(bool clean, bool strip, bool lower) {
  return BertNormalizer(
      {.clean_text = clean, .handle_chinese_chars = clean, .strip_accents = strip, .lower_case = lower});
}

}  // namespace

TEST_CASE("every scalar value gives the words and ids of the references") {
  const DigestTable table = read_digest_table(golden_path("scalar_digests.txt"));
  REQUIRE(table.rows.size() == (kScalars + kBlock - 1) / kBlock);
  REQUIRE(table.columns == std::vector<std::string>{"cased", "uncased", "lower_only", "strip_only", "unclean",
                                                    "google_cased", "google_uncased", "ids_cased", "ids_uncased"});
  const std::vector<BertNormalizer> normalizers = {normalizer(true, false, false), normalizer(true, true, true),
                                                   normalizer(true, false, true), normalizer(true, true, false),
                                                   normalizer(false, true, true)};
  const TempFolder cased;
  const TempFolder uncased;
  const std::string vocab = read_file(golden_path("vocab_small.txt"));
  cased.write("vocab.txt", vocab);
  uncased.write("vocab.txt", vocab);
  cased.write("tokenizer_config.json", R"({"do_lower_case": false})");
  uncased.write("tokenizer_config.json", R"({"do_lower_case": true})");
  const Tokenizer tokenizer_cased = Tokenizer::load(cased.path(), Compat::kHf);
  const Tokenizer tokenizer_uncased = Tokenizer::load(uncased.path(), Compat::kHf);
  check_digests(table, [&](size_t block, size_t column) {
    switch (column) {
      case 5:
        return google_digest(false, block);
      case 6:
        return google_digest(true, block);
      case 7:
        return ids_digest(tokenizer_cased, block);
      case 8:
        return ids_digest(tokenizer_uncased, block);
      default:
        return words_digest(normalizers[column], block);
    }
  });
}

}  // namespace bertft::test
