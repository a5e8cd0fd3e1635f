#!/usr/bin/env bash
# Training speed beside the transformers Trainer on three workloads, and the share of the GEMM floor, in one run: MiniLM on
# SST-2 and on MRPC's pairs, a BERT-base shape on SST-2; fp32, batch 32, dropout 0.1, AdamW, clipping. Both sides alternate.
#   scripts/bench/vs_trainer.sh PEER.py DATA_FOLDER [PAGE.md]
# PEER.py: see finetune_speed.py. DATA_FOLDER holds sst2/train.tsv and mrpc/msr_paraphrase_train.txt. Wants a quiet machine,
# scripts/setup.sh --tests, and a build with benchmarks: cmake --preset release -DBERTFT_BENCHMARKS=ON.
# ROUNDS (3), STEPS (60), THREADS (the number of processors) may be set in the environment.
set -euo pipefail
(($# >= 2)) || { sed -n '2,8p' "$0" >&2; exit 2; }
peer=$(realpath "$1") data=$(realpath "$2") page=${3:-}
cd "$(dirname "$0")/../.."
binary=build/release/bert_finetune checkpoint=.deps/minilm
rounds=${ROUNDS:-3} steps=${STEPS:-60} threads=${THREADS:-$(nproc)}
floor=$(find build/release/benchmarks -name bench_encoder_ops -type f | head -n 1)
[ -n "$floor" ] || { echo "vs_trainer.sh: there is no bench_encoder_ops: configure with -DBERTFT_BENCHMARKS=ON" >&2; exit 2; }
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
"$binary" init --family bert --size base --vocab "$checkpoint/vocab.txt" --output "$work/base" 2>/dev/null
# Without its byte order mark and with the columns' names as one word, for both sides alike.
{ printf 'label\ta\tb\n'; tail -n +2 "$data/mrpc/msr_paraphrase_train.txt" | cut -f 1,4,5; } > "$work/mrpc.tsv"
common=(--binary "$binary" --peer "$peer" --python .deps/venv/bin/python --rounds "$rounds" --threads "$threads" --grouped)
compare() { python3 scripts/bench/finetune_speed.py "${common[@]}" "$@"; }
{
  compare --title "MiniLM on SST-2" --checkpoint "$checkpoint" --data "$data/sst2/train.tsv" --columns sentence --steps "$steps" --padded
  compare --title "MiniLM on MRPC" --checkpoint "$checkpoint" --data "$work/mrpc.tsv" --columns a,b --steps $((steps / 2))
  compare --title "BERT-base shape on SST-2" --checkpoint "$work/base" --peer-checkpoint "$checkpoint" --random-base \
    --data "$data/sst2/train.tsv" --columns sentence --steps $((steps / 3))
  echo "# The GEMM floor, one step without autograd, optimizer and head"
  echo
  "$floor" "$threads" | sed 's/^/    /'
} > "$work/page.md"
cat "$work/page.md"
if [ -n "$page" ]; then cp "$work/page.md" "$page"; fi
