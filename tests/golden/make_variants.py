#!/usr/bin/env python3
"""Makes tests/golden/numerics/variants.json: losses, rates and gradient norms of the reference for every update rule,
schedule, layer-wise rates, frozen parts and bf16, on the checkpoints and tables that make_numerics.py made.

Each variant names the keys of the YAML file that make bert_finetune do the same. Needs the packages of
requirements.txt. Run: make_variants.py [FOLDER]. About a minute.
"""
import dataclasses
import pathlib
import sys

import torch
import transformers

import make_numerics
import reference_run as reference

# name, keys of the YAML file, the same for the reference, steps
FP64 = [
    ("adam", ["optimizer.type=adam"], {"optimizer": "adam"}, 200),
    ("sgd", ["optimizer.type=sgd", "optimizer.learning_rate=0.02", "optimizer.momentum=0.9"],
     {"optimizer": "sgd", "learning_rate": 0.02, "momentum": 0.9}, 200),
    ("sgd without momentum", ["optimizer.type=sgd", "optimizer.learning_rate=0.05"],
     {"optimizer": "sgd", "learning_rate": 0.05}, 200),
    ("lamb", ["optimizer.type=lamb", "optimizer.learning_rate=0.005"],
     {"optimizer": "lamb", "learning_rate": 0.005}, 200),
    ("lamb, layer decay", ["optimizer.type=lamb", "optimizer.learning_rate=0.005", "optimizer.layer_decay=0.6"],
     {"optimizer": "lamb", "learning_rate": 0.005, "layer_decay": 0.6}, 20),
    ("cosine", ["schedule.type=cosine"], {"schedule": "cosine"}, 20),
    ("constant", ["schedule.type=constant"], {"schedule": "constant"}, 20),
    ("polynomial", ["schedule.type=polynomial", "schedule.power=2", "schedule.end_learning_rate=1e-5"],
     {"schedule": "polynomial", "power": 2.0, "end_learning_rate": 1e-5}, 20),
    ("layer decay", ["optimizer.layer_decay=0.7"], {"layer_decay": 0.7}, 20),
    ("embeddings frozen", ["model.freeze=embeddings"], {"frozen_stages": 1}, 20),
    ("one layer frozen", ["model.freeze=1"], {"frozen_stages": 2}, 20),
    ("all layers frozen", ["model.freeze=2", "optimizer.layer_decay=0.9"], {"frozen_stages": 3, "layer_decay": 0.9}, 20),
]


BF16_LEARNING_RATE = 1e-3


def load(folder, name, dtype):
    """The checkpoint without dropout. bert_40 has the names of a bare encoder."""
    if name == "bert_48":
        model = transformers.BertForSequenceClassification.from_pretrained(folder / name)
    else:
        model = make_numerics.make_model(14, vocab_size=len(make_numerics.make_vocab()), **make_numerics.SHAPES[name])
    return make_numerics.plain(model, dtype)


def load_rows(folder, data):
    tokenizer = transformers.AutoTokenizer.from_pretrained(folder / "bert_48")
    columns = {"single": ["text"], "pair": ["text", "text_pair"]}[data]
    table = reference.read_tsv(folder / f"train_{data}.tsv")
    return reference.encode(tokenizer, table, columns, "label", make_numerics.LABELS, make_numerics.MAX_LENGTH)


def root_mean_square(a, b):
    return (sum((x - y) ** 2 for x, y in zip(a, b)) / len(a)) ** 0.5


def bf16_values(folder, rows):
    """Logits and losses in bf16; how far the logits are from each other when sums are in fp32 or in fp64 (a value near the
    middle between two bfloat16 is rounded to either side, and later layers multiply that); how far the losses are from
    those without rounding, at a learning rate at which that is much more than what the rounding of sums makes (0.005)."""
    settings = dataclasses.replace(make_numerics.SETTINGS, learning_rate=BF16_LEARNING_RATE)
    models = [reference.with_bf16_products(load(folder, "bert_48", dtype)) for dtype in (torch.float64, torch.float32)]
    exact, single = (reference.logits(model, rows).double() for model in models)
    losses = reference.train(models[0], rows, settings, 20)["loss"]
    unrounded = reference.train(load(folder, "bert_48", torch.float64), rows, settings, 20)["loss"]
    return {"learning_rate": BF16_LEARNING_RATE, "logits": exact.tolist(), "loss": losses,
            "spread": {"logits": float((exact - single).norm() / exact.norm())},
            "unrounded_loss_rms": root_mean_square(losses, unrounded)}


def main():
    folder = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else pathlib.Path(__file__).parent / "numerics")
    torch.set_num_threads(1)
    pair, single = load_rows(folder, "pair"), load_rows(folder, "single")
    expected = {"made_with": {"torch": torch.__version__, "transformers": transformers.__version__}, "fp64": []}
    for name, changes, settings, steps in FP64:
        model = load(folder, "bert_40", torch.float64)
        records = reference.train(model, pair, dataclasses.replace(make_numerics.SETTINGS, **settings), steps)
        print(name, records["loss"][0], records["loss"][-1], flush=True)
        expected["fp64"].append({"name": name, "changes": changes, "steps": steps, "loss": records["loss"],
                                 "lr": records["lr"], "grad_norm": records["grad_norm"]})
    expected["bf16"] = bf16_values(folder, single)
    make_numerics.write_expected(folder / "variants.json", expected)


if __name__ == "__main__":
    main()
