#!/usr/bin/env python3
"""Compares bert_finetune with transformers on any checkpoint and any table of texts, and prints the differences.

    python scripts/compare_numerics.py --binary build/release/bert_finetune --model FOLDER --data TABLE.tsv --text COLUMN
        [--text-pair COLUMN] [--label COLUMN] [--rows N] [--batch N] [--steps N] [--max-length N] [--learning-rate X]
        [--threads N] [--fp64-steps N]

Both sides start from the same head, take the first N rows of the table and have dropout off. Compared are the logits of
all rows, the gradient of every parameter in step 1, and the losses and gradient norms of the first steps in fp32 (with
--fp64-steps also in fp64). The tolerances are those of tests/support/tolerances.h. Needs tests/golden/requirements.txt.
Exit status 1 when something is beyond its tolerance.
"""
import argparse
import contextlib
import copy
import json
import os
import pathlib
import subprocess
import sys
import tempfile

import safetensors.torch
import torch
import transformers

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "tests", "golden"))
import reference_run as reference  # noqa: E402

LOGIT = 1e-5                   # |d| <= LOGIT + LOGIT |x|
GRADIENT, OF_ALL = 1e-4, 1e-7  # ||d|| <= GRADIENT ||g|| + OF_ALL ||g_all||
STEP_LOSS = 1e-4               # |d|
STEP_NORM = 1e-4               # |d| / |x|
FP64_STEP_LOSS = 1e-8
TRACE = 1e-8                   # |d| / |x| of what the trace prints with nine digits


class Report:
    def __init__(self):
        self.faults = 0

    def line(self, what, value, limit):
        is_fault = not value <= limit
        self.faults += is_fault
        print(f"| {what} | {value:.2g} | {limit:.2g} | {'BEYOND' if is_fault else 'ok'} |", flush=True)


class Ours:
    """The executable on one checkpoint and table; every run in a folder of its own below `folder`."""

    def __init__(self, arguments, folder, model_folder, table, labels, settings):
        self.binary = os.path.abspath(arguments.binary)
        self.folder = folder
        self.config = {
            "seed": settings.seed, "threads": arguments.threads,
            "model": {"checkpoint": str(model_folder), "head": "keep", "max_length": settings.max_length, "dropout": 0,
                      "attention_dropout": 0, "classifier_dropout": 0},
            "data": {"train": str(table), "labels": labels,
                     "columns": {"text": arguments.text, "text_pair": arguments.text_pair, "label": arguments.label}},
            "train": {"global_batch_size": settings.global_batch_size, "max_grad_norm": settings.max_grad_norm},
            "optimizer": {"learning_rate": settings.learning_rate, "weight_decay": settings.weight_decay},
            "schedule": {"warmup_ratio": settings.warmup_ratio},
        }

    def train(self, name, steps, *changes):
        """The lines of the trace, and the tensors of step 1. `changes` are section.key=value."""
        path = self.folder / f"{name}.yaml"
        path.write_text(json.dumps(self.config))
        trace, dump = self.folder / f"{name}.trace", self.folder / f"{name}.safetensors"
        settings = [f"train.max_steps={steps}", f"output.dir={self.folder / name}", *changes]
        self.call("train", "--config", path, "--trace", trace, "--dump-step", "1", dump,
                  *(word for setting in settings for word in ("--set", setting)))
        return [json.loads(line) for line in trace.read_text().splitlines()], safetensors.torch.load_file(dump)

    def predict(self, model_folder, table, labels):
        columns = f"text={self.config['data']['columns']['text']}"
        if self.config["data"]["columns"]["text_pair"]:
            columns += f",text_pair={self.config['data']['columns']['text_pair']}"
        output = self.folder / "predictions.tsv"
        self.call("predict", "--model", model_folder, "--data", table, "--columns", columns, "--logits", "--digits", "9",
                  "--threads", self.config["threads"], "--output", output)
        rows = reference.read_tsv(output)
        return (torch.tensor([[float(row["logit_" + label]) for label in labels] for row in rows], dtype=torch.float64),
                [row["prediction"] for row in rows])

    def call(self, *words):
        result = subprocess.run([self.binary, *map(str, words)], capture_output=True, text=True)
        if result.returncode != 0:
            sys.exit(f"{' '.join(map(str, words))}\nexit code {result.returncode}\n{result.stderr}")


def write_start(arguments, folder, labels):
    """The checkpoint with a new head, as a folder that both sides read, and the reference's model."""
    config = reference.without_dropout(transformers.AutoConfig.from_pretrained(
        arguments.model, id2label=dict(enumerate(labels)), label2id={label: i for i, label in enumerate(labels)}))
    torch.manual_seed(arguments.seed)
    model = transformers.AutoModelForSequenceClassification.from_pretrained(arguments.model, config=config,
                                                                            dtype=torch.float32)
    # A fresh head is so small that every logit is near 0; this one gives logits of the size of a trained model's.
    with torch.no_grad():
        model.classifier.weight.normal_(0.0, 0.2)
    model.save_pretrained(folder)
    transformers.AutoTokenizer.from_pretrained(arguments.model).save_pretrained(folder)
    return model


def write_table(path, table):
    columns = list(table[0])
    lines = ["\t".join(columns)] + ["\t".join(row[column] for column in columns) for row in table]
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")


def compare_logits(report, what, got, expected):
    excess = (got - expected).abs() / (1.0 + expected.abs())
    report.line(f"{what}: logits of {len(expected)} rows, largest \\|d\\| / (1 + \\|x\\|)", excess.max().item(), LOGIT)


def compare_gradients(report, got, expected):
    whole = sum(gradient.double().norm().item() ** 2 for gradient in expected.values()) ** 0.5
    squares, worst, worst_name, share = 0.0, 0.0, "", 0.0
    for name, gradient in expected.items():
        distance = (got["grad." + name].double() - gradient.double()).norm().item()
        norm = gradient.double().norm().item()
        squares += distance ** 2
        share = max(share, distance / (GRADIENT * norm + OF_ALL * whole))
        if norm > 1e-6 * whole and distance / norm > worst:
            worst, worst_name = distance / norm, name
    report.line(f"gradients of {len(expected)} parameters, all together, \\|\\|d\\|\\| / \\|\\|g\\|\\|",
                squares ** 0.5 / whole, GRADIENT)
    report.line(f"worst single one (but for key biases): {worst_name}", worst, GRADIENT)
    report.line("worst single one, as share of 1e-4 \\|\\|g\\|\\| + 1e-7 \\|\\|g_all\\|\\|", share, 1.0)
    if set(got) != {"logits", *("grad." + name for name in expected)}:
        sys.exit("the dumped tensors are not those of the reference's parameters")


def compare_steps(report, what, trace, expected, loss_limit, norm_limit):
    if [line["rows"] for line in trace] != expected["rows"]:
        sys.exit("the executable took other rows than the reference")
    worst = max(abs(line["loss"] - value) for line, value in zip(trace, expected["loss"]))
    report.line(f"{what}: losses of {len(trace)} steps, {expected['loss'][0]:.4f} to {expected['loss'][-1]:.4f}, largest "
                "\\|d\\|", worst, loss_limit)
    for key, limit in (("grad_norm", norm_limit), ("lr", TRACE)):
        worst = max(abs(line[key] - value) / max(abs(value), 1e-12) for line, value in zip(trace, expected[key]))
        report.line(f"{what}: {key}, largest \\|d\\| / \\|x\\|", worst, limit)


def make_parser(description):
    parser = argparse.ArgumentParser(description=description, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--binary", required=True)
    parser.add_argument("--model", required=True)
    parser.add_argument("--data", required=True)
    parser.add_argument("--text", default="text")
    parser.add_argument("--text-pair", default="")
    parser.add_argument("--label", default="label")
    parser.add_argument("--rows", type=int, default=640)
    parser.add_argument("--batch", type=int, default=32)
    parser.add_argument("--steps", type=int, default=20)
    parser.add_argument("--max-length", type=int, default=128)
    parser.add_argument("--learning-rate", type=float, default=5e-5)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--seed", type=int, default=42)
    return parser


@contextlib.contextmanager
def prepared(arguments):
    """Settings, the reference's model and rows, and Ours, in a folder that vanishes afterwards."""
    transformers.logging.set_verbosity_error()
    transformers.logging.disable_progress_bar()
    torch.set_num_threads(arguments.threads)
    columns = [name for name in (arguments.text, arguments.text_pair) if name]
    table = [{name: row[name] for name in [*columns, arguments.label]}
             for row in reference.read_tsv(arguments.data)[:arguments.rows]]
    labels = sorted({row[arguments.label] for row in table})
    settings = reference.Settings(seed=arguments.seed, global_batch_size=arguments.batch, max_length=arguments.max_length,
                                  learning_rate=arguments.learning_rate)
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        model = write_start(arguments, folder / "start", labels)
        write_table(folder / "rows.tsv", table)
        tokenizer = transformers.AutoTokenizer.from_pretrained(folder / "start")
        rows = reference.encode(tokenizer, table, columns, arguments.label, labels, settings.max_length)
        ours = Ours(arguments, folder, folder / "start", folder / "rows.tsv", labels, settings)
        lengths = [len(encoding["input_ids"]) for encoding in rows.encodings]
        print(f"{len(table)} rows of {arguments.data} ({', '.join(columns)}), {min(lengths)} to {max(lengths)} tokens, "
              f"mean {sum(lengths) / len(lengths):.1f}; batches of {settings.global_batch_size}; "
              f"torch {torch.__version__}, transformers {transformers.__version__}\n")
        print("| what | largest difference | limit | |\n| --- | --- | --- | --- |")
        yield settings, model, rows, ours, labels


def compare(report, arguments, settings, model, rows, ours, labels):
    trace, dump = ours.train("fp32", arguments.steps)
    batch = trace[0]["rows"]
    _, logits, gradients = reference.gradients(model, rows, batch)
    compare_logits(report, "step 1", dump["logits"].double(), logits.double())
    compare_gradients(report, dump, gradients)
    # The rate is 0 in step 1: a run of one step writes the model that it read, with the settings that predict obeys.
    ours.train("start_run", 1)
    written = ours.folder / "start_run" / "last"
    predicted, names = ours.predict(written, ours.folder / "rows.tsv", labels)
    expected = reference.logits(model, rows).double()
    compare_logits(report, "predict", predicted, expected)
    best = expected.sort(descending=True).values
    undecided = best[:, 0] - best[:, 1] < LOGIT
    different = sum(name != labels[row.argmax()] and not skip
                    for name, row, skip in zip(names, expected, undecided.tolist(), strict=True))
    report.line("predict: labels that differ", different, 0)
    expected = reference.train(copy.deepcopy(model), rows, settings, arguments.steps)
    compare_steps(report, "fp32", trace, expected, STEP_LOSS, STEP_NORM)
    if arguments.fp64_steps:
        trace, _ = ours.train("fp64", arguments.fp64_steps, "precision=fp64")
        expected = reference.train(copy.deepcopy(model).double(), rows, settings, arguments.fp64_steps)
        compare_steps(report, "fp64", trace, expected, FP64_STEP_LOSS, TRACE)


def main():
    parser = make_parser(__doc__)
    parser.add_argument("--fp64-steps", type=int, default=0)
    arguments = parser.parse_args()
    report = Report()
    with prepared(arguments) as parts:
        compare(report, arguments, *parts)
    sys.exit(1 if report.faults else 0)


if __name__ == "__main__":
    main()
