// Tables turned into ids: single texts, pairs, truncation, labels, and independence of the number of threads.
#include "data/dataset.h"

#include "core/error.h"
#include "core/rng.h"
#include "tests/unit/data/table_helpers.h"
#include "tests/unit/data/tiny_tokenizer.h"

namespace bertft {
namespace {

using Catch::Contains;
using test::error_text;
using test::labelled_request;
using test::tiny_tokenizer;
using Ids = std::vector<int32_t>;

std::shared_ptr<const Table> shared_table(const std::string& content, const TableRequest& request) {
  return std::make_shared<const Table>(parse_table("train.tsv", content, request));
}

TableRequest pair_request() {
  TableRequest request;
  request.columns.text_pair = "second";
  return request;
}

EncodeSettings settings_of(int32_t max_length, int threads = 1) {
  EncodeSettings settings;
  settings.options.max_length = max_length;
  settings.options.count_exactly = true;
  settings.threads = threads;
  return settings;
}

Ids ids_of(const Dataset& dataset, int64_t row) {
  const auto ids = dataset.ids(row);
  return {ids.begin(), ids.end()};
}

TEST_CASE("Single texts become ids and labels") {
  const auto table = shared_table("text\tlabel\na b\tx\n\ty\nab z c\ty\na a a a a\tx\n", labelled_request());
  const LabelTable labels({"y", "x"});
  const Dataset dataset = encode_dataset(table, tiny_tokenizer(), &labels, settings_of(6));
  REQUIRE(dataset.rows() == 4);
  REQUIRE(ids_of(dataset, 0) == Ids{2, 5, 6, 3});
  REQUIRE(ids_of(dataset, 1) == Ids{2, 3});
  REQUIRE(ids_of(dataset, 2) == Ids{2, 5, 9, 1, 7, 3});
  REQUIRE(ids_of(dataset, 3) == Ids{2, 5, 5, 5, 5, 3});
  REQUIRE(dataset.lengths() == Ids{4, 2, 6, 6});
  REQUIRE(dataset.untruncated_lengths() == Ids{4, 2, 6, 7});
  REQUIRE(dataset.truncated_rows() == 1);
  REQUIRE(dataset.tokens() == 18);
  REQUIRE(dataset.labels() == Ids{1, 0, 0, 1});
  for (int64_t row = 0; row < 4; ++row) REQUIRE(dataset.second_begin(row) == dataset.length(row));
  REQUIRE(&dataset.table() == table.get());
}

TEST_CASE("Pairs know where the second text begins") {
  const auto table = shared_table("text\tsecond\na b\tc\n\tc\na\t\n", pair_request());
  const Dataset dataset = encode_dataset(table, tiny_tokenizer(), nullptr, settings_of(16));
  REQUIRE_FALSE(dataset.has_labels());
  REQUIRE(ids_of(dataset, 0) == Ids{2, 5, 6, 3, 7, 3});
  REQUIRE(dataset.second_begin(0) == 4);
  REQUIRE(ids_of(dataset, 1) == Ids{2, 3, 7, 3});
  REQUIRE(dataset.second_begin(1) == 2);
  REQUIRE(ids_of(dataset, 2) == Ids{2, 5, 3, 3});
  REQUIRE(dataset.second_begin(2) == 3);
}

TEST_CASE("The number of threads changes nothing") {
  std::string content = "text\tsecond\n";
  const std::string words[] = {"a", "b", "ab", "aab", "zebra", "c", "\xE4\xBD\xA0"};
  for (uint64_t row = 0; row < 3000; ++row) {
    for (uint64_t word = 0; word < mix64(row) % 9; ++word) content += words[mix64(row * 16 + word) % 7] + " ";
    content += "\t" + words[mix64(row) % 7] + "\n";
  }
  const auto table = shared_table(content, pair_request());
  const Dataset one = encode_dataset(table, tiny_tokenizer(), nullptr, settings_of(12, 1));
  for (const int threads : {0, 2, 5, 64}) {
    INFO(threads << " threads");
    const Dataset many = encode_dataset(table, tiny_tokenizer(), nullptr, settings_of(12, threads));
    REQUIRE(many.rows() == one.rows());
    REQUIRE(many.lengths() == one.lengths());
    REQUIRE(many.untruncated_lengths() == one.untruncated_lengths());
    bool all_equal = true;
    for (int64_t row = 0; row < one.rows(); ++row) {
      all_equal = all_equal && ids_of(many, row) == ids_of(one, row) && many.second_begin(row) == one.second_begin(row);
    }
    REQUIRE(all_equal);
  }
}

TEST_CASE("The first row that the tokenizer refuses is named, whatever the threads") {
  std::string content = "text\tsecond\n";
  for (int row = 0; row < 3000; ++row) content += row < 1200 ? "a b\tc\n" : "a b\ta a a a a a a a\n";
  const auto table = shared_table(content, pair_request());
  for (const int threads : {1, 4}) {
    EncodeSettings settings = settings_of(6, threads);
    settings.options.truncation = Truncation::kOnlyFirst;
    REQUIRE_THAT(error_text<DataError>([&] { encode_dataset(table, tiny_tokenizer(), nullptr, settings); }),
                 Contains("train.tsv:1202: "));
  }
  REQUIRE_THROWS_AS(encode_dataset(table, tiny_tokenizer(), nullptr, settings_of(1)), ConfigError);
}

TEST_CASE("Unknown labels are found before any text is tokenized") {
  const auto table = shared_table("text\tlabel\na\tx\nb\tz\n", labelled_request());
  const LabelTable labels({"x", "y"});
  REQUIRE_THAT(error_text<DataError>([&] { encode_dataset(table, tiny_tokenizer(), &labels, settings_of(1)); }),
               Contains("train.tsv:3: label 'z'"));
}

TEST_CASE("Arrays of wrong sizes are broken invariants") {
  DatasetArrays arrays;
  arrays.ids = {2, 3};
  arrays.offsets = {0, 2};
  arrays.lengths = arrays.second_begins = arrays.untruncated_lengths = {2};
  arrays.labels = {0};
  REQUIRE(Dataset(arrays, nullptr).rows() == 1);
  DatasetArrays no_end = arrays;
  no_end.offsets = {0, 1};
  REQUIRE_THROWS_AS(Dataset(no_end, nullptr), InternalError);
  DatasetArrays too_many_labels = arrays;
  too_many_labels.labels = {0, 1};
  REQUIRE_THROWS_AS(Dataset(too_many_labels, nullptr), InternalError);
}

}  // namespace
}  // namespace bertft
