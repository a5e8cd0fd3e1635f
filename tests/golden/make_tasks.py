#!/usr/bin/env python3
"""Makes what tests of the kinds of labels need: tables with several labels and with real values for each row, a tiny
checkpoint with one output, and tasks.json, the losses of 20 steps of the reference in fp64 for each kind, with class
weights and with label smoothing.

Uses the checkpoints and tables of make_numerics.py; {golden} in a key stands for their folder. Needs the packages of
requirements.txt. Run: make_tasks.py [FOLDER]
"""
import json
import pathlib
import random
import sys

import numpy
import torch
import transformers
from sklearn.utils.class_weight import compute_class_weight

import make_numerics
import make_variants
import reference_run as reference

LABELS = make_numerics.LABELS
STEPS = 20


def write_tables(folder, table):
    """The texts of the single table. Some rows have no label at all, some have all."""
    draw = random.Random(3)
    multi = [("text", "label")] + [(row["text"], ",".join(label for label in LABELS if draw.random() < 0.45))
                                   for row in table]
    real = [("text", "label")] + [(row["text"], f"{draw.gauss(1.0, 1.5):.3f}") for row in table]
    for name, rows in {"train_multi.tsv": multi, "train_real.tsv": real}.items():
        (folder / name).write_text("".join("\t".join(row) + "\n" for row in rows), encoding="utf-8")


def write_real_checkpoint(folder, vocab):
    model = make_numerics.make_model(17, vocab_size=len(vocab), hidden_size=24, num_hidden_layers=1,
                                     num_attention_heads=2, intermediate_size=40)
    config = transformers.BertConfig.from_dict({**model.config.to_dict(), "id2label": {0: "LABEL_0"},
                                                "label2id": {"LABEL_0": 0}, "problem_type": "regression"})
    one = transformers.BertForSequenceClassification(config)
    kept = {name: tensor for name, tensor in model.state_dict().items() if not name.startswith("classifier")}
    one.load_state_dict(kept | {"classifier.weight": model.classifier.weight[:1].detach(),
                                "classifier.bias": model.classifier.bias[:1].detach()})
    make_numerics.write_checkpoint(one, folder / "bert_real", vocab)
    return one


def logits_of(model, batch):
    return model(**{name: tensor for name, tensor in batch.items() if name != "labels"}).logits


def single_loss(weight, smoothing):
    criterion = torch.nn.CrossEntropyLoss(weight=weight, label_smoothing=smoothing)
    return lambda model, batch: criterion(logits_of(model, batch), batch["labels"])


def own_loss(dtype):
    """The loss that transformers itself chooses by problem_type."""
    return lambda model, batch: model(**{**batch, "labels": batch["labels"].to(dtype)}).loss


def main():
    folder = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else pathlib.Path(__file__).parent / "numerics")
    torch.set_num_threads(1)
    table = reference.read_tsv(folder / "train_single.tsv")
    write_tables(folder, table)
    real_model = write_real_checkpoint(folder, make_numerics.make_vocab())
    rows = make_variants.load_rows(folder, "single")
    balanced = torch.tensor(compute_class_weight("balanced", classes=numpy.arange(3), y=rows.labels))
    given = torch.tensor([1.0, 2.5, 0.5], dtype=torch.float64)
    multi = [[float(label in row["label"].split(",")) for label in LABELS]
             for row in reference.read_tsv(folder / "train_multi.tsv")]
    real = [float(row["label"]) for row in reference.read_tsv(folder / "train_real.tsv")]

    cases = []

    def add(name, changes, model, labels, loss):
        records = reference.train(make_numerics.plain(model, torch.float64), reference.Rows(rows.encodings, labels),
                                  make_numerics.SETTINGS, STEPS, loss_of=loss)
        print(name, records["loss"][0], records["loss"][-1], flush=True)
        cases.append({"name": name, "changes": changes, "steps": STEPS, "loss": records["loss"],
                      "grad_norm": records["grad_norm"]})

    model = transformers.BertForSequenceClassification.from_pretrained(folder / "bert_48")
    add("label smoothing", ["train.label_smoothing=0.2"], model, rows.labels, single_loss(None, 0.2))
    add("balanced", ["train.class_weights=balanced"], model, rows.labels, single_loss(balanced, 0.0))
    add("given weights", ["train.class_weights={bad: 0.5, good: 2.5}"], model, rows.labels, single_loss(given, 0.0))
    add("given weights and smoothing in small pieces",
        ["train.class_weights={bad: 0.5, good: 2.5}", "train.label_smoothing=0.1", "train.micro_batch_tokens=40"],
        model, rows.labels, single_loss(given, 0.1))
    model.config.problem_type = "multi_label_classification"
    add("several labels", ["data.train={golden}/train_multi.tsv", "data.label_type=multi"], model, multi,
        own_loss(torch.float64))
    add("real values", ["data.train={golden}/train_real.tsv", "data.label_type=real", "data.labels=[]",
                        "model.checkpoint={golden}/bert_real"], real_model, real, own_loss(torch.float64))
    make_numerics.write_expected(folder / "tasks.json", {"cases": cases})


if __name__ == "__main__":
    main()
