#!/usr/bin/env python3
"""Training speed beside the transformers Trainer: both sides in one run, alternating, on the same rows.

    python3 scripts/bench/finetune_speed.py --binary build/quick/bert_finetune --checkpoint .deps/minilm \
        --data TRAIN.tsv --columns sentence --peer PEER.py --python .deps/venv/bin/python [--output PAGE.md]

PEER.py is a script that trains with the Trainer and prints one JSON line with samples_per_s, real_tok_per_s and
first_step_s (options --model --train --cols --label --bs --steps --rows --threads --pad). Each round runs ours, then each
peer setting; rates leave out the first steps. Prints a page: median and range of each figure.
"""
import argparse
import datetime
import json
import os
import platform
import statistics
import subprocess
import sys
import tempfile
import time


def cpu_name():
    with open("/proc/cpuinfo", encoding="utf-8") as info:
        for line in info:
            if line.startswith("model name"):
                return line.split(":", 1)[1].strip()
    return platform.machine()


def run_ours(args, folder):
    columns = args.columns.split(",")
    sets = {
        "model.checkpoint": args.checkpoint, "data.train": args.data, "data.max_rows": args.rows,
        "data.columns.text": columns[0], "data.columns.label": args.label, "train.max_steps": args.steps,
        "train.global_batch_size": args.batch, "output.dir": os.path.join(folder, "run"), "output.log_every": 5,
        "threads": args.threads, "model.max_length": args.max_length,
    }
    if len(columns) > 1:
        sets["data.columns.text_pair"] = columns[1]
    config = os.path.join(folder, "c.yaml")
    with open(config, "w", encoding="utf-8") as file:
        file.write("seed: 42\n")
    command = [args.binary, "--config", config, "--overwrite"]
    for key, value in sets.items():
        command += ["--set", f"{key}={value}"]
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
    error = process.stderr.read()
    _, status, usage = os.wait4(process.pid, 0)
    if status != 0:
        sys.exit(error)
    lines = []
    with open(os.path.join(folder, "run", "metrics.jsonl"), encoding="utf-8") as file:
        lines = [line for line in map(json.loads, file) if "split" not in line]
    steady = lines[1:]
    seconds = sum(5 * args.batch / line["samples_per_s"] for line in steady)
    tokens = sum(5 * args.batch / line["samples_per_s"] * line["tokens_per_s"] for line in steady)
    with open(os.path.join(folder, "run", "results.json"), encoding="utf-8") as file:
        timings = json.load(file)["timings"]
    return {"samples_per_s": 5 * args.batch * len(steady) / seconds, "tokens_per_s": tokens / seconds,
            "first_step_s": timings["first_step_s"], "peak_mb": usage.ru_maxrss / 1024}


def run_peer(args, extra):
    command = [args.python, args.peer, "--model", args.peer_checkpoint or args.checkpoint, "--train", args.data, "--cols", args.columns,
               "--label", args.label, "--bs", str(args.batch), "--steps", str(args.steps), "--rows", str(args.rows),
               "--threads", str(args.threads), "--maxlen", str(args.max_length)] + extra
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    output, error = process.stdout.read(), process.stderr.read()
    _, status, usage = os.wait4(process.pid, 0)
    if status != 0:
        sys.exit(error)
    line = json.loads(output.strip().splitlines()[-1])
    return {"samples_per_s": line["samples_per_s"], "tokens_per_s": line["real_tok_per_s"],
            "first_step_s": line["first_step_s"], "peak_mb": usage.ru_maxrss / 1024}


def row_of(name, runs, base):
    def cell(key, digits):
        values = [run[key] for run in runs]
        return f"{statistics.median(values):,.{digits}f} ({min(values):,.{digits}f}-{max(values):,.{digits}f})"
    ratio = statistics.median(run["samples_per_s"] for run in runs) / base
    return (f"| {name} | {cell('samples_per_s', 1)} | {ratio:.2f}x | {cell('tokens_per_s', 0)} | "
            f"{cell('first_step_s', 2)} | {cell('peak_mb', 0)} |")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    for name in ("binary", "checkpoint", "data", "peer", "python"):
        parser.add_argument("--" + name, required=True)
    parser.add_argument("--columns", default="sentence")
    parser.add_argument("--label", default="label")
    parser.add_argument("--rows", type=int, default=2000)
    parser.add_argument("--batch", type=int, default=32)
    parser.add_argument("--steps", type=int, default=60)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--max-length", type=int, default=128, dest="max_length")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--padded", action="store_true", help="also the peer's default, every text padded to --max-length")
    parser.add_argument("--random-base", action="store_true", dest="random_base",
                        help="BERT-base shape with random weights: --checkpoint is one that `init --size base` made")
    parser.add_argument("--peer-checkpoint", dest="peer_checkpoint", help="the peer's tokenizer, when --random-base")
    parser.add_argument("--grouped", action="store_true", help="also the peer's best setting, grouped by length")
    parser.add_argument("--title", default="Training speed")
    parser.add_argument("--output")
    args = parser.parse_args()
    settings = [("Trainer, dynamic padding", ["--pad", "dynamic"])]
    if args.grouped:
        settings.append(("Trainer, dynamic, grouped by length", ["--pad", "dynamic", "--group"]))
    if args.padded:
        settings.append((f"Trainer, padded to {args.max_length}", ["--pad", "max"]))
    if args.random_base:
        settings = [(name, [*extra, "--random-base"]) for name, extra in settings]
    ours, peers = [], {name: [] for name, _ in settings}
    for _ in range(args.rounds):
        with tempfile.TemporaryDirectory() as folder:
            ours.append(run_ours(args, folder))
        for name, extra in settings:
            peers[name].append(run_peer(args, extra))
        time.sleep(1)
    base = statistics.median(run["samples_per_s"] for run in peers[settings[0][0]])
    version = subprocess.run([args.binary, "--version"], stdout=subprocess.PIPE, text=True, check=True).stdout.splitlines()
    page = [f"# {args.title}, {datetime.date.today()}", "",
            f"{cpu_name()}, {args.threads} threads; {version[0]}; {version[1]}. "
            f"{os.path.basename(os.path.dirname(args.data))}, {args.rows} rows, batch {args.batch}, {args.steps} steps, fp32, "
            f"dropout 0.1; {args.rounds} rounds, alternating. Median (range); tokens are real ones.", "",
            "| | samples/s | ratio | tokens/s | exec to first step, s | peak resident set, MB |",
            "| --- | --- | --- | --- | --- | --- |", row_of("bert_finetune", ours, base)]
    page += [row_of(name, runs, base) for name, runs in peers.items()]
    page += ["", "    python3 scripts/bench/finetune_speed.py " + " ".join(
        f"--{key.replace('_', '-')} {value}" for key, value in vars(args).items()
        if key in ("columns", "rows", "batch", "steps", "threads", "rounds")), ""]
    text = "\n".join(page)
    print(text)
    if args.output:
        with open(args.output, "w", encoding="utf-8") as file:
            file.write(text)


main()
