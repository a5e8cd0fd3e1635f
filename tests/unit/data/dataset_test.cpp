// Tables turned into ids: single texts, pairs, truncation, places, selections, and independence of the number of
// threads.
#include "data/dataset.h"

#include "core/error.h"
#include "core/rng.h"
#include "tests/unit/data/table_helpers.h"
#include "tests/unit/data/tiny_tokenizer.h"

namespace bertft {
namespace {

using Catch::Contains;
using test::copied;
using test::error_text;
using test::labelled_request;
using test::labelled_table;
using test::tiny_dataset;
using test::tiny_tokenizer;
using Ids = std::vector<int32_t>;

TableRequest pair_request() {
  TableRequest request;
  request.columns.text_pair = "second";
  return request;
}

EncodeOptions cut_at(int32_t max_length) { return {.max_length = max_length, .count_exactly = true}; }

Ids ids_of(const Dataset& dataset, int64_t row) {
  const auto ids = dataset.ids(row);
  return {ids.begin(), ids.end()};
}

TEST_CASE("Single texts become ids") {
  const Table table =
      parse_table("train.tsv", "text\tlabel\na b\tx\n\ty\nab z c\ty\na a a a a\tx\n", labelled_request());
  const Dataset dataset = tiny_dataset(table, cut_at(6));
  REQUIRE(dataset.rows() == 4);
  REQUIRE(ids_of(dataset, 0) == Ids{2, 5, 6, 3});
  REQUIRE(ids_of(dataset, 1) == Ids{2, 3});
  REQUIRE(ids_of(dataset, 2) == Ids{2, 5, 9, 1, 7, 3});
  REQUIRE(ids_of(dataset, 3) == Ids{2, 5, 5, 5, 5, 3});
  REQUIRE(copied(dataset.lengths()) == Ids{4, 2, 6, 6});
  REQUIRE(copied(dataset.untruncated_lengths()) == Ids{4, 2, 6, 7});
  REQUIRE(dataset.tokens() == 18);
  REQUIRE(dataset.target_kind() == TargetKind::kNone);
  REQUIRE(dataset.notes().label_texts == std::vector<std::string>{"x", "y"});
  REQUIRE(copied(dataset.label_texts()) == Ids{0, 1, 1, 0});
  REQUIRE(copied(dataset.unknown_counts()) == Ids{0, 0, 1, 0});
  REQUIRE(copied(dataset.blank_texts()) == std::vector<uint8_t>{0, 1, 0, 0});
  for (int64_t row = 0; row < 4; ++row) REQUIRE(dataset.second_begin(row) == dataset.length(row));
  REQUIRE(dataset.place(2) == "train.tsv:4");
}

TEST_CASE("Pairs know where the second text begins") {
  const Table table = parse_table("train.tsv", "text\tsecond\na b\tc\n\tc\na\t\n", pair_request());
  const Dataset dataset = tiny_dataset(table, cut_at(16));
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
  const Table table = parse_table("train.tsv", content, pair_request());
  const Dataset one = tiny_dataset(table, cut_at(12), 1);
  for (const int threads : {0, 2, 5, 64}) {
    INFO(threads << " threads");
    const Dataset many = tiny_dataset(table, cut_at(12), threads);
    REQUIRE(many.rows() == one.rows());
    REQUIRE(copied(many.lengths()) == copied(one.lengths()));
    REQUIRE(copied(many.untruncated_lengths()) == copied(one.untruncated_lengths()));
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
  const Table table = parse_table("train.tsv", content, pair_request());
  for (const int threads : {1, 4}) {
    EncodeOptions options = cut_at(6);
    options.truncation = Truncation::kOnlyFirst;
    REQUIRE_THAT(error_text<DataError>([&] { tiny_dataset(table, options, threads); }), Contains("train.tsv:1202: "));
  }
  REQUIRE_THROWS_AS(tiny_dataset(table, cut_at(1)), ConfigError);
}

TEST_CASE("Tables one behind the other make the data set of one table") {
  const std::string head = "text\tsecond\n";
  const Table whole = parse_table("t.tsv", head + "a b\tc\nab\tz\n\ta\nc\tc c\n", pair_request());
  const Tokenizer& tokenizer = tiny_tokenizer();
  DatasetBuilder builder(tokenizer, sequence_encoder(tokenizer, cut_at(16)), 2);
  builder.add(parse_table("t.tsv", head + "a b\tc\n", pair_request()));
  builder.add(parse_table("t.tsv", head + "ab\tz\n\ta\n", pair_request()));
  builder.add(parse_table("t.tsv", head + "c\tc c\n", pair_request()));
  DatasetArrays arrays = builder.take_arrays();
  const Dataset pieces(std::move(arrays), builder.take_notes({}, {"t.tsv"}));
  const Dataset expected = tiny_dataset(whole, cut_at(16));
  REQUIRE(pieces.rows() == 4);
  for (int64_t row = 0; row < 4; ++row) {
    REQUIRE(ids_of(pieces, row) == ids_of(expected, row));
    REQUIRE(pieces.second_begin(row) == expected.second_begin(row));
  }
  REQUIRE(copied(pieces.text_hashes()) == copied(expected.text_hashes()));
  REQUIRE(pieces.notes().is_pair);
  REQUIRE(pieces.notes().unknown_characters.size() == 1);
}

TEST_CASE("A selection keeps ids, places, targets and the numbers that rows had") {
  Dataset dataset = tiny_dataset(labelled_table("text\tlabel\na\tx\nb c\ty\nc\tx\na b c\tz\n"));
  dataset.set_labels({0, 1, 0, 2});
  const Dataset some = dataset.select(std::vector<int64_t>{1, 3}).select(std::vector<int64_t>{1});
  REQUIRE(some.rows() == 1);
  REQUIRE(ids_of(some, 0) == Ids{2, 5, 6, 7, 3});
  REQUIRE(some.tokens() == 5);
  REQUIRE(some.label(0) == 2);
  REQUIRE(some.place(0) == "train.tsv:5");
  REQUIRE(some.source_row(0) == 3);
  REQUIRE(some.source_rows() == 4);
  REQUIRE(dataset.source_row(2) == 2);
  dataset.set_class_sets({0, 2, 2, 3, 4}, {0, 1, 5, 7});
  const Dataset sets = dataset.select(std::vector<int64_t>{3, 0});
  REQUIRE(copied(sets.targets(0)) == Ids{7});
  REQUIRE(copied(sets.targets(1)) == Ids{0, 1});
}

TEST_CASE("Arrays of wrong sizes are broken invariants") {
  DatasetArrays arrays;
  arrays.ids = {2, 3};
  arrays.begins = {0};
  arrays.lengths = arrays.second_begins = arrays.untruncated_lengths = {2};
  Dataset dataset(arrays);
  REQUIRE(dataset.rows() == 1);
  REQUIRE(dataset.place(0) == "row 1");
  DatasetArrays behind_the_end = arrays;
  behind_the_end.begins = {1};
  REQUIRE_THROWS_AS(Dataset(behind_the_end), InternalError);
  DatasetArrays too_many_hashes = arrays;
  too_many_hashes.text_hashes = {0, 1};
  REQUIRE_THROWS_AS(Dataset(too_many_hashes), InternalError);
  REQUIRE_THROWS_AS(dataset.set_labels({0, 1}), InternalError);
}

}  // namespace
}  // namespace bertft
