#!/usr/bin/env bash
# The executable of scripts/build.sh --cuda: linked against CUDA, NCCL and the whole LibTorch, it says so, and on the CPU it
# trains to the bit like the one without. Prints SKIPPED when it was not built.
#   check_cuda_build.sh CPU_BINARY
set -euo pipefail
cd "$(dirname "$0")/../.."
cpu=$1
cuda=build/cuda/bert_finetune
if [ ! -x "$cuda" ]; then
  echo "SKIPPED: there is no $cuda (scripts/setup.sh --cuda and scripts/build.sh --cuda make it)"
  exit 0
fi
linked=$(ldd "$cuda")
for library in libcudart.so.13 libnccl.so.2 libtorch_cuda.so libc10_cuda.so; do
  grep -q "$library => /" <<<"$linked" || { echo "$cuda is not linked to $library, or it is not found"; exit 1; }
done
"$cuda" --version | tee /dev/stderr | grep -Eq 'CUDA 13\.[0-9]+ .*NCCL 2\.' || { echo "--version does not name CUDA and NCCL"; exit 1; }

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
printf '[PAD]\n[UNK]\n[CLS]\n[SEP]\n[MASK]\ngood\nbad\nfilm\nbook\n' > "$work/vocab.txt"
"$cpu" init --family bert --size tiny --vocab "$work/vocab.txt" --output "$work/checkpoint" 2>/dev/null
printf 'label\ttext\n' > "$work/train.tsv"
for i in 1 2 3 4 5 6 7 8; do printf 'yes\tgood film good\nno\tbad book bad %s\n' "$i"; done >> "$work/train.tsv"
printf 'model: {checkpoint: checkpoint, max_length: 16}\ndata: {train: train.tsv}\ntrain: {epochs: 2, global_batch_size: 4}\nthreads: 1\n' > "$work/c.yaml"
for binary in "$cpu" "$cuda"; do
  "$binary" --config "$work/c.yaml" --set "output.dir=$work/run" --overwrite --trace "$work/$(basename "$(dirname "$binary")").trace" 2>"$work/log" ||
    { cat "$work/log"; exit 1; }
done
cmp "$work/$(basename "$(dirname "$cpu")").trace" "$work/cuda.trace"
if "$cuda" --config "$work/c.yaml" --set device=cuda --set "output.dir=$work/gpu" 2>"$work/log"; then
  echo "device: cuda was accepted"; exit 1
fi
grep -q 'device: cuda was asked for' "$work/log"
if "$cuda" --config "$work/c.yaml" --set comm.transport=nccl --set "output.dir=$work/nccl" 2>"$work/log"; then
  echo "comm.transport: nccl was accepted"; exit 1
fi
grep -q 'comm.transport: nccl sums gradients in the memory of CUDA devices, but .*Set comm.transport: native' "$work/log" ||
  { cat "$work/log"; exit 1; }
echo "the CUDA build trains on the CPU, bit for bit like the other"
