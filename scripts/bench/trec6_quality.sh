#!/usr/bin/env bash
# Accuracy on TREC-6 (5,452 training rows, 500 test rows, coarse labels): MiniLM, batch 32, 3 epochs, several seeds.
#   scripts/bench/trec6_quality.sh BINARY CHECKPOINT TREC_FOLDER [SEED...]      TREC_FOLDER holds TREC.train and TREC.test
set -euo pipefail
binary=$1 checkpoint=$(realpath "$2") source=$(realpath "$3")
shift 3
seeds=("${@:-1}")
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cat > "$work/c.yaml" <<YAML
model: {checkpoint: $checkpoint}
data:
  train: $source/TREC.train
  test: $source/TREC.test
  format: tsv
  delimiter: " "
  max_splits: 1
  columns: {text: "2", label: "1"}
  label_pattern: "^([^:]+):"
train: {epochs: 3, global_batch_size: 32}
optimizer: {learning_rate: 5.0e-5, weight_decay: 0.01}
schedule: {warmup_ratio: 0.1}
output: {dir: run, log_every: 100}
YAML
echo "| seed | test accuracy | test loss | macro F1 | training s | rows/s |"
echo "| --- | --- | --- | --- | --- | --- |"
for seed in "${seeds[@]}"; do
  "$binary" --config "$work/c.yaml" --overwrite --set seed="$seed" 2> "$work/log" || { cat "$work/log" >&2; exit 1; }
  python3 - "$work/run/results.json" "$seed" <<'PYTHON'
import json, sys
results = json.load(open(sys.argv[1], encoding="utf-8"))
m, t = results["test"]["metrics"], results["timings"]
print(f"| {sys.argv[2]} | {100 * m['accuracy']:.1f} % | {m['loss']:.4f} | {m['macro_f1']:.4f} | {t['train_s']:.0f} | {t['samples_per_s']:.0f} |")
PYTHON
done
