// Folders with unusual tokenizer files give the ids that AutoTokenizer gives, and are accepted or noted as it does.
#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "core/files.h"
#include "digests.h"
#include "tests/support/temp_folder.h"
#include "tests/support/test.h"
#include "tokenize/tokenizer.h"

namespace bertft::test {

TEST_CASE("folders with unusual tokenizer files give the ids of AutoTokenizer") {
  const auto golden = nlohmann::json::parse(read_file(golden_path("folder_cases.json")));
  const auto texts = golden["texts"].get<std::vector<std::string>>();
  const auto pairs = golden["pairs"].get<std::vector<std::vector<std::string>>>();
  REQUIRE(golden["cases"].size() >= 45);
  for (const auto& item : golden["cases"]) {
    INFO(item["name"]);
    const TempFolder folder;
    for (const auto& [name, content] : item["files"].items()) folder.write(name, content.get<std::string>());
    const Tokenizer tokenizer = Tokenizer::load(folder.path(), Compat::kHf);
    CHECK(tokenizer.vocab_size() == item["vocab_size"].get<int32_t>());
    for (size_t i = 0; i < texts.size(); ++i) {
      INFO(texts[i]);
      CHECK(tokenizer.ids_without_special(texts[i]) == item["ids"][i].get<std::vector<int32_t>>());
    }
    for (size_t i = 0; i < pairs.size(); ++i) {
      const Encoding encoding = tokenizer.encode_pair(pairs[i][0], pairs[i][1], {});
      INFO(pairs[i][0] << " | " << pairs[i][1]);
      CHECK(encoding.ids == item["pair_ids"][i].get<std::vector<int32_t>>());
      CHECK(encoding.token_types == item["pair_types"][i].get<std::vector<int32_t>>());
      CHECK(encoding.untruncated_length == static_cast<int32_t>(encoding.ids.size()));
    }
  }
}

}  // namespace bertft::test
