#!/usr/bin/env python3
"""Loads model folders that bert_finetune wrote for several labels or real values with the real transformers and compares
problem_type, logits and predictions.

usage: check_problem_type.py [FOLDER PREDICTIONS PROBLEM_TYPE]...

PREDICTIONS is what `predict --logits --digits 9` wrote for FOLDER. Exits 1 with a line per difference.
"""
import pathlib
import sys

import torch
import transformers

TOLERANCE = 1e-5  # |d| <= 1e-5 + 1e-5 |x|


def check(folder, predictions, problem_type):
    lines = pathlib.Path(predictions).read_text(encoding="utf-8").removesuffix("\n").split("\n")
    header = lines[0].split("\t")
    table = [dict(zip(header, line.split("\t"), strict=True)) for line in lines[1:]]
    model, loading = transformers.AutoModelForSequenceClassification.from_pretrained(folder, output_loading_info=True)
    faults = [f"{kind}: {keys}" for kind, keys in loading.items() if keys]
    if model.config.problem_type != problem_type:
        faults.append(f"problem_type is {model.config.problem_type}")
    tokenizer = transformers.AutoTokenizer.from_pretrained(folder)
    batch = tokenizer([row["text"] for row in table], truncation=True, padding=True, max_length=32, return_tensors="pt")
    with torch.no_grad():
        outputs = model.eval()(**batch).logits.double().tolist()
    labels = [model.config.id2label[i] for i in range(model.config.num_labels)]
    for number, (row, logits) in enumerate(zip(table, outputs, strict=True)):
        columns = ["prediction"] if problem_type == "regression" else ["logit_" + label for label in labels]
        for column, logit in zip(columns, logits, strict=True):
            if abs(float(row[column]) - logit) > TOLERANCE + TOLERANCE * abs(logit):
                faults.append(f"row {number}: {column} is {row[column]}, expected {logit}")
        if problem_type != "regression" and min(map(abs, logits)) > TOLERANCE:
            chosen = ",".join(label for label, logit in zip(labels, logits) if logit > 0)
            if row["prediction"] != chosen:
                faults.append(f"row {number}: predicted {row['prediction']}, expected {chosen}")
    print(f"{folder}: {len(table)} rows, {problem_type}, {len(faults)} differences")
    return faults


def main():
    arguments = sys.argv[1:]
    faults = []
    for at in range(0, len(arguments), 3):
        faults += check(*arguments[at:at + 3])
    print("\n".join(faults[:20]))
    sys.exit(1 if faults else 0)


if __name__ == "__main__":
    main()
