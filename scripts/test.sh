#!/usr/bin/env bash
# Builds everything and runs all tests, from a bare Debian 12 machine. Ends with ctest's summary; exits non-zero when a
# test fails. Real data is read from $BERTFT_SHARED (default ../shared) when it is there, else those tests are skipped.
set -euo pipefail
cd "$(dirname "$0")/.."

scripts/setup.sh --tests --cuda
scripts/build.sh release
scripts/build.sh --cuda
scripts/fetch_minilm.sh

# Several programs share the processors here: waiting OpenMP threads must not spin for long (apps/openmp_wait.h).
export GOMP_SPINCOUNT=${GOMP_SPINCOUNT:-1000}
export BERTFT_SHARED=${BERTFT_SHARED:-$(cd .. && pwd)/shared}
export BERTFT_MINILM=${BERTFT_MINILM:-$PWD/.deps/minilm/model.safetensors}
export BERTFT_PYTHON=${BERTFT_PYTHON:-$PWD/.deps/venv/bin/python}
ctest --test-dir build/release --output-on-failure --no-tests=error -j "$(nproc)"
