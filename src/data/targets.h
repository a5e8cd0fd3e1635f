// From the label texts of a data set to what its rows are to be learned as: classes, sets of classes, or numbers.
#pragma once

#include "data/dataset.h"
#include "data/label_reader.h"
#include "data/labels.h"

namespace bertft {

// The table of classes: the given labels, or the columns of 0 and 1, or those that occur in `training`, in label order.
// Throws DataError when rows lack a label or have one that cannot be read (all of them in one message; none with
// UnknownLabel::kSkip), and when there is only one class. REQUIRES a type other than kReal and, unless labels are
// given, a label column.
LabelTable find_labels(const Dataset& training, const LabelReader& reader);

// What a user should look at in a table that was discovered: a class that is named as the label column, which a second
// header line in the middle of a file makes.
std::vector<std::string> label_warnings(const Dataset& training, const LabelReader& reader, const LabelTable& labels);

// Gives every row its target. Rows whose label is missing, cannot be read, or is not in `labels` are faults, thrown as
// one DataError ("dev.tsv:17: label 'x' is not among the 6 labels of training (nearest: 'y')"), or with
// UnknownLabel::kSkip left out: see Dataset::left_out(). No row left is a DataError, too. kReal takes no notice of
// `labels`. REQUIRES a label column.
void attach_targets(Dataset& dataset, const LabelReader& reader, const LabelTable& labels);

}  // namespace bertft
