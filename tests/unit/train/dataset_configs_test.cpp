// configs/datasets: every file is loaded as `train` loads it, and gives the rows and labels that the README beside the
// data states.
#include <cstdlib>
#include <filesystem>
#include <map>
#include <numeric>
#include <set>

#include "config/rules.h"
#include "config/yaml.h"
#include "core/files.h"
#include "tasks/registry.h"
#include "tests/support/shared_data.h"
#include "tests/support/temp_folder.h"
#include "tests/support/test.h"
#include "tests/support/tiny_checkpoint.h"
#include "train/splits.h"

namespace bertft {
namespace {

using Counts = std::map<std::string, int64_t>;

struct Expected {
  std::string name;
  int64_t train = 0;  // with what dev_fraction splits off, and what is left out
  int64_t dev = 0;    // 0: split off
  int64_t test = 0;   // 0: none
  size_t labels = 0;
  Counts train_labels = {};  // some or all of them, in train and what is split off
  Counts test_labels = {};
  int64_t left_out = 0;  // of train
};

const std::vector<Expected>& expected() {
  static const std::vector<Expected> table = {
      {.name = "ag_news",
       .train = 10'001,
       .labels = 4,
       .train_labels = {{"World", 2'509}, {"Sports", 2'458}, {"Business", 2'496}, {"Sci/Tech", 2'538}}},
      {.name = "banking77", .train = 10'003, .test = 3'080, .labels = 77},
      {.name = "chnsenticorp_htl", .train = 7'766, .labels = 2, .train_labels = {{"1", 5'322}, {"0", 2'444}}},
      {.name = "cola",
       .train = 8'551,
       .dev = 527,
       .test = 516,
       .labels = 2,
       .train_labels = {{"1", 6'023}, {"0", 2'528}},
       .test_labels = {{"1", 354}, {"0", 162}}},
      {.name = "go_emotions",
       .train = 43'410,
       .dev = 5'426,
       .test = 5'427,
       .labels = 28,
       .train_labels = {{"grief", 77}, {"pride", 111}, {"relief", 153}}},
      {.name = "mrpc",
       .train = 4'076,
       .test = 1'725,
       .labels = 2,
       .train_labels = {{"1", 2'753}, {"0", 1'323}},
       .test_labels = {{"1", 1'147}, {"0", 578}}},
      {.name = "ocnli",
       .train = 10'000,
       .dev = 2'950,
       .labels = 3,
       .train_labels = {{"neutral", 3'434}, {"entailment", 3'309}, {"contradiction", 3'242}},
       .left_out = 15},
      {.name = "rte",
       .train = 1'244,
       .dev = 139,
       .test = 1'384,
       .labels = 2,
       .train_labels = {{"entailment", 627}, {"not_entailment", 617}},
       .test_labels = {{"entailment", 698}, {"not_entailment", 686}}},
      {.name = "sms_spam", .train = 5'574, .labels = 2, .train_labels = {{"ham", 4'827}, {"spam", 747}}},
      {.name = "sst2",
       .train = 60'614,
       .dev = 6'735,
       .test = 872,
       .labels = 2,
       .train_labels = {{"0", 26'786}, {"1", 33'828}},
       .test_labels = {{"0", 428}, {"1", 444}}},
      {.name = "sst5",
       .train = 8'544,
       .dev = 1'101,
       .test = 2'210,
       .labels = 5,
       .train_labels = {{"0", 1'092}, {"1", 2'218}, {"2", 1'624}, {"3", 2'322}, {"4", 1'288}}},
      {.name = "stsb_en", .train = 5'749, .dev = 1'500, .test = 1'379},
      {.name = "stsb_zh", .train = 5'749, .dev = 1'500, .test = 1'379},
      {.name = "thucnews_title",
       .train = 10'000,
       .test = 10'000,
       .labels = 10,
       .train_labels = {{"finance", 1'000}, {"entertainment", 1'000}},
       .test_labels = {{"stocks", 1'000}}},
      {.name = "tnews_fewclue", .train = 1'185, .dev = 1'098, .test = 2'010, .labels = 15},
      {.name = "trec6",
       .train = 5'452,
       .test = 500,
       .labels = 6,
       .train_labels = {{"ENTY", 1'250}, {"HUM", 1'223}, {"DESC", 1'162}, {"NUM", 896}, {"LOC", 835}, {"ABBR", 86}},
       .test_labels = {{"DESC", 138}, {"NUM", 113}, {"ENTY", 94}, {"LOC", 81}, {"HUM", 65}, {"ABBR", 9}}},
      {.name = "waimai_10k", .train = 11'987, .labels = 2, .train_labels = {{"0", 7'987}, {"1", 4'000}}},
  };
  return table;
}

void count_labels(const Dataset& dataset, const LabelTable& labels, Counts& counts) {
  for (int64_t row = 0; row < dataset.rows(); ++row) {
    if (dataset.target_kind() == TargetKind::kClass) ++counts[labels.name(dataset.label(row))];
    if (dataset.target_kind() == TargetKind::kClassSet) {
      for (const int32_t label : dataset.targets(row)) ++counts[labels.name(label)];
    }
  }
}

void require_counts(const Counts& counts, const Counts& wanted) {
  for (const auto& [label, count] : wanted) {
    INFO(label);
    REQUIRE(counts.count(label) == 1);
    REQUIRE(counts.at(label) == count);
  }
}

void require_values(const Splits& splits) {
  const auto mean = [](const Dataset& rows) {
    return std::accumulate(rows.values().begin(), rows.values().end(), 0.0) / static_cast<double>(rows.rows());
  };
  REQUIRE(mean(splits.train) == Approx(2.70).margin(0.005));
  REQUIRE(mean(*splits.dev) == Approx(2.36).margin(0.005));
  REQUIRE(mean(*splits.test) == Approx(2.61).margin(0.005));
  for (const double value : splits.train.values()) REQUIRE((value >= 0.0 && value <= 5.0));
}

// No text of dev is one of train.
void require_apart(const Splits& splits) {
  const auto hashes = splits.train.text_hashes();
  const std::set<uint64_t> known(hashes.begin(), hashes.end());
  for (const uint64_t hash : splits.dev->text_hashes()) REQUIRE(known.count(hash) == 0);
}

void check_config(const Expected& one, const Tokenizer& tokenizer) {
  RunConfig config = load_run_config("configs/datasets/" + one.name + ".yaml");
  check_run_config(config);
  config.data.cache_dir = "none";
  ModelSettings settings;
  settings.max_length = static_cast<int32_t>(config.model.max_length);
  const std::unique_ptr<Task> task = make_task(config.run.task, {.labels = label_settings(config.data)});
  REQUIRE_NOTHROW(task->choose_metric(config.eval.metric));
  const Splits splits = load_splits(config, {*task, tokenizer, settings, 2}, *task, false);
  REQUIRE_NOTHROW(task->choose_metric(config.eval.metric));

  const bool is_split_off = config.data.dev_fraction > 0;
  REQUIRE(splits.dev.has_value());
  const int64_t split_off = is_split_off ? splits.dev->rows() : 0;
  REQUIRE(splits.train.rows() + split_off + one.left_out == one.train);
  REQUIRE(splits.train.left_out().unknown_label == one.left_out);
  if (!is_split_off) REQUIRE(splits.dev->rows() == one.dev);
  REQUIRE((splits.test ? splits.test->rows() : 0) == one.test);
  REQUIRE(task->labels().names().size() == one.labels);
  if (is_split_off) {
    const double share = static_cast<double>(split_off) / static_cast<double>(one.train);
    REQUIRE(share == Approx(config.data.dev_fraction).margin(0.02));
    require_apart(splits);
  }
  Counts train;
  count_labels(splits.train, task->labels(), train);
  if (is_split_off) count_labels(*splits.dev, task->labels(), train);
  require_counts(train, one.train_labels);
  Counts test;
  if (splits.test) count_labels(*splits.test, task->labels(), test);
  require_counts(test, one.test_labels);
  if (one.labels == 0) require_values(splits);
}

TEST_CASE("Every configuration in configs/datasets reads its data as the README beside it states") {
  const auto data = test::shared_path("data");
  if (!data) return;
  const test::TempFolder folder;
  test::TinyCheckpoint().write(folder.path());
  ::setenv("BERTFT_DATA", data->c_str(), 1);
  ::setenv("BERTFT_CHECKPOINT", folder.path().c_str(), 1);
  const Tokenizer tokenizer = Tokenizer::load(folder.path(), Compat::kHf);
  std::set<std::string> known;
  for (const Expected& one : expected()) {
    INFO(one.name);
    known.insert(one.name + ".yaml");
    check_config(one, tokenizer);
  }
  for (const auto& entry : std::filesystem::directory_iterator("configs/datasets")) {
    INFO(entry.path());
    REQUIRE(known.count(entry.path().filename().string()) == 1);
  }
}

}  // namespace
}  // namespace bertft
