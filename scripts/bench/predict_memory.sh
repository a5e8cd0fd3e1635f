#!/usr/bin/env bash
# Largest resident memory of `predict` over inputs of several sizes of 5 KB lines, with a random model of size tiny.
#   scripts/bench/predict_memory.sh BINARY VOCAB [MEGABYTES...]      VOCAB: a vocab.txt; sizes: 10 and 1000
# The lines are piped in, so no file of that size is needed. Prints a table row per size; exits 1 when the largest and
# the smallest peak differ by more than 5 %.
set -euo pipefail
binary=$(realpath "$1") vocab=$(realpath "$2")
shift 2
[ $# -gt 0 ] || set -- 10 1000
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
"$binary" init --vocab "$vocab" --size tiny --output "$work/tiny" >&2
python3 - "$binary" "$work" "$@" <<'PYTHON'
import json, os, subprocess, sys, time
binary, work, sizes = sys.argv[1], sys.argv[2], [int(size) for size in sys.argv[3:]]
# Any training makes a model directory that predict takes; short inputs make the rows quick.
with open(f"{work}/train.tsv", "w", encoding="utf-8") as file:
    file.write("label\ttext\ngood\ta good film\nbad\ta bad film\n")
with open(f"{work}/c.yaml", "w", encoding="utf-8") as file:
    file.write(f"model: {{checkpoint: {work}/tiny, max_length: 16}}\ndata: {{train: {work}/train.tsv}}\n"
               f"train: {{max_steps: 1}}\noutput: {{dir: {work}/run}}\n")
subprocess.run([binary, "--config", f"{work}/c.yaml"], check=True, stderr=subprocess.DEVNULL)
words = "the film was good and the book was bad ".split()
lines = []
for row in range(200):  # 1 MB of lines that differ
    text = " ".join(words[(row + at * (1 + row % 7)) % len(words)] for at in range(1400))
    lines.append(text[:4999])
megabyte = ("\n".join(lines) + "\n").encode()
print("| input | rows | peak resident | s | MB/s |\n| --- | --- | --- | --- | --- |")
peaks = []
for size in sizes:
    start = time.monotonic()
    with open(f"{work}/out.tsv", "wb") as out, open(f"{work}/err", "wb") as err:
        child = subprocess.Popen([binary, "predict", "--model", f"{work}/run/last", "--data", "-", "--columns", "text=1",
                                  "--format", "jsonl"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=err)
        pid = os.fork()
        if pid == 0:  # feeds while we count
            try:
                child.stdout.close()
                for _ in range(size):
                    child.stdin.write(megabyte)
                child.stdin.close()
                os._exit(0)
            finally:
                os._exit(1)  # predict went away; its status says why
        child.stdin.close()
        rows = sum(1 for _ in child.stdout)
        os.waitpid(pid, 0)
        _, status, usage = os.wait4(child.pid, 0)
    if status != 0 or rows != size * len(lines):
        sys.exit(f"predict: status {status}, {rows} rows: " + open(f"{work}/err").read())
    seconds = time.monotonic() - start
    peaks.append(usage.ru_maxrss)
    print(f"| {size} MB | {rows:,} | {usage.ru_maxrss / 1024:.1f} MiB | {seconds:.0f} | {size / seconds:.1f} |", flush=True)
difference = max(peaks) / min(peaks) - 1
print(f"\nLargest difference: {100 * difference:.1f} %")
sys.exit(difference > 0.05)
PYTHON
