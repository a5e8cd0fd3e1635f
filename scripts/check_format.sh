#!/usr/bin/env bash
# Checks that all C++ sources are formatted as .clang-format says (clang-format 14, Debian 12's). With --fix it formats them.
set -euo pipefail
cd "$(dirname "$0")/.."
mode=(--dry-run -Werror)
[ "${1:-}" = --fix ] && mode=(-i)
find apps src tests benchmarks \( -name '*.h' -o -name '*.cpp' \) -print0 | xargs -0 clang-format "${mode[@]}"
