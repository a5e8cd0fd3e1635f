// How label cells of a file are to be understood: the part of section `data` that a model directory keeps, so that
// `evaluate` reads labels as training did.
#pragma once

#include <string>

#include "core/option_table.h"

namespace bertft {

enum class LabelType {
  kSingle,  // one class
  kMulti,   // any number of classes
  kReal,    // a number
};

enum class UnknownLabel {
  kError,  // rows with a label outside the set of labels, or without one, are faults
  kSkip,   // such rows are left out, counted and said
};

struct LabelSettings {
  LabelType type = LabelType::kSingle;
  StringList given = {};     // the labels in the order of their numbers; empty = those of the training rows, sorted
  StringList columns = {};   // several columns of 0 and 1, one per label (multi); empty = one column of labels
  StringMap map = {};        // text in the file -> label; other texts stay as they are
  std::string pattern = "";  // ECMAScript regular expression: the label is its first group, or all it matches; "" = all
  UnknownLabel unknown = UnknownLabel::kError;
  bool is_of_model = false;  // read from a model directory: no option can change it any more
};

LabelType parse_label_type(const std::string& text);  // single, multi, real; throws ConfigError
std::string label_type_name(LabelType type);
UnknownLabel parse_unknown_label(const std::string& text);  // error, skip; throws ConfigError
std::string unknown_label_name(UnknownLabel unknown);

// The labels that data.labels names: a list of names; or a single text, which is a file with one label a line (UTF-8
// with or without byte order mark, LF or CR LF, blanks kept); or none, for `auto` or an empty list. Throws DataError
// for an unreadable file and ConfigError for one that names fewer than two labels.
StringList given_labels(const StringList& option);

}  // namespace bertft
