#!/usr/bin/env bash
# Builds into build/<preset> and leaves the executable at build/<preset>/bert_finetune.
#   scripts/build.sh [PRESET]     release (default, with tests), quick (the executable alone), dev, asan
#   scripts/build.sh --cuda       the executable with CUDA and NCCL, in build/cuda (scripts/setup.sh --cuda first)
set -euo pipefail
cd "$(dirname "$0")/.."

preset=release
for argument in "$@"; do
  case "$argument" in
    --cuda) preset=cuda ;;
    -h|--help) sed -n '2,4p' "$0"; exit 0 ;;
    -*) echo "build.sh: unknown argument '$argument'" >&2; exit 2 ;;
    *) preset=$argument ;;
  esac
done

cmake --preset "$preset" >"/tmp/bertft_configure.$$" 2>&1 || { cat "/tmp/bertft_configure.$$"; rm -f "/tmp/bertft_configure.$$"; exit 1; }
grep 'bert_finetune ' "/tmp/bertft_configure.$$" || true
rm -f "/tmp/bertft_configure.$$"
cmake --build "build/$preset"
