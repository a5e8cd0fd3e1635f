#!/usr/bin/env python3
"""Measures, with dropout on, how far runs of bert_finetune are from each other that should agree, and prints it.

    python scripts/compare_invariance.py --binary build/release/bert_finetune --model FOLDER --data TABLE.tsv
        --text COLUMN [--micro-batch-tokens N] [--dropout P] [...]

Takes the arguments of compare_numerics.py. Compared with a run of one micro-batch a step: the same again, one with
small micro-batches, and one with a single thread. Limits: one step's gradient 1e-5 by ||d|| / ||g||, losses of 20 steps
1e-4, weights after all steps within twice the reference's own spread between 1 and N threads, which is measured, too;
once with key biases (their gradient is rounding noise, which Adam turns into steps) and once without.
"""
import copy
import sys

import safetensors.torch
import torch

import compare_numerics as numerics
from compare_numerics import reference

GRADIENT, LOSS, SPREADS = 1e-5, 1e-4, 2.0


def norm(tensors):
    return sum(tensor.double().norm().item() ** 2 for tensor in tensors.values()) ** 0.5


def difference(first, second):
    return {name: first[name].double() - second[name].double() for name in first}


def shares(first, second, start):
    """||difference|| / ||update|| over all weights, and without key biases."""
    gap = difference(first, second)
    sharp = {name: tensor for name, tensor in gap.items() if not name.endswith("key.bias")}
    update = norm(difference(first, start))
    return norm(gap) / update, norm(sharp) / update


def reference_spread(model, rows, settings, arguments, start):
    ends = []
    for threads in (1, arguments.threads):
        torch.set_num_threads(threads)
        torch.manual_seed(settings.seed)
        twin = copy.deepcopy(model)
        for module in twin.modules():
            if isinstance(module, torch.nn.Dropout):
                module.p = arguments.dropout
        reference.train(twin, rows, settings, arguments.steps)
        ends.append({name: weight.detach() for name, weight in twin.named_parameters()})
    return shares(*ends, start)


def compare(report, arguments, settings, model, rows, ours, labels):
    start = {name: weight.detach().clone() for name, weight in model.named_parameters()}
    spread = reference_spread(model, rows, settings, arguments, start)
    dropout = [f"model.{name}={arguments.dropout}" for name in ("dropout", "attention_dropout", "classifier_dropout")]

    def run(name, *changes):
        trace, dump = ours.train(name, arguments.steps, *dropout, *changes)
        gradients = {key: value for key, value in dump.items() if key != "logits"}
        return trace, gradients, safetensors.torch.load_file(ours.folder / name / "last" / "model.safetensors")

    trace, gradients, weights = run("whole")
    again = run("again")
    hashes = sum(one["parameter_hash"] != two["parameter_hash"] for one, two in zip(trace, again[0], strict=True))
    report.line(f"run again: steps of {arguments.steps} with other bits", hashes, 0)
    pieces = f"micro-batches of {arguments.micro_batch_tokens} tokens"
    for name, what, change in (("pieces", pieces, f"train.micro_batch_tokens={arguments.micro_batch_tokens}"),
                               ("thread", f"1 thread instead of {arguments.threads}", "threads=1")):
        other_trace, other_gradients, other_weights = run(name, change)
        report.line(f"{what}: gradient of step 1, \\|\\|d\\|\\| / \\|\\|g\\|\\|",
                    norm(difference(gradients, other_gradients)) / norm(gradients), GRADIENT)
        losses = [abs(one["loss"] - two["loss"]) for one, two in zip(trace[:20], other_trace)]
        report.line(f"{what}: losses of {len(losses)} steps, largest \\|d\\|", max(losses), LOSS)
        for kind, share, limit in zip(("all", "without key biases"), shares(weights, other_weights, start), spread):
            report.line(f"{what}: weights after {arguments.steps} steps, {kind}, \\|\\|d\\|\\| / \\|\\|update\\|\\|", share,
                        SPREADS * limit)


def main():
    parser = numerics.make_parser(__doc__)
    parser.set_defaults(steps=50)
    parser.add_argument("--micro-batch-tokens", type=int, default=100)
    parser.add_argument("--dropout", type=float, default=0.1)
    arguments = parser.parse_args()
    report = numerics.Report()
    with numerics.prepared(arguments) as parts:
        compare(report, arguments, *parts)
    sys.exit(1 if report.faults else 0)


if __name__ == "__main__":
    main()
