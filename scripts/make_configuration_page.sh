#!/usr/bin/env bash
# Writes docs/configuration.md as the executable prints it, or compares with --check (exit 1 when the page is out of date).
#   scripts/make_configuration_page.sh [--check] [BINARY]     default: build/release/bert_finetune
set -euo pipefail
cd "$(dirname "$0")/.."

check=false
if [ "${1:-}" = --check ]; then check=true; shift; fi
binary=${1:-build/release/bert_finetune}
page=docs/configuration.md
fresh=$(mktemp "${TMPDIR:-/tmp}/bertft_configuration.XXXXXX")
trap 'rm -f "$fresh"' EXIT
"$binary" help configuration >"$fresh"

if [ "$check" = false ]; then
  cp "$fresh" "$page"
elif ! diff -u "$page" "$fresh"; then
  echo "$page is not what the program prints: run scripts/make_configuration_page.sh" >&2
  exit 1
fi
