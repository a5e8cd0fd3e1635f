// What a tokenizer says of itself: special ids, pieces, files, notes, limits, hash; and its use by several threads.
// How special tokens in a text are found is compared with the reference in folder_cases_test.cpp.
#include "tokenize/special_tokens.h"

#include <string>
#include <thread>
#include <vector>

#include "random_texts.h"
#include "tests/support/temp_folder.h"
#include "tests/support/test.h"
#include "tokenize/tokenizer.h"

namespace bertft::test {
namespace {

const std::string kVocab = "[PAD]\n[UNK]\n[CLS]\n[SEP]\n[MASK]\na\n##b\n\u4eba\n";

struct Loaded {
  TempFolder folder;
  Tokenizer load(const std::string& config, const std::string& vocab = kVocab, Compat compat = Compat::kHf) const {
    folder.write("vocab.txt", vocab);
    folder.write("tokenizer_config.json", config);
    return Tokenizer::load(folder.path(), compat);
  }
};

bool has_note(const Tokenizer& tokenizer, const std::string& part) {
  for (const std::string& note : tokenizer.notes()) {
    if (note.find(part) != std::string::npos) return true;
  }
  return false;
}

}  // namespace

TEST_CASE("a tokenizer knows its ids, pieces, files and limits") {
  const Tokenizer t = Loaded().load(R"({"do_lower_case": false, "model_max_length": 512})");
  CHECK(t.pad_id() == 0);
  CHECK(t.unk_id() == 1);
  CHECK(t.cls_id() == 2);
  CHECK(t.sep_id() == 3);
  CHECK(t.mask_id() == 4);
  CHECK(t.vocab_size() == 8);
  CHECK(t.piece(6) == "##b");
  CHECK_FALSE(t.lower_case());
  CHECK(t.model_max_length() == 512);
  CHECK(t.files() == std::vector<std::string>{"vocab.txt", "tokenizer_config.json"});
  CHECK(t.notes().empty());
}

TEST_CASE("model_max_length may be absent or the number that stands for none") {
  CHECK(Loaded().load("{}").model_max_length() == 0);
  CHECK(Loaded().load(R"({"model_max_length": 1000000000000000019884624838656})").model_max_length() == 0);
  CHECK(Loaded().load(R"({"max_len": 128})").model_max_length() == 128);
}

TEST_CASE("added tokens widen the vocabulary and have pieces") {
  const Tokenizer t = Loaded().load(R"({"additional_special_tokens": ["<e>"]})");
  CHECK(t.vocab_size() == 9);
  CHECK(t.piece(8) == "<e>");
  CHECK(t.ids_without_special("a<e>ab") == std::vector<int32_t>{5, 8, 5, 6});
}

TEST_CASE("what a user should know is noted") {
  CHECK(has_note(Loaded().load("{}"), "do_lower_case"));
  CHECK(has_note(Loaded().load("{}", "[PAD]\r\n[UNK]\r\n[CLS]\r\n[SEP]\r\n[MASK]\r\n"), "CRLF"));
  const Tokenizer no_mask = Loaded().load("{}", "[PAD]\n[UNK]\n[CLS]\n[SEP]\n[\n]\nmask\n");
  CHECK(has_note(no_mask, "[MASK]"));
  CHECK(no_mask.mask_id() == -1);
  CHECK(no_mask.ids_without_special("[MASK]") == std::vector<int32_t>{4, 6, 5});
  CHECK(has_note(Loaded().load(R"({"added_tokens_decoder": {"20": {"content": "<e>"}}})"), "<e>"));
}

TEST_CASE("google: special tokens in a text are ordinary text, words may have 200 characters") {
  const std::string vocab = kVocab + "[\n]\nsep\n";
  const Loaded folder;
  const Tokenizer google = folder.load("{}", vocab, Compat::kGoogle);
  const Tokenizer hf = folder.load("{}", vocab, Compat::kHf);
  CHECK(google.ids_without_special("[SEP]") == std::vector<int32_t>{8, 10, 9});
  CHECK(hf.ids_without_special("[SEP]") == std::vector<int32_t>{3});
  const std::string long_word = "a" + std::string(199, 'b');
  CHECK(google.ids_without_special(long_word).size() == 200);
  CHECK(google.ids_without_special(long_word + "b") == std::vector<int32_t>{1});
  CHECK(hf.ids_without_special(long_word.substr(0, 100)).size() == 100);
  CHECK(hf.ids_without_special(long_word.substr(0, 101)) == std::vector<int32_t>{1});
}

TEST_CASE("the hash changes with everything that ids depend on") {
  const Loaded folder;
  const uint64_t plain = folder.load("{}").hash();
  CHECK(folder.load(R"({"do_lower_case": true})").hash() == plain);
  CHECK(folder.load(R"({"do_lower_case": false})").hash() != plain);
  CHECK(folder.load(R"({"strip_accents": false})").hash() != plain);
  CHECK(folder.load(R"({"additional_special_tokens": ["a"]})").hash() != plain);
  CHECK(folder.load("{}", kVocab, Compat::kGoogle).hash() != plain);
  CHECK(folder.load("{}", kVocab + "c\n").hash() != plain);
}

TEST_CASE("invalid bytes count as replacement characters and do not join special tokens") {
  const Tokenizer t = Loaded().load("{}");
  CHECK(t.ids_without_special("a\xFF"
                              "b") == std::vector<int32_t>{5, 6});
  CHECK(t.ids_without_special("[CL\xFFS]") == t.ids_without_special("[CL\uFFFDS]"));
  CHECK(t.ids_without_special("\xE4\xBA") == std::vector<int32_t>{});
}

TEST_CASE("several threads and several tokenizers at once give the same ids") {
  const Loaded first;
  const Loaded second;
  const Tokenizer lower = first.load(R"({"do_lower_case": true})");
  const Tokenizer cased = second.load(R"({"do_lower_case": false})", "[PAD]\n[UNK]\n[CLS]\n[SEP]\n[MASK]\nb\n##a\n");
  std::vector<std::vector<int32_t>> alone;
  for (uint64_t i = 0; i < 500; ++i) {
    alone.push_back(lower.ids_without_special(random_text(i)));
    alone.push_back(cased.ids_without_special(random_text(i)));
  }
  std::vector<std::thread> threads;
  std::vector<int> different(4, 0);
  for (size_t thread = 0; thread < different.size(); ++thread) {
    threads.emplace_back([&, thread] {
      for (uint64_t i = 0; i < 500; ++i) {
        different[thread] += lower.ids_without_special(random_text(i)) != alone[2 * i];
        different[thread] += cased.ids_without_special(random_text(i)) != alone[2 * i + 1];
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  CHECK(different == std::vector<int>(4, 0));
}

}  // namespace bertft::test
