#!/usr/bin/env python3
"""Makes optim.json: what torch.optim's AdamW, Adam and SGD, and LAMB, do to four small parameters, and the schedules of
transformers, for the unit tests of src/optim.

Needs torch and transformers. torch has no switch for bias correction: that case is computed here from the formula.
Run: make_optim.py [OUTPUT]
"""
import json
import math
import pathlib
import sys

import torch
import transformers

sys.path.append(str(pathlib.Path(__file__).parent.parent))
import reference_run as reference  # noqa: E402

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
RULES = [
    {"type": "adam"},
    {"type": "adam", "weight_decay": 0.5, "learning_rate": 0.01, "gradient_scale": 0.3, "betas": [0.5, 0.9], "eps": 1e-3},
    {"type": "sgd", "learning_rate": 0.1},
    {"type": "sgd", "learning_rate": 0.1, "momentum": 0.9, "weight_decay": 0.2, "gradient_scale": 0.3},
    {"type": "lamb", "learning_rate": 0.01},
    {"type": "lamb", "learning_rate": 0.1, "weight_decay": 0.5, "gradient_scale": 0.3, "betas": [0.5, 0.9], "eps": 1e-3},
    {"type": "lamb", "learning_rate": 0.01, "weight_decay": 0.0},
]
DEFAULTS = {"learning_rate": 1e-3, "betas": [0.9, 0.999], "eps": 1e-8, "weight_decay": 0.01, "gradient_scale": 1.0,
            "bias_correction": True, "momentum": 0.0}


def rates(case):
    """A rate of its own for every step, so that a rate taken from the wrong step shows."""
    return [case["learning_rate"] * (STEPS - step) / STEPS for step in range(STEPS)]


def make_rule(groups, case):
    moments = {"betas": tuple(case["betas"]), "eps": case["eps"]}
    if case["type"] == "sgd":
        return torch.optim.SGD(groups, lr=1.0, momentum=case["momentum"], foreach=False)
    if case["type"] == "lamb":
        groups[0]["adapts"], groups[1]["adapts"] = True, False
        return reference.Lamb(groups, lr=1.0, **moments)
    rule = torch.optim.Adam if case["type"] == "adam" else torch.optim.AdamW
    return rule(groups, lr=1.0, foreach=False, **moments)


def with_torch(weights, gradients, case):
    groups = [{"params": [w for w, (_, _, decays) in zip(weights, PARAMETERS) if decays],
               "weight_decay": case["weight_decay"]},
              {"params": [w for w, (_, _, decays) in zip(weights, PARAMETERS) if not decays], "weight_decay": 0.0}]
    optimizer = make_rule(groups, case)
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
    case = {"type": "adamw", **DEFAULTS, **case}
    weights = [torch.nn.Parameter(w.to(dtype).clone()) for w in initial]
    typed = [[g.to(dtype) for g in step] for step in gradients]
    final = (with_torch if case["bias_correction"] else by_formula)(weights, typed, case)
    return {**case, "rates": rates(case), "dtype": str(dtype).removeprefix("torch."),
            "final": [w.detach().flatten().double().tolist() for w in final]}


def schedule(kind, total, warmup, **settings):
    """Factors on a peak rate of 5e-5."""
    weight = torch.nn.Parameter(torch.zeros(1))
    peak = 5e-5
    optimizer = torch.optim.SGD([weight], lr=peak)
    if kind == "constant":
        scheduler = transformers.get_constant_schedule_with_warmup(optimizer, warmup)
    elif kind == "polynomial":
        scheduler = transformers.get_polynomial_decay_schedule_with_warmup(
            optimizer, warmup, total, lr_end=settings["end_learning_rate"], power=settings["power"])
    else:
        maker = {"linear": transformers.get_linear_schedule_with_warmup,
                 "cosine": transformers.get_cosine_schedule_with_warmup}[kind]
        scheduler = maker(optimizer, warmup, total)
    factors = [scheduler.lr_lambdas[0](step) for step in range(total)]
    return {"type": kind, "total": total, "warmup": warmup, "peak": peak, **settings, "factors": factors}


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
        "rules": [run(case, dtype, initial, gradients) for case in RULES for dtype in (torch.float64, torch.float32)],
        "schedules": [schedule(kind, total, warmup, **settings)
                      for kind, settings in [("linear", {}), ("cosine", {}), ("constant", {}),
                                             ("polynomial", {"power": 1.0, "end_learning_rate": 1e-7}),
                                             ("polynomial", {"power": 2.5, "end_learning_rate": 2e-5}),
                                             ("polynomial", {"power": 0.5, "end_learning_rate": 0.0})]
                      for total, warmup in
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
