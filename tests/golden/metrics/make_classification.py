#!/usr/bin/env python3
"""Makes classification.json: class numbers and what scikit-learn says of them, for the unit tests of src/metrics.

Needs numpy and scikit-learn. Run: make_classification.py [OUTPUT]
"""
import json
import pathlib
import sys

import numpy
import sklearn
from sklearn import metrics


def averaged(truth, predicted, classes, average):
    precision, recall, f1, _ = metrics.precision_recall_fscore_support(
        truth, predicted, labels=range(classes), average=average, zero_division=0)
    return [float(precision), float(recall), float(f1)]


def case(name, truth, predicted, classes):
    precision, recall, f1, support = metrics.precision_recall_fscore_support(
        truth, predicted, labels=range(classes), average=None, zero_division=0)
    return {
        "name": name, "classes": classes, "truth": list(map(int, truth)), "predicted": list(map(int, predicted)),
        "accuracy": float(metrics.accuracy_score(truth, predicted)),
        "precision": precision.tolist(), "recall": recall.tolist(), "f1": f1.tolist(), "support": support.tolist(),
        "micro": averaged(truth, predicted, classes, "micro"),
        "macro": averaged(truth, predicted, classes, "macro"),
        "weighted": averaged(truth, predicted, classes, "weighted"),
        "confusion": metrics.confusion_matrix(truth, predicted, labels=range(classes)).tolist(),
    }


def noisy(random, rows, classes, share_right, skew=1.0):
    weights = skew ** numpy.arange(classes)
    truth = random.choice(classes, size=rows, p=weights / weights.sum())
    guess = random.integers(0, classes, size=rows)
    return truth, numpy.where(random.random(rows) < share_right, truth, guess)


def main():
    random = numpy.random.default_rng(20)
    cases = [
        case("two classes, balanced", *noisy(random, 64, 2, 0.7), 2),
        case("two classes, one rare", *noisy(random, 80, 2, 0.8, 0.1), 2),
        case("six classes, skewed", *noisy(random, 150, 6, 0.6, 0.6), 6),
        case("a class that no row has", *noisy(random, 40, 3, 0.5), 5),
        case("constant prediction", noisy(random, 30, 4, 1.0)[0], [2] * 30, 4),
        case("all right", [0, 1, 2, 2, 1], [0, 1, 2, 2, 1], 3),
        case("all wrong", [0, 1, 2, 2, 1], [1, 2, 0, 1, 0], 3),
        case("one row", [1], [0], 2),
    ]
    output = pathlib.Path(sys.argv[1]) if len(sys.argv) > 1 else pathlib.Path(__file__).with_name("classification.json")
    with open(output, "w", encoding="utf-8") as file:
        lines = ",\n".join(json.dumps(one) for one in cases)
        file.write('{"made_with": "scikit-learn %s",\n"cases": [\n%s\n]}\n' % (sklearn.__version__, lines))


if __name__ == "__main__":
    main()
