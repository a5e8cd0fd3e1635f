#!/usr/bin/env python3
"""Makes scores.json: correlations, ROC AUC, Matthews' coefficient, multi-label and calibration scores as scikit-learn and
scipy compute them, for the unit tests of src/metrics. NaN is written as null.

Needs numpy, scipy and scikit-learn. Run: make_scores.py [OUTPUT]
"""
import json
import math
import pathlib
import sys
import warnings

import numpy
import scipy
import sklearn
from scipy import stats
from sklearn import metrics

warnings.filterwarnings("ignore")


def number(value):
    return None if math.isnan(value) else float(value)


def real(name, truth, predicted):
    truth, predicted = numpy.asarray(truth, float), numpy.asarray(predicted, float)
    return {"name": name, "truth": truth.tolist(), "predicted": predicted.tolist(),
            "mse": float(metrics.mean_squared_error(truth, predicted)),
            "mae": float(metrics.mean_absolute_error(truth, predicted)),
            "pearson": number(stats.pearsonr(truth, predicted).statistic),
            "spearman": number(stats.spearmanr(truth, predicted).statistic)}


def binary(name, scores, positive):
    return {"name": name, "scores": list(map(float, scores)), "positive": list(map(int, positive)),
            "auc": number(metrics.roc_auc_score(positive, scores))}


def matthews(name, truth, predicted, classes):
    return {"name": name, "truth": list(map(int, truth)), "predicted": list(map(int, predicted)), "classes": classes,
            "mcc": float(metrics.matthews_corrcoef(truth, predicted))}


def multi_label(name, truth, predicted):
    truth, predicted = numpy.asarray(truth, int), numpy.asarray(predicted, int)
    averaged = {average: [float(x) for x in metrics.precision_recall_fscore_support(
        truth, predicted, average=average, zero_division=0)[:3]] for average in ("micro", "macro", "weighted", "samples")}
    precision, recall, f1, support = metrics.precision_recall_fscore_support(
        truth, predicted, average=None, zero_division=0)
    return {"name": name, "labels": truth.shape[1], "truth": truth.flatten().tolist(),
            "predicted": predicted.flatten().tolist(), "exact_match": float(metrics.accuracy_score(truth, predicted)),
            "hamming_loss": float(metrics.hamming_loss(truth, predicted)), "precision": precision.tolist(),
            "recall": recall.tolist(), "f1": f1.tolist(), "support": support.tolist(), **averaged}


def calibration(name, confidences, right, bins):
    """By the definition: scikit-learn has no calibration error."""
    confidences, right = numpy.asarray(confidences, float), numpy.asarray(right, float)
    place = numpy.minimum((confidences * bins).astype(int), bins - 1)
    error = sum(abs(confidences[place == b].mean() - right[place == b].mean()) * (place == b).mean()
                for b in range(bins) if (place == b).any())
    return {"name": name, "confidences": confidences.tolist(), "right": right.astype(int).tolist(), "bins": bins,
            "error": float(error)}


def main():
    random = numpy.random.default_rng(21)
    x = random.normal(size=50)
    noisy = x + random.normal(size=50)
    guess = random.integers(0, 4, size=120)
    truth = numpy.where(random.random(120) < 0.6, guess, random.integers(0, 4, size=120))
    labels = (random.random((40, 5)) < [0.5, 0.3, 0.1, 0.7, 0.0]).astype(int)
    flips = numpy.where(random.random((40, 5)) < 0.2, 1 - labels, labels)
    positive = (random.random(60) < 0.3).astype(int)
    scores = positive + random.normal(size=60)
    confidences = random.random(80)
    answers = {
        "made_with": f"scikit-learn {sklearn.__version__}, scipy {scipy.__version__}",
        "real": [real("noisy", x, noisy), real("ties", numpy.round(x), numpy.round(noisy)),
                 real("constant prediction", x, numpy.full(50, 0.3)), real("constant truth", numpy.full(50, 2.0), x),
                 real("both constant", [1, 1, 1], [2, 2, 2]), real("exact", [0.5, 1, 4], [0.5, 1, 4]),
                 real("opposite", [1, 2, 3, 4], [8, 6, 4, 2]), real("two rows", [1, 2], [5, 9]),
                 real("large values", x * 1e6 + 1e9, noisy), real("monotonous", x, numpy.exp(3 * x))],
        "binary": [binary("noisy", scores, positive), binary("ties", numpy.round(scores), positive),
                   binary("constant score", [0.5] * 6, [0, 1, 0, 1, 1, 0]), binary("perfect", [1, 2, 3, 4], [0, 0, 1, 1]),
                   binary("inverted", [4, 3, 2, 1], [0, 0, 1, 1]), binary("one class", [1, 2, 3], [1, 1, 1]),
                   binary("no positive", [1, 2, 3], [0, 0, 0])],
        "matthews": [matthews("four classes", truth, guess, 4), matthews("two classes", truth % 2, guess % 2, 2),
                     matthews("absent class", truth % 2, guess % 2, 4), matthews("constant prediction", truth, [1] * 120, 4),
                     matthews("one class", [2] * 10, [2] * 10, 4), matthews("all right", [0, 1, 2], [0, 1, 2], 3),
                     matthews("all wrong", [0, 1, 0, 1], [1, 0, 1, 0], 2)],
        "multi_label": [multi_label("noisy", labels, flips), multi_label("all right", labels, labels),
                        multi_label("nothing predicted", labels, numpy.zeros_like(labels)),
                        multi_label("no labels at all", numpy.zeros((3, 2)), numpy.zeros((3, 2))),
                        multi_label("everything predicted", labels, numpy.ones_like(labels))],
        "calibration": [calibration("random", confidences, random.random(80) < confidences ** 2, 15),
                        calibration("certain", [1, 1, 1, 0], [1, 0, 1, 0], 15), calibration("two bins", confidences, confidences > 0.4, 2)],
    }
    output = pathlib.Path(sys.argv[1]) if len(sys.argv) > 1 else pathlib.Path(__file__).with_name("scores.json")
    lines = []
    for name, value in answers.items():
        rows = ",\n".join(json.dumps(row) for row in value) if isinstance(value, list) else None
        lines.append(f'"{name}": ' + (f"[\n{rows}\n]" if rows is not None else json.dumps(value)))
    output.write_text("{\n" + ",\n".join(lines) + "\n}\n")


if __name__ == "__main__":
    main()
