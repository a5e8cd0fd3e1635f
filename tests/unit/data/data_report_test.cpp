// The figures of the data report, and the text that people read.
#include "data/data_report.h"

#include "data/targets.h"
#include "data/text_counts.h"
#include "tests/support/shared_data.h"
#include "tests/unit/data/table_helpers.h"
#include "tests/unit/data/tiny_tokenizer.h"

namespace bertft {
namespace {

using Catch::Contains;
using test::copied;
using test::labelled_table;
using test::tiny_dataset;

Dataset encoded(const std::string& content, const std::string& path, const LabelTable& labels, int32_t max_length) {
  Dataset dataset = tiny_dataset(labelled_table(content, path), {.max_length = max_length, .count_exactly = true});
  attach_targets(dataset, LabelReader({}), labels);
  return dataset;
}

TEST_CASE("Empty, repeated and contradictory texts are counted") {
  const Dataset table = tiny_dataset(labelled_table("text\tlabel\na\tx\n\tx\n \ty\na\tx\na\ty\nb\tx\n\ty\n"));
  const TextCounts counts = count_texts(table);
  REQUIRE(counts.empty == 3);
  REQUIRE(counts.duplicates == 3);
  REQUIRE(counts.contradictions == 2);
  TableRequest request;
  request.columns.text_pair = "second";
  const Dataset pairs = tiny_dataset(parse_table("p.tsv", "text\tsecond\na\tb\nb\ta\na\tb\nab\t\n\tab\n", request));
  REQUIRE(count_texts(pairs).duplicates == 1);
  REQUIRE(count_texts(pairs).empty == 2);
  REQUIRE(count_overlap(pairs, pairs) == 5);
  REQUIRE(count_overlap(table, tiny_dataset(labelled_table("text\tlabel\nb\ty\na\ty\nc\ty\n"))) == 2);
}

TEST_CASE("Length percentiles are lengths that occur") {
  std::vector<int32_t> lengths;
  for (int32_t i = 100; i >= 1; --i) lengths.push_back(i);
  const LengthSummary summary = summarize_lengths(lengths);
  REQUIRE(summary.mean == 50.5);
  REQUIRE(summary.median == 50);
  REQUIRE(summary.percentile_90 == 90);
  REQUIRE(summary.percentile_99 == 99);
  REQUIRE(summary.max == 100);
  const LengthSummary single = summarize_lengths(std::vector<int32_t>{7});
  REQUIRE(single.median == 7);
  REQUIRE(single.percentile_99 == 7);
  REQUIRE(summarize_lengths({}).max == 0);
}

TEST_CASE("Unknown tokens and the characters to blame") {
  const LabelTable labels({"x", "y"});
  const Dataset dataset = encoded("text\tlabel\na b\tx\nz a\ty\nq z z\tx\ncq\xE4\xBD\xA0\tx\n", "t.tsv", labels, 16);
  REQUIRE(copied(dataset.unknown_counts()) == std::vector<int32_t>{0, 1, 3, 2});
  const auto& characters = dataset.notes().unknown_characters;
  REQUIRE(characters.size() == 3);
  REQUIRE(characters[0].code == U'z');
  REQUIRE(characters[0].count == 3);
  REQUIRE(characters[1].code == U'q');
  REQUIRE(characters[2].code == char32_t{0x4F60});
}

TEST_CASE("The report is this text") {
  const LabelTable labels({"x", "y", "w"});
  const Dataset train =
      encoded("\xEF\xBB\xBFtext\tlabel\r\na b\tx\na\xFF\ty\na b\ty\nz\tx\na a a a a a\tx\n\n", "train.tsv", labels, 6);
  const Dataset dev = encoded("text\tlabel\na b\tx\nc\ty\n", "dev.tsv", labels, 6);
  const std::string expected =
      "train: 5 rows of train.tsv (tsv; line 1 names the columns), 1 repeat an earlier text (1 with another label)\n"
      "  3 labels: x 3 (60 %), y 2 (40 %), w 0 (0 %); 1 of them have no row here\n"
      "  tokens: 20 in all; per row mean 4.4, median 4, 90 % up to 8, 99 % up to 8, longest 8; 1 row truncated (20 %)\n"
      "  [UNK]: 5 % of the tokens, in 1 row; characters that the vocabulary lacks: U+007A z (1)\n"
      "  file: byte order mark removed; 1 of 7 lines end in CR LF; 1 empty line dropped at the end; 1 line with "
      "invalid "
      "UTF-8 (1 replacement by U+FFFD): train.tsv:3\n"
      "dev: 2 rows of dev.tsv (tsv; line 1 names the columns)\n"
      "  3 labels: x 1 (50 %), y 1 (50 %), w 0 (0 %); 1 of them have no row here\n"
      "  tokens: 7 in all; per row mean 3.5, median 3, 90 % up to 4, 99 % up to 4, longest 4; 0 rows truncated (0 %)\n"
      "  1 row (50 %) have a text that train has, too\n";
  REQUIRE(data_report({{"train", &train}, {"dev", &dev}}, labels) == expected);
}

TEST_CASE("Twenty labels are shown, the rest is counted") {
  std::string content = "text\tlabel\n";
  for (int i = 0; i < 30; ++i) content += "a\t" + std::to_string(i) + "\nb\t" + std::to_string(i) + "\n";
  const LabelTable labels = find_labels(tiny_dataset(labelled_table(content)), LabelReader({}));
  const Dataset dataset = encoded(content, "train.tsv", labels, 6);
  const std::string report = data_report({{"train", &dataset}}, labels);
  REQUIRE_THAT(report, Contains("30 labels: 0 2 (3.33 %)") && Contains("19 2 (3.33 %), 10 more labels with 20 rows"));
  REQUIRE_THAT(report, !Contains("20 2 (3.33 %)"));
}

TEST_CASE("Look-alike characters are named by their code points (B04)") {
  const auto folder = test::shared_path("data/bert_vocabs");
  const auto texts = test::shared_path("field_cases/B04/texts.txt");
  if (!folder || !texts) return;
  const auto home = std::filesystem::temp_directory_path() / ("bertft_report_" + std::to_string(::getpid()));
  std::filesystem::create_directories(home);
  std::filesystem::copy_file(*folder + "/bert-base-chinese-vocab.txt", home / "vocab.txt");
  const Tokenizer tokenizer = Tokenizer::load(home.string(), Compat::kHf);
  std::filesystem::remove_all(home);
  const Dataset dataset =
      encode_table(read_table(*texts, TableRequest{}), tokenizer, sequence_encoder(tokenizer, {}), 1);
  REQUIRE_THAT(data_report({{"predict", &dataset}}, LabelTable()), Contains("U+2F2D") && Contains("U+1D5D4"));
}

}  // namespace
}  // namespace bertft
