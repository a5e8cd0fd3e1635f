#include "metrics/classification_report.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>

#include "core/error.h"
#include "core/text.h"

namespace bertft {
namespace {

constexpr size_t kNameBytes = 30;

// fmt counts the columns a text takes on a terminal, so wide characters line up.
size_t name_width(const std::vector<std::string>& names, size_t shown) {
  size_t width = 12;
  for (size_t k = 0; k < shown; ++k) width = std::max(width, excerpt(names[k], kNameBytes).size());
  return width;
}

void add_class_table(std::string& text, const ClassificationScores& scores, const std::vector<std::string>& names,
                     size_t shown) {
  const size_t width = name_width(names, shown);
  auto out = std::back_inserter(text);
  const auto line = [&](const std::string& name, double precision, double recall, double f1, int64_t support) {
    fmt::format_to(out, "{:>{}}  {:>9.4f}  {:>9.4f}  {:>9.4f}  {:>9}\n", name, width, precision, recall, f1, support);
  };
  fmt::format_to(out, "{:>{}}  {:>9}  {:>9}  {:>9}  {:>9}\n", "class", width, "precision", "recall", "F1", "rows");
  for (size_t k = 0; k < shown; ++k) {
    const ClassScores& one = scores.classes[k];
    line(excerpt(names[k], kNameBytes), one.precision, one.recall, one.f1, one.support);
  }
  if (shown < names.size()) fmt::format_to(out, "{:>{}}\n", fmt::format("... {} more", names.size() - shown), width);
  line("macro", scores.macro.precision, scores.macro.recall, scores.macro.f1, scores.rows);
  line("weighted", scores.weighted.precision, scores.weighted.recall, scores.weighted.f1, scores.rows);
  fmt::format_to(out, "{:>{}}  {:.4f} ({} of {} rows)\n", "accuracy", width, scores.accuracy, scores.correct,
                 scores.rows);
}

void add_matrix(std::string& text, const ClassificationScores& scores, const std::vector<std::string>& names) {
  const size_t classes = names.size();
  const size_t width = name_width(names, classes);
  const std::vector<int64_t> matrix = dense_confusion(scores);
  auto out = std::back_inserter(text);
  fmt::format_to(out, "{:>{}}  confusion matrix: lines are the truth, columns the prediction, in the same order\n", "",
                 width);
  for (size_t truth = 0; truth < classes; ++truth) {
    fmt::format_to(out, "{:>{}}", excerpt(names[truth], kNameBytes), width);
    for (size_t predicted = 0; predicted < classes; ++predicted) {
      fmt::format_to(out, "  {:>6}", matrix[truth * classes + predicted]);
    }
    text += '\n';
  }
}

void add_largest_errors(std::string& text, const ClassificationScores& scores, const std::vector<std::string>& names,
                        size_t limit) {
  std::vector<ConfusionCell> errors;
  std::copy_if(scores.confusion.begin(), scores.confusion.end(), std::back_inserter(errors),
               [](const ConfusionCell& cell) { return cell.truth != cell.predicted; });
  std::stable_sort(errors.begin(), errors.end(),
                   [](const ConfusionCell& a, const ConfusionCell& b) { return a.count > b.count; });
  if (errors.empty()) return;
  text += "most frequent errors (truth -> prediction)\n";
  for (size_t at = 0; at < std::min(limit, errors.size()); ++at) {
    fmt::format_to(std::back_inserter(text), "{:>8}  {} -> {}\n", errors[at].count,
                   excerpt(names[static_cast<size_t>(errors[at].truth)], kNameBytes),
                   excerpt(names[static_cast<size_t>(errors[at].predicted)], kNameBytes));
  }
}

}  // namespace

std::string classification_report(const ClassificationScores& scores, const std::vector<std::string>& names,
                                  const ReportLimits& limits) {
  check(names.size() == scores.classes.size(), "one name per class");
  std::string text;
  add_class_table(text, scores, names, std::min(names.size(), static_cast<size_t>(limits.classes)));
  if (names.size() <= static_cast<size_t>(limits.matrix_classes)) {
    add_matrix(text, scores, names);
  } else {
    add_largest_errors(text, scores, names, static_cast<size_t>(limits.errors));
  }
  return text;
}

}  // namespace bertft
