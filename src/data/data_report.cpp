#include "data/data_report.h"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>

#include "core/text.h"
#include "data/text_counts.h"
#include "tokenize/utf8.h"

namespace bertft {
namespace {

constexpr size_t kShownLabels = 20;

std::string percent(int64_t part, int64_t whole) {
  return fmt::format("{:.3g} %", whole == 0 ? 0.0 : 100.0 * static_cast<double>(part) / static_cast<double>(whole));
}

// "1 row", "1,234 rows".
std::string counted(int64_t count, const std::string& noun) {
  return with_thousands(count) + " " + noun + (count == 1 ? "" : "s");
}

std::string rows_line(const NamedSplit& split) {
  const Dataset& dataset = *split.dataset;
  const ReadNotes& read = dataset.notes().read;
  const TextCounts counts = count_texts(dataset);
  std::string line = fmt::format("{}: {} of {} ({}; {}", split.name, counted(dataset.rows(), "row"),
                                 shown_files(dataset.notes().paths), read.format, read.header_reason);
  if (read.is_cut_by_max_rows) line += "; cut by data.max_rows";
  line += ")";
  if (counts.empty > 0) line += fmt::format(", {} with an empty text", with_thousands(counts.empty));
  if (counts.duplicates > 0) line += fmt::format(", {} repeat an earlier text", with_thousands(counts.duplicates));
  if (counts.contradictions > 0) line += fmt::format(" ({} with another label)", with_thousands(counts.contradictions));
  return line + "\n";
}

std::string left_out_line(const LeftOutRows& left_out) {
  std::vector<std::string> parts;
  if (left_out.unknown_label > 0) {
    parts.push_back(fmt::format("{} with a label that is none of them: {}", counted(left_out.unknown_label, "row"),
                                left_out.shown));
  }
  if (left_out.missing_label > 0) parts.push_back(counted(left_out.missing_label, "row") + " without a label");
  return parts.empty() ? "" : "  left out: " + join(parts, "; ") + "\n";
}

// "x 3 (60 %), y 2 (40 %)" for the first labels, and how many rows the others have.
std::string shown_label_counts(const std::vector<int64_t>& counts, const LabelTable& labels, int64_t rows) {
  std::vector<std::string> shown;
  for (size_t k = 0; k < std::min(counts.size(), kShownLabels); ++k) {
    shown.push_back(
        fmt::format("{} {} ({})", excerpt(labels.names()[k], 40), with_thousands(counts[k]), percent(counts[k], rows)));
  }
  if (counts.size() > shown.size()) {
    const int64_t rest =
        std::accumulate(counts.begin() + static_cast<std::ptrdiff_t>(shown.size()), counts.end(), int64_t{0});
    shown.push_back(fmt::format("{} more labels with {}",
                                with_thousands(static_cast<int64_t>(counts.size() - shown.size())),
                                counted(rest, "row")));
  }
  const auto absent = std::count(counts.begin(), counts.end(), int64_t{0});
  return join(shown, ", ") + (absent > 0 ? fmt::format("; {} of them have no row here", with_thousands(absent)) : "");
}

std::string values_line(std::span<const double> values) {
  const auto [least, largest] = std::minmax_element(values.begin(), values.end());
  const double sum = std::accumulate(values.begin(), values.end(), 0.0);
  return fmt::format("  values: {} to {}, mean {:.4g}\n", *least, *largest, sum / static_cast<double>(values.size()));
}

std::string labels_line(const Dataset& dataset, const LabelTable& labels) {
  const TargetKind kind = dataset.target_kind();
  if (kind == TargetKind::kNone) return "";
  if (kind == TargetKind::kRealValue) return dataset.rows() == 0 ? "" : values_line(dataset.values());
  std::vector<int64_t> counts(static_cast<size_t>(labels.size()), 0);
  int64_t given = 0;
  int64_t rows_without = 0;
  for (int64_t row = 0; row < dataset.rows(); ++row) {
    const auto classes =
        kind == TargetKind::kClass ? dataset.labels().subspan(static_cast<size_t>(row), 1) : dataset.targets(row);
    for (const int32_t label : classes) ++counts[static_cast<size_t>(label)];
    given += static_cast<int64_t>(classes.size());
    rows_without += classes.empty() ? 1 : 0;
  }
  std::string line =
      fmt::format("  {} labels: {}", with_thousands(labels.size()), shown_label_counts(counts, labels, dataset.rows()));
  if (kind == TargetKind::kClassSet) {
    line += fmt::format("; {:.3g} a row, {} with none",
                        dataset.rows() == 0 ? 0.0 : static_cast<double>(given) / static_cast<double>(dataset.rows()),
                        counted(rows_without, "row"));
  }
  return line + "\n";
}

std::string tokens_line(const Dataset& dataset) {
  const LengthSummary lengths = summarize_lengths(dataset.untruncated_lengths());
  int64_t truncated = 0;
  for (size_t row = 0; row < dataset.lengths().size(); ++row) {
    truncated += dataset.untruncated_lengths()[row] > dataset.lengths()[row] ? 1 : 0;
  }
  return fmt::format(
      "  tokens: {} in all; per row mean {:.1f}, median {}, 90 % up to {}, 99 % up to {}, longest {}; {} truncated "
      "({})\n",
      with_thousands(dataset.tokens()), lengths.mean, lengths.median, lengths.percentile_90, lengths.percentile_99,
      lengths.max, counted(truncated, "row"), percent(truncated, dataset.rows()));
}

std::string character_text(char32_t code) {
  std::string text = fmt::format("U+{:04X}", static_cast<uint32_t>(code));
  const bool is_printable = code >= 0xA0 && code != 0x2028 && code != 0x2029 && !(code >= 0x200B && code <= 0x200F) &&
                            !(code >= 0x202A && code <= 0x202E) && !(code >= 0x2066 && code <= 0x2069);
  if (is_printable || (code > 0x20 && code < 0x7F)) {
    text += ' ';
    append_utf8(code, &text);
  }
  return text;
}

std::string unknown_line(const Dataset& dataset) {
  int64_t tokens = 0;
  int64_t rows = 0;
  for (const int32_t count : dataset.unknown_counts()) {
    tokens += count;
    rows += count > 0 ? 1 : 0;
  }
  if (tokens == 0) return "";
  std::string line =
      fmt::format("  [UNK]: {} of the tokens, in {}", percent(tokens, dataset.tokens()), counted(rows, "row"));
  std::vector<std::string> shown;
  for (const UnknownCharacter& one : dataset.notes().unknown_characters) {
    shown.push_back(fmt::format("{} ({})", character_text(one.code), with_thousands(one.count)));
  }
  if (!shown.empty()) line += "; characters that the vocabulary lacks: " + join(shown, ", ");
  return line + "\n";
}

// What the reader dealt with silently.
std::string file_line(const DataNotes& data) {
  const ReadNotes& notes = data.read;
  std::vector<std::string> parts;
  if (notes.has_byte_order_mark) parts.push_back("byte order mark removed");
  if (notes.crlf_lines > 0) {
    parts.push_back(
        fmt::format("{} of {} lines end in CR LF", with_thousands(notes.crlf_lines), with_thousands(notes.lines)));
  }
  if (notes.dropped_empty_lines > 0) {
    parts.push_back(counted(notes.dropped_empty_lines, "empty line") + " dropped at the end");
  }
  if (notes.replaced_lines > 0) {
    const std::vector<std::string>& places = notes.first_replaced_places;
    parts.push_back(fmt::format("{} with invalid UTF-8 ({} by U+FFFD): {}{}", counted(notes.replaced_lines, "line"),
                                counted(notes.replaced_parts, "replacement"), join(places, ", "),
                                notes.replaced_lines > static_cast<int64_t>(places.size()) ? ", ..." : ""));
  }
  return parts.empty() ? "" : "  file: " + join(parts, "; ") + "\n";
}

}  // namespace

LengthSummary summarize_lengths(std::span<const int32_t> lengths) {
  LengthSummary summary;
  if (lengths.empty()) return summary;
  std::vector<int32_t> sorted(lengths.begin(), lengths.end());
  std::sort(sorted.begin(), sorted.end());
  const auto rows = static_cast<int64_t>(sorted.size());
  const auto percentile = [&](int64_t share) {
    return sorted[static_cast<size_t>(std::max<int64_t>((rows * share + 99) / 100, 1) - 1)];
  };
  const int64_t sum = std::accumulate(sorted.begin(), sorted.end(), int64_t{0});
  summary.mean = static_cast<double>(sum) / static_cast<double>(rows);
  summary.median = percentile(50);
  summary.percentile_90 = percentile(90);
  summary.percentile_99 = percentile(99);
  summary.max = sorted.back();
  return summary;
}

std::string data_report(const std::vector<NamedSplit>& splits, const LabelTable& labels) {
  std::string report;
  for (const NamedSplit& split : splits) {
    const Dataset& dataset = *split.dataset;
    report += rows_line(split);
    report += labels_line(dataset, labels) + left_out_line(dataset.left_out()) + tokens_line(dataset) +
              unknown_line(dataset) + file_line(dataset.notes());
    if (&split == &splits.front()) continue;
    const int64_t overlap = count_overlap(*splits.front().dataset, dataset);
    if (overlap > 0) {
      report += fmt::format("  {} ({}) have a text that {} has, too\n", counted(overlap, "row"),
                            percent(overlap, dataset.rows()), splits.front().name);
    }
  }
  return report;
}

}  // namespace bertft
