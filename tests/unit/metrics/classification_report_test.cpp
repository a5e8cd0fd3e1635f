// The report that people read: every class, averages, and errors.
#include "metrics/classification_report.h"

#include "core/error.h"
#include "tests/support/test.h"

namespace bertft {
namespace {

using Catch::Contains;

TEST_CASE("A small report is exactly this text") {
  const std::vector<int32_t> truth = {0, 0, 1, 1, 1};
  const std::vector<int32_t> predicted = {0, 1, 1, 1, 0};
  const std::string expected =
      "       class  precision     recall         F1       rows\n"
      "    negative     0.5000     0.5000     0.5000          2\n"
      "    positive     0.6667     0.6667     0.6667          3\n"
      "       macro     0.5833     0.5833     0.5833          5\n"
      "    weighted     0.6000     0.6000     0.6000          5\n"
      "    accuracy  0.6000 (3 of 5 rows)\n"
      "              confusion matrix: lines are the truth, columns the prediction, in the same order\n"
      "    negative       1       1\n"
      "    positive       1       2\n";
  REQUIRE(classification_report(score_classification(truth, predicted, 2), {"negative", "positive"}) == expected);
}

TEST_CASE("Many classes are cut and their largest errors are named") {
  std::vector<std::string> names;
  for (int k = 0; k < 60; ++k) names.push_back("class_" + std::to_string(k));
  const std::vector<int32_t> truth = {1, 1, 1, 2, 59};
  const std::vector<int32_t> predicted = {7, 7, 1, 3, 59};
  const std::string report = classification_report(score_classification(truth, predicted, 60), names);
  REQUIRE_THAT(report, Contains("class_49") && !Contains("class_50") && Contains("... 10 more"));
  REQUIRE_THAT(report, !Contains("confusion matrix"));
  REQUIRE_THAT(report, Contains("2  class_1 -> class_7\n       1  class_2 -> class_3\n"));
}

TEST_CASE("Names of a report are made harmless") {
  const std::vector<int32_t> rows = {0, 1};
  const std::string report =
      classification_report(score_classification(rows, rows, 2), {"a\x1b[2J", std::string(1000, 'x')});
  REQUIRE_THAT(report, Contains("a\\x1b[2J") && !Contains("\x1b"));
  REQUIRE_THAT(report, !Contains(std::string(40, 'x')));
  REQUIRE_THROWS_AS(classification_report(score_classification(rows, rows, 2), {"one"}), InternalError);
}

}  // namespace
}  // namespace bertft
