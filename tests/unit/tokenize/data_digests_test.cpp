// Every text of the real data gives the reference's ids with four published vocabularies, lower-cased and not: one
// digest for each file. The side-by-side comparison is scripts/compare_tokenizers.py.
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "core/files.h"
#include "digests.h"
#include "tests/support/shared_data.h"
#include "tests/support/temp_folder.h"
#include "tests/support/test.h"
#include "tokenize/tokenizer.h"

namespace bertft::test {
namespace {

// A column "NAME:uncased" or "NAME:cased" of data_digests.txt.
Tokenizer tokenizer_of_column(const std::string& data, const std::string& column) {
  const size_t colon = column.find(':');
  const TempFolder folder;
  folder.write("vocab.txt", read_file(data + "/bert_vocabs/" + column.substr(0, colon) + "-vocab.txt"));
  const bool lower_case = column.substr(colon + 1) == "uncased";
  folder.write("tokenizer_config.json", lower_case ? R"({"do_lower_case": true})" : R"({"do_lower_case": false})");
  return Tokenizer::load(folder.path(), Compat::kHf);
}

std::string ids_digest(const Tokenizer& tokenizer, std::string_view content) {
  std::string bytes;
  while (!content.empty()) {
    const size_t end = content.find('\n');
    append_ids(tokenizer.ids_without_special(content.substr(0, end)), &bytes);
    content.remove_prefix(end == std::string_view::npos ? content.size() : end + 1);
  }
  return digest(bytes);
}

}  // namespace

TEST_CASE("every text of the real data gives the reference's ids") {
  const auto data = shared_path("data");
  if (!data) return;
  const DigestTable table = read_digest_table(golden_path("data_digests.txt"));
  REQUIRE(table.columns.size() == 9);
  REQUIRE(table.rows.size() >= 60);
  std::vector<std::unique_ptr<Tokenizer>> tokenizers(1);
  for (size_t i = 1; i < table.columns.size(); ++i) {
    tokenizers.push_back(std::make_unique<Tokenizer>(tokenizer_of_column(*data, table.columns[i])));
  }
  check_digests(table, [&](size_t row, size_t column) {
    const std::string& file = table.rows[row][0];
    return column == 0 ? file : ids_digest(*tokenizers[column], read_file(*data + "/" + file));
  });
}

}  // namespace bertft::test
