// Scores against scikit-learn's (tests/golden/metrics), and what must hold for any rows.
#include "metrics/classification.h"

#include <nlohmann/json.hpp>
#include <numeric>

#include "core/error.h"
#include "core/files.h"
#include "tests/support/test.h"

namespace bertft {
namespace {

void require_near(const AveragedScores& scores, const std::vector<double>& expected) {
  REQUIRE(scores.precision == Approx(expected[0]).epsilon(1e-14));
  REQUIRE(scores.recall == Approx(expected[1]).epsilon(1e-14));
  REQUIRE(scores.f1 == Approx(expected[2]).epsilon(1e-14));
}

TEST_CASE("Classification scores equal scikit-learn's") {
  const auto golden = nlohmann::json::parse(read_file("tests/golden/metrics/classification.json"));
  REQUIRE(golden["cases"].size() >= 8);
  for (const auto& one : golden["cases"]) {
    INFO(one["name"]);
    const auto classes = one["classes"].get<int32_t>();
    const auto truth = one["truth"].get<std::vector<int32_t>>();
    const auto predicted = one["predicted"].get<std::vector<int32_t>>();
    const ClassificationScores scores = score_classification(truth, predicted, classes);
    REQUIRE(scores.rows == static_cast<int64_t>(truth.size()));
    REQUIRE(scores.accuracy == Approx(one["accuracy"].get<double>()).epsilon(1e-14));
    for (size_t k = 0; k < static_cast<size_t>(classes); ++k) {
      REQUIRE(scores.classes[k].precision == Approx(one["precision"][k].get<double>()).epsilon(1e-14));
      REQUIRE(scores.classes[k].recall == Approx(one["recall"][k].get<double>()).epsilon(1e-14));
      REQUIRE(scores.classes[k].f1 == Approx(one["f1"][k].get<double>()).epsilon(1e-14));
      REQUIRE(scores.classes[k].support == one["support"][k].get<int64_t>());
    }
    require_near(scores.micro, one["micro"].get<std::vector<double>>());
    require_near(scores.macro, one["macro"].get<std::vector<double>>());
    require_near(scores.weighted, one["weighted"].get<std::vector<double>>());
    std::vector<int64_t> matrix;
    for (const auto& line : one["confusion"]) {
      for (const auto& cell : line) matrix.push_back(cell.get<int64_t>());
    }
    REQUIRE(dense_confusion(scores) == matrix);
  }
}

TEST_CASE("Zero rows score zero without a division by zero") {
  const ClassificationScores scores = score_classification({}, {}, 3);
  REQUIRE(scores.rows == 0);
  REQUIRE(scores.accuracy == 0.0);
  REQUIRE(scores.macro.f1 == 0.0);
  REQUIRE(scores.weighted.f1 == 0.0);
  REQUIRE(scores.confusion.empty());
}

TEST_CASE("A hundred thousand classes need no full matrix") {
  std::vector<int32_t> truth(100'000);
  std::iota(truth.begin(), truth.end(), 0);
  std::vector<int32_t> predicted = truth;
  predicted.back() = 0;
  const ClassificationScores scores = score_classification(truth, predicted, 100'000);
  REQUIRE(scores.correct == 99'999);
  REQUIRE(scores.confusion.size() == 100'000);
  REQUIRE(scores.confusion.back() == ConfusionCell{99'999, 0, 1});
  REQUIRE(scores.classes[0].precision == 0.5);
}

TEST_CASE("Classes out of range and unequal lengths are broken invariants") {
  const std::vector<int32_t> fine = {0, 1};
  for (const std::vector<int32_t>& bad : {std::vector<int32_t>{0, 2}, {-1, 0}, {0}}) {
    REQUIRE_THROWS_AS(score_classification(fine, bad, 2), InternalError);
    REQUIRE_THROWS_AS(score_classification(bad, fine, 2), InternalError);
  }
  REQUIRE_THROWS_AS(score_classification({}, {}, 0), InternalError);
}

}  // namespace
}  // namespace bertft
