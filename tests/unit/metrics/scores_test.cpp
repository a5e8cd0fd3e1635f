// Correlations, ROC AUC, Matthews' coefficient, multi-label scores and calibration against scikit-learn and scipy
// (tests/golden/metrics/scores.json; null there is NaN).
#include <cmath>
#include <nlohmann/json.hpp>

#include "core/files.h"
#include "metrics/correlation.h"
#include "metrics/multi_label.h"
#include "metrics/ranking.h"
#include "tests/support/test.h"

namespace bertft {
namespace {

using Json = nlohmann::json;

const Json& golden() {
  static const Json json = Json::parse(read_file("tests/golden/metrics/scores.json"));
  return json;
}

void check_value(double got, const Json& expected) {
  if (expected.is_null()) {
    CHECK(std::isnan(got));
  } else {
    CHECK(got == Approx(expected.get<double>()).epsilon(1e-12).margin(1e-15));
  }
}

void check_averages(const AveragedScores& got, const Json& expected) {
  check_value(got.precision, expected[0]);
  check_value(got.recall, expected[1]);
  check_value(got.f1, expected[2]);
}

TEST_CASE("Errors and correlations of real values equal those of scikit-learn and scipy") {
  REQUIRE(golden()["real"].size() == 10);
  for (const Json& one : golden()["real"]) {
    INFO(one["name"]);
    const RealScores scores =
        score_real(one["truth"].get<std::vector<double>>(), one["predicted"].get<std::vector<double>>());
    check_value(scores.mean_squared_error, one["mse"]);
    check_value(scores.mean_absolute_error, one["mae"]);
    check_value(scores.spearman, one["spearman"]);
    // scipy loses digits where values are large against their spread.
    if (one["pearson"].is_null() || one["name"] != "large values") {
      check_value(scores.pearson, one["pearson"]);
    } else {
      CHECK(scores.pearson == Approx(one["pearson"].get<double>()).epsilon(1e-9));
    }
  }
}

TEST_CASE("Correlations of fewer than two rows are undefined") {
  for (const std::vector<double>& values : {std::vector<double>{}, std::vector<double>{1.0}}) {
    const RealScores scores = score_real(values, values);
    CHECK(std::isnan(scores.pearson));
    CHECK(std::isnan(scores.spearman));
    CHECK(scores.mean_squared_error == 0.0);
  }
}

TEST_CASE("The area under the ROC curve equals that of scikit-learn, ties and one class included") {
  REQUIRE(golden()["binary"].size() == 7);
  for (const Json& one : golden()["binary"]) {
    INFO(one["name"]);
    check_value(roc_auc(one["scores"].get<std::vector<double>>(), one["positive"].get<std::vector<int32_t>>()),
                one["auc"]);
  }
}

TEST_CASE("Matthews' coefficient equals that of scikit-learn") {
  REQUIRE(golden()["matthews"].size() == 7);
  for (const Json& one : golden()["matthews"]) {
    INFO(one["name"]);
    const auto truth = one["truth"].get<std::vector<int32_t>>();
    const auto predicted = one["predicted"].get<std::vector<int32_t>>();
    check_value(matthews_correlation(score_classification(truth, predicted, one["classes"])), one["mcc"]);
  }
}

TEST_CASE("Multi-label scores equal those of scikit-learn") {
  REQUIRE(golden()["multi_label"].size() == 5);
  for (const Json& one : golden()["multi_label"]) {
    INFO(one["name"]);
    const MultiLabelScores scores = score_multi_label(one["truth"].get<std::vector<uint8_t>>(),
                                                      one["predicted"].get<std::vector<uint8_t>>(), one["labels"]);
    check_value(scores.exact_match, one["exact_match"]);
    check_value(scores.hamming_loss, one["hamming_loss"]);
    check_averages(scores.micro, one["micro"]);
    check_averages(scores.macro, one["macro"]);
    check_averages(scores.weighted, one["weighted"]);
    check_averages(scores.samples, one["samples"]);
    REQUIRE(scores.labels.size() == one["f1"].size());
    for (size_t k = 0; k < scores.labels.size(); ++k) {
      check_value(scores.labels[k].precision, one["precision"][k]);
      check_value(scores.labels[k].recall, one["recall"][k]);
      check_value(scores.labels[k].f1, one["f1"][k]);
      CHECK(scores.labels[k].support == one["support"][k].get<int64_t>());
    }
  }
}

TEST_CASE("The calibration error is the mean distance of confidence and accuracy over bins") {
  REQUIRE(golden()["calibration"].size() == 3);
  for (const Json& one : golden()["calibration"]) {
    INFO(one["name"]);
    check_value(calibration_error(one["confidences"].get<std::vector<double>>(),
                                  one["right"].get<std::vector<int32_t>>(), one["bins"]),
                one["error"]);
  }
  CHECK(calibration_error({}, {}) == 0.0);
}

}  // namespace
}  // namespace bertft
