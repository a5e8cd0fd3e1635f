#include "data/targets.h"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>
#include <unordered_map>
#include <utility>

#include "core/error.h"
#include "core/text.h"
#include "data/faults.h"

namespace bertft {
namespace {

// What each distinct label text says, once.
struct TextMeaning {
  LabelReading reading;
  std::vector<int32_t> classes;  // ascending
  std::string unknown;           // the first name that is no label; "" = none
};

std::vector<TextMeaning> meanings_of(const Dataset& dataset, const LabelReader& reader, const LabelTable& labels) {
  std::vector<TextMeaning> meanings;
  meanings.reserve(dataset.notes().label_texts.size());
  for (const std::string& text : dataset.notes().label_texts) {
    TextMeaning meaning{reader.read(text), {}, ""};
    if (reader.settings().type != LabelType::kReal) {
      for (const std::string& name : meaning.reading.names) {
        const int32_t id = labels.find(name);
        if (id < 0 && meaning.unknown.empty()) meaning.unknown = name;
        meaning.classes.push_back(id);
      }
      std::sort(meaning.classes.begin(), meaning.classes.end());
    }
    meanings.push_back(std::move(meaning));
  }
  return meanings;
}

std::string column_of(const Dataset& dataset) { return "column '" + excerpt(dataset.notes().label_column) + "'"; }

void check_column(const Dataset& dataset) {
  check(!dataset.label_texts().empty() || dataset.rows() == 0, "labels come from a label column");
}

// The texts with their counts, the most frequent first, as "'x' (3 rows), 'y' (1 row)".
std::string shown_counts(std::vector<std::pair<std::string_view, int64_t>> counts) {
  std::sort(counts.begin(), counts.end(),
            [](const auto& a, const auto& b) { return std::pair(-a.second, a.first) < std::pair(-b.second, b.first); });
  std::vector<std::string> shown;
  for (size_t i = 0; i < std::min<size_t>(counts.size(), 5); ++i) {
    shown.push_back(fmt::format("'{}' ({} row{})", excerpt(counts[i].first, 40), with_thousands(counts[i].second),
                                counts[i].second == 1 ? "" : "s"));
  }
  if (counts.size() > shown.size()) shown.push_back(fmt::format("{} more", counts.size() - shown.size()));
  return join(shown, ", ");
}

// Walks over the rows once and sorts them into good ones, rows without a label and rows with a wrong one.
class RowSorter {
 public:
  RowSorter(const Dataset& dataset, const LabelReader& reader, const LabelTable& labels)
      : dataset_(dataset),
        reader_(reader),
        labels_(labels),
        meanings_(meanings_of(dataset, reader, labels)),
        wrong_rows_(meanings_.size(), 0) {
    for (int64_t row = 0; row < dataset.rows(); ++row) sort_row(row);
  }

  const std::vector<int64_t>& good_rows() const { return good_rows_; }
  const TextMeaning& meaning(int64_t row) const {
    return meanings_[static_cast<size_t>(dataset_.label_texts()[static_cast<size_t>(row)])];
  }

  void throw_faults() const {
    missing_.throw_if_any(fmt::format("{}: {} of {} rows have no label", shown_files(dataset_.notes().paths),
                                      with_thousands(missing_.count()), with_thousands(dataset_.rows())),
                          "Fill " + column_of(dataset_) + " or remove these rows");
    const bool is_real = reader_.settings().type == LabelType::kReal;
    wrong_.throw_if_any(fmt::format("{}: {} of {} rows have a label that {}: {}", shown_files(dataset_.notes().paths),
                                    with_thousands(wrong_.count()), with_thousands(dataset_.rows()),
                                    is_real ? "is no number" : "training lacks", shown_wrong()),
                        remedy());
  }

  LeftOutRows left_out() const { return {wrong_.count(), missing_.count(), shown_wrong()}; }

 private:
  void sort_row(int64_t row) {
    const int32_t text = dataset_.label_texts()[static_cast<size_t>(row)];
    if (text < 0 || meaning(row).reading.is_missing) {
      missing_.add([&] { return dataset_.place(row) + ": the label is missing"; });
      return;
    }
    const TextMeaning& here = meaning(row);
    if (here.reading.fault.empty() && here.unknown.empty()) {
      good_rows_.push_back(row);
      return;
    }
    ++wrong_rows_[static_cast<size_t>(text)];
    wrong_.add([&] { return fault_text(row, here); });
  }

  std::string remedy() const {
    const LabelSettings& settings = reader_.settings();
    if (settings.type == LabelType::kReal) return "Mend or remove these rows";
    if (settings.is_of_model) return "Mend or remove these rows, or take a model that was trained with these labels";
    return "Mend or remove these rows, list all labels in data.labels, or set data.unknown_label: skip";
  }

  std::string fault_text(int64_t row, const TextMeaning& here) const {
    const std::string& cell =
        dataset_.notes().label_texts[static_cast<size_t>(dataset_.label_texts()[static_cast<size_t>(row)])];
    if (!here.reading.fault.empty()) {
      return fmt::format("{}: label '{}' {}", dataset_.place(row), excerpt(cell), here.reading.fault);
    }
    return fmt::format("{}: label '{}' is not among the {} labels of training{}", dataset_.place(row),
                       excerpt(here.unknown), with_thousands(labels_.size()),
                       nearest_hint(here.unknown, labels_.names()));
  }

  std::string shown_wrong() const {
    std::unordered_map<std::string_view, int64_t> counts;  // several texts may hold the same unknown name
    for (size_t text = 0; text < wrong_rows_.size(); ++text) {
      if (wrong_rows_[text] == 0) continue;
      const bool is_read = meanings_[text].reading.fault.empty();
      counts[is_read ? meanings_[text].unknown : dataset_.notes().label_texts[text]] += wrong_rows_[text];
    }
    return shown_counts({counts.begin(), counts.end()});
  }

  const Dataset& dataset_;
  const LabelReader& reader_;
  const LabelTable& labels_;
  const std::vector<TextMeaning> meanings_;
  std::vector<int64_t> wrong_rows_;  // of each text
  std::vector<int64_t> good_rows_;
  FaultList missing_;
  FaultList wrong_;
};

// The class of each good row (kSingle), or the classes of all of them one behind the other (kMulti).
std::vector<int32_t> classes_of(const RowSorter& sorter) {
  std::vector<int32_t> classes;
  classes.reserve(sorter.good_rows().size());
  for (const int64_t row : sorter.good_rows()) {
    const std::vector<int32_t>& here = sorter.meaning(row).classes;
    classes.insert(classes.end(), here.begin(), here.end());
  }
  return classes;
}

std::vector<int64_t> class_offsets(const RowSorter& sorter) {
  std::vector<int64_t> offsets = {0};
  offsets.reserve(sorter.good_rows().size() + 1);
  for (const int64_t row : sorter.good_rows()) {
    offsets.push_back(offsets.back() + static_cast<int64_t>(sorter.meaning(row).classes.size()));
  }
  return offsets;
}

std::vector<double> values_of(const RowSorter& sorter) {
  std::vector<double> values;
  values.reserve(sorter.good_rows().size());
  for (const int64_t row : sorter.good_rows()) values.push_back(sorter.meaning(row).reading.value);
  return values;
}

// The names that occur in rows, in label order; with faults, unless such rows are to be skipped.
std::vector<std::string> discovered_names(const Dataset& training, const LabelReader& reader) {
  check_column(training);
  std::vector<LabelReading> readings;
  for (const std::string& text : training.notes().label_texts) readings.push_back(reader.read(text));
  std::vector<bool> occurs(readings.size(), false);
  for (const int32_t text : training.label_texts()) {
    if (text >= 0) occurs[static_cast<size_t>(text)] = true;
  }
  std::vector<std::string> names;
  for (size_t text = 0; text < readings.size(); ++text) {
    if (occurs[text] && readings[text].fault.empty()) {
      names.insert(names.end(), readings[text].names.begin(), readings[text].names.end());
    }
  }
  return in_label_order(std::move(names));
}

}  // namespace

LabelTable find_labels(const Dataset& training, const LabelReader& reader) {
  const LabelSettings& settings = reader.settings();
  const size_t least = settings.type == LabelType::kMulti ? 1 : 2;
  if (!settings.columns.empty()) {
    std::vector<std::string> all(settings.columns.size(), "1");
    return LabelTable(reader.read(join(all, std::string(1, kColumnSeparator))).names, least);
  }
  if (const StringList given = given_labels(settings.given); !given.empty()) return LabelTable(given, least);
  std::vector<std::string> names = discovered_names(training, reader);
  if (names.size() >= least) return LabelTable(std::move(names), least);
  // Faults first: with all labels missing, "only one class" would mislead.
  if (settings.unknown == UnknownLabel::kError) RowSorter(training, reader, LabelTable(names, 0)).throw_faults();
  const std::string cut =
      training.notes().read.is_cut_by_max_rows ? "; data.max_rows took only the first rows of the file" : "";
  if (names.empty())
    throw DataError(shown_files(training.notes().paths) + ": no row has a label" + cut + ". Check data.columns.label");
  throw DataError(fmt::format(
      "{}: all {} rows have the label '{}', and one class cannot be told from another{}. Check data.columns.label",
      shown_files(training.notes().paths), with_thousands(training.rows()), excerpt(names[0]), cut));
}

std::vector<std::string> label_warnings(const Dataset& training, const LabelReader& reader, const LabelTable& labels) {
  std::vector<std::string> warnings = labels.warnings();
  const DataNotes& notes = training.notes();
  const int32_t suspect = labels.find(notes.label_column);
  if (suspect < 0 || !reader.settings().columns.empty()) return warnings;
  int64_t rows = 0;
  std::string first;
  for (int64_t row = 0; row < training.rows(); ++row) {
    const int32_t text = training.label_texts()[static_cast<size_t>(row)];
    if (text < 0 || notes.label_texts[static_cast<size_t>(text)] != notes.label_column) continue;
    if (rows++ == 0) first = training.place(row);
  }
  if (rows > 0) {
    warnings.push_back(
        fmt::format("label '{}' of {} row{} (first {}) is the name of the label column: a header line in "
                    "the middle of the file makes a class of its own",
                    excerpt(notes.label_column), with_thousands(rows), rows == 1 ? "" : "s", first));
  }
  return warnings;
}

void attach_targets(Dataset& dataset, const LabelReader& reader, const LabelTable& labels) {
  check_column(dataset);
  const RowSorter sorter(dataset, reader, labels);
  if (reader.settings().unknown == UnknownLabel::kError) sorter.throw_faults();
  if (sorter.good_rows().empty()) {
    const LeftOutRows left_out = sorter.left_out();
    throw DataError(fmt::format(
        "{}: no row is left: {} of {} have no label, {} one that training lacks{}. Check "
        "data.columns.label, data.labels "
        "and data.label_map",
        shown_files(dataset.notes().paths), with_thousands(left_out.missing_label), with_thousands(dataset.rows()),
        with_thousands(left_out.unknown_label), left_out.shown.empty() ? "" : " (" + left_out.shown + ")"));
  }
  Dataset kept = dataset;
  if (static_cast<int64_t>(sorter.good_rows().size()) < dataset.rows()) {
    kept = dataset.select(sorter.good_rows());
    kept.set_left_out(sorter.left_out());
  }
  const LabelType type = reader.settings().type;
  if (type == LabelType::kSingle) kept.set_labels(classes_of(sorter));
  if (type == LabelType::kMulti) kept.set_class_sets(class_offsets(sorter), classes_of(sorter));
  if (type == LabelType::kReal) kept.set_values(values_of(sorter));
  dataset = std::move(kept);
}

}  // namespace bertft
