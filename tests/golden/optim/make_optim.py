#!/usr/bin/env python3
"""Makes optim.json: what torch.optim.AdamW does to four small parameters, and the linear schedule of transformers, for
the unit tests of src/optim.

Needs torch and transformers. torch has no switch for bias correction: that case is computed here from the formula.
Run: make_optim.py [OUTPUT]
"""
import json
import math
import pathlib
import sys

import torch
import transformers

STEPS = 8
# name, shape, whether weight decay applies; in the order of the flat buffer
PARAMETERS = [("layer.weight", [5, 7], True), ("layer.bias", [5], False), ("LayerNorm.weight", [7], False),
              ("table.weight", [6, 4], True)]
CASES = [
    {"name": "defaults"},
    {"name": "large rate", "learning_rate": 0.1},
    {"name": "other betas and epsilon", "betas": [0.5, 0.9], "eps": 1e-3},
    {"name": "strong decay", "weight_decay": 0.5, "learning_rate": 0.01},
    {"name": "no decay", "weight_decay": 0.0},
    {"name": "scaled gradients", "gradient_scale": 0.01},
    {"name": "no bias correction", "bias_correction": False},
    {"name": "no bias correction, scaled", "bias_correction": False, "gradient_scale": 3.0, "weight_decay": 0.1},
]
DEFAULTS = {"learning_rate": 1e-3, "betas": [0.9, 0.999], "eps": 1e-8, "weight_decay": 0.01, "gradient_scale": 1.0,
            "bias_correction": True}


def rates(case):
    """A rate of its own for every step, so that a rate taken from the wrong step shows."""
    return [case["learning_rate"] * (STEPS - step) / STEPS for step in range(STEPS)]


def with_torch(weights, gradients, case):
    groups = [{"params": [w for w, (_, _, decays) in zip(weights, PARAMETERS) if decays],
               "weight_decay": case["weight_decay"]},
              {"params": [w for w, (_, _, decays) in zip(weights, PARAMETERS) if not decays], "weight_decay": 0.0}]
    optimizer = torch.optim.AdamW(groups, lr=1.0, betas=tuple(case["betas"]), eps=case["eps"], foreach=False)
    for step, rate in enumerate(rates(case)):
        for group in optimizer.param_groups:
            group["lr"] = rate
        for weight, gradient in zip(weights, gradients[step]):
            weight.grad = gradient * case["gradient_scale"]
        optimizer.step()
    return weights


def by_formula(weights, gradients, case):
    beta1, beta2 = case["betas"]
    for index, (weight, (_, _, decays)) in enumerate(zip(weights, PARAMETERS)):
        m = torch.zeros_like(weight)
        v = torch.zeros_like(weight)
        for step, rate in enumerate(rates(case)):
            gradient = gradients[step][index] * case["gradient_scale"]
            m = beta1 * m + (1 - beta1) * gradient
            v = beta2 * v + (1 - beta2) * gradient * gradient
            keep = 1 - rate * (case["weight_decay"] if decays else 0.0)
            with torch.no_grad():
                weight.mul_(keep).sub_(rate * m / (v.sqrt() + case["eps"]))
    return weights


def run(case, dtype, initial, gradients):
    case = {**DEFAULTS, **case}
    weights = [torch.nn.Parameter(w.to(dtype).clone()) for w in initial]
    typed = [[g.to(dtype) for g in step] for step in gradients]
    final = (with_torch if case["bias_correction"] else by_formula)(weights, typed, case)
    return {**case, "rates": rates(case), "dtype": str(dtype).removeprefix("torch."),
            "final": [w.detach().flatten().double().tolist() for w in final]}


def schedule(total, warmup):
    weight = torch.nn.Parameter(torch.zeros(1))
    optimizer = torch.optim.SGD([weight], lr=1.0)
    scheduler = transformers.get_linear_schedule_with_warmup(optimizer, warmup, total)
    factors = []
    for _ in range(total):
        factors.append(scheduler.get_last_lr()[0])
        optimizer.step()
        scheduler.step()
    return {"total": total, "warmup": warmup, "factors": factors}


def main():
    torch.manual_seed(1)
    # Rounded to fp32, so that both types begin alike.
    draw = lambda shape, scale: (torch.randn(shape) * scale).double()
    initial = [draw(shape, 1.0) for _, shape, _ in PARAMETERS]
    gradients = [[draw(shape, 0.1) for _, shape, _ in PARAMETERS] for _ in range(STEPS)]
    for step in gradients:
        step[3][2] = 0.0  # a row of the table that no text touches
    ratios = [(0.1, 10), (0.1, 1011), (0.07, 100), (0.06, 50), (0.0, 100), (1.0, 7), (0.5, 3), (0.001, 10)]
    answers = {
        "torch": torch.__version__, "transformers": transformers.__version__,
        "parameters": [{"name": n, "shape": s, "decays": d} for n, s, d in PARAMETERS],
        "initial": [w.flatten().tolist() for w in initial],
        "gradients": [[g.flatten().tolist() for g in step] for step in gradients],
        "cases": [run(case, dtype, initial, gradients) for case in CASES for dtype in (torch.float64, torch.float32)],
        # As transformers.TrainingArguments.get_warmup_steps.
        "warmup": [{"ratio": r, "total": n, "steps": math.ceil(n * r)} for r, n in ratios],
        "schedules": [schedule(total, warmup) for total, warmup in
                      [(10, 0), (10, 1), (10, 3), (10, 9), (10, 10), (1, 0), (1, 1), (23, 7)]],
    }
    default = pathlib.Path(__file__).with_name("optim.json")
    output = pathlib.Path(sys.argv[1]) if len(sys.argv) > 1 else default
    lines = []
    for name, value in answers.items():
        rows = ",\n".join(json.dumps(row) for row in value) if isinstance(value, list) else None
        lines.append(f'"{name}": ' + (f"[\n{rows}\n]" if rows is not None else json.dumps(value)))
    output.write_text("{\n" + ",\n".join(lines) + "\n}\n")


if __name__ == "__main__":
    main()
