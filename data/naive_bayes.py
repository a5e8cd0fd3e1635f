"""Multinomial naive Bayes over a label/text TSV: the baseline a fine-tuned checkpoint has to beat on the sample data.

Prints the accuracy on the test file. Add-one smoothing; features are lower-cased words, and for Chinese characters,
which have no spaces between words, single characters and pairs of neighbours. Needs the standard library only.
"""
import argparse
import math
import re
from collections import Counter, defaultdict

WORD_OR_HAN_RUN = re.compile(r"[\u3400-\u9fff]+|[^\W_\u3400-\u9fff]+(?:'[^\W_\u3400-\u9fff]+)*")


def read_rows(path):
    """Returns the (label, text) pairs of a TSV file with the header `label<TAB>text`."""
    with open(path, encoding="utf-8", newline="") as file:
        header, *lines = file.read().removesuffix("\n").split("\n")
    if header != "label\ttext":
        raise SystemExit(f"{path}:1: header is {header!r}, expected 'label<TAB>text'")
    for number, line in enumerate(lines, start=2):
        if line.count("\t") != 1:
            raise SystemExit(f"{path}:{number}: expected 2 columns, label and text")
    if not lines:
        raise SystemExit(f"{path}: no rows after the header")
    return [tuple(line.split("\t")) for line in lines]


def features(text):
    """Yields the words of `text`, and each character and character pair of its Chinese runs."""
    for run in WORD_OR_HAN_RUN.findall(text.lower()):
        if "\u3400" <= run[0] <= "\u9fff":
            yield from run
            yield from (run[i : i + 2] for i in range(len(run) - 1))
        else:
            yield run


class NaiveBayes:
    """Class priors and per-class feature counts; features never seen in training are ignored."""

    def __init__(self, rows):
        self.row_counts = Counter(label for label, _ in rows)
        self.feature_counts = defaultdict(Counter)
        for label, text in rows:
            self.feature_counts[label].update(features(text))
        self.vocabulary = set().union(*self.feature_counts.values())
        self.totals = {label: sum(counts.values()) for label, counts in self.feature_counts.items()}

    def score(self, label, known):
        """Log of prior times likelihood, up to a constant that is the same for all labels."""
        counts, denominator = self.feature_counts[label], self.totals[label] + len(self.vocabulary)
        likelihood = sum(math.log((counts[feature] + 1) / denominator) for feature in known)
        return math.log(self.row_counts[label]) + likelihood

    def predict(self, text):
        """Returns the most probable label; ties go to the first in sorted order."""
        known = [feature for feature in features(text) if feature in self.vocabulary]
        return max(sorted(self.row_counts), key=lambda label: self.score(label, known))


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("train", help="TSV file with the header label<TAB>text")
    parser.add_argument("test", help="TSV file of the same form")
    arguments = parser.parse_args()
    model = NaiveBayes(read_rows(arguments.train))
    test = read_rows(arguments.test)
    correct = sum(model.predict(text) == label for label, text in test)
    print(f"accuracy {correct / len(test):.4f} ({correct} of {len(test)})")


if __name__ == "__main__":
    main()
