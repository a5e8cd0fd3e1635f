#!/usr/bin/env python3
"""Loads model folders that bert_finetune wrote with the real transformers and compares.

usage: check_model_folder.py --case FOLDER PREDICTIONS IDS [--case ...]

PREDICTIONS is what `predict --logits --digits 9` wrote for FOLDER, IDS what `tokenize --ids` (with --pair for pairs)
printed for the same texts, one per line. The texts are the columns of PREDICTIONS that bert_finetune.json names.
Prints one line per case; exits 1 with a line per difference.
"""
import argparse
import json
import pathlib
import sys

import safetensors
import torch
import transformers

TOLERANCE = 1e-5  # |d| <= 1e-5 + 1e-5 |x|
MAX_LINES = 10


def compare_logits(model, tokenizer, texts, settings, labels, table):
    """Differences as text, and the largest absolute one."""
    expected = []
    for begin in range(0, len(table), 32):
        batch = tokenizer(*[column[begin:begin + 32] for column in texts], truncation=True, padding=True,
                          max_length=settings["max_length"], return_tensors="pt")
        with torch.no_grad():
            expected += model(**batch).logits.double().tolist()
    faults, largest = [], 0.0
    for number, (row, logits) in enumerate(zip(table, expected, strict=True)):
        for label, logit in zip(labels, logits, strict=True):
            got = float(row["logit_" + label])
            largest = max(largest, abs(got - logit))
            if abs(got - logit) > TOLERANCE + TOLERANCE * abs(logit):
                faults.append(f"row {number}: logit_{label} is {got}, expected {logit}")
        order = sorted(logits)
        if row["prediction"] != labels[logits.index(order[-1])] and order[-1] - order[-2] > TOLERANCE:
            faults.append(f"row {number}: predicted {row['prediction']}, expected {labels[logits.index(order[-1])]}")
    return faults, largest


def compare_ids(tokenizer, texts, path):
    expected = tokenizer(*texts, truncation=False)["input_ids"]
    got = [[int(number) for number in line.split()] for line in pathlib.Path(path).read_text().splitlines()]
    if len(got) != len(expected):
        return [f"{path} has {len(got)} lines, expected {len(expected)}"]
    return [f"row {i}: ids {a}, expected {b}" for i, (a, b) in enumerate(zip(got, expected)) if a != b]


def read_table(path):
    lines = pathlib.Path(path).read_text(encoding="utf-8").removesuffix("\n").split("\n")
    header = lines[0].split("\t")
    return [dict(zip(header, line.split("\t"), strict=True)) for line in lines[1:]]


def check(folder, predictions, ids):
    settings = json.loads((pathlib.Path(folder) / "bert_finetune.json").read_text())
    model, loading = transformers.AutoModelForSequenceClassification.from_pretrained(folder, output_loading_info=True)
    model.eval()
    tokenizer = transformers.AutoTokenizer.from_pretrained(folder)
    table = read_table(predictions)
    columns = [settings["columns"][name] for name in ("text", "text_pair") if settings["columns"][name]]
    texts = [[row[column] for row in table] for column in columns]
    labels = [model.config.id2label[i] for i in range(model.config.num_labels)]

    faults = [f"{key}: {sorted(names)}" for key, names in loading.items() if names]
    with safetensors.safe_open(pathlib.Path(folder) / "model.safetensors", framework="pt") as file:
        if set(file.keys()) != set(dict(model.named_parameters())):
            faults.append("the names of the tensors are not those of the model's parameters")
    if {label: i for i, label in enumerate(labels)} != model.config.label2id:
        faults.append(f"label2id {model.config.label2id} is not the inverse of id2label {labels}")
    if model.config.problem_type != "single_label_classification":
        faults.append(f"problem_type is {model.config.problem_type}")
    logit_faults, largest = compare_logits(model, tokenizer, texts, settings, labels, table)
    faults += logit_faults + compare_ids(tokenizer, texts, ids)
    print(f"{'different' if faults else 'equal'}: {folder}: {len(table)} rows, {len(labels)} labels, "
          f"{next(model.parameters()).dtype}, largest difference of a logit {largest:.1e}")
    for fault in faults[:MAX_LINES]:
        print("  " + fault)
    return not faults


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--case", nargs=3, action="append", required=True, metavar=("FOLDER", "PREDICTIONS", "IDS"))
    transformers.logging.set_verbosity_error()
    torch.set_num_threads(2)
    results = [check(*case) for case in parser.parse_args().case]
    sys.exit(0 if all(results) else 1)


if __name__ == "__main__":
    main()
