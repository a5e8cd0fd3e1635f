#!/usr/bin/env bash
# Installs what a build needs and is missing: Debian packages, and LibTorch under .deps/ (CPU use; no CUDA libraries).
#   scripts/setup.sh           what the executable needs (about 1.2 GB under .deps/)
#   scripts/setup.sh --tests   also the reference packages that the tests compare with (.deps/venv, about 5.5 GB), valgrind
#   scripts/setup.sh --cuda    also the CUDA 13 compiler (.deps/cuda) and the whole LibTorch (that of .deps/venv)
set -euo pipefail
cd "$(dirname "$0")/.."

with_tests=false
with_cuda=false
for argument in "$@"; do
  case "$argument" in
    --tests) with_tests=true ;;
    --cuda) with_cuda=true; with_tests=true ;;
    -h|--help) sed -n '2,5p' "$0"; exit 0 ;;
    *) echo "setup.sh: unknown argument '$argument' (known: --tests, --cuda)" >&2; exit 2 ;;
  esac
done

packages=(g++ cmake ninja-build ccache git python3 python3-venv python3-pip unzip
          libyaml-cpp-dev libspdlog-dev libfmt-dev nlohmann-json3-dev libcli11-dev libprotobuf-dev protobuf-compiler
          libopenmpi-dev openmpi-bin iproute2 catch2 clang-format)
if $with_tests; then packages+=(valgrind); fi
missing=()
for package in "${packages[@]}"; do
  dpkg-query -W -f='${Status}' "$package" 2>/dev/null | grep -q 'install ok installed' || missing+=("$package")
done
if ((${#missing[@]})); then
  echo "setup: installing ${missing[*]}"
  as_root=()
  if [ "$(id -u)" != 0 ]; then
    command -v sudo >/dev/null || { echo "setup.sh: these packages are missing and need root: ${missing[*]}" >&2; exit 2; }
    as_root=(sudo)
  fi
  "${as_root[@]}" apt-get update -qq
  DEBIAN_FRONTEND=noninteractive "${as_root[@]}" apt-get install -y -qq --no-install-recommends "${missing[@]}" >/dev/null
fi

# The wheel holds LibTorch's headers and libraries. The two CUDA packages are small libraries that its CPU half is linked to.
libtorch_pins=(torch==2.11.0 nvidia-cuda-runtime==13.0.96 nvidia-cuda-cupti==13.0.85)
if [ "$(cat .deps/libtorch/.pins 2>/dev/null)" != "${libtorch_pins[*]}" ]; then
  echo "setup: fetching LibTorch (${libtorch_pins[0]}) into .deps/libtorch"
  rm -rf .deps/libtorch .deps/installer
  python3 -m venv .deps/installer
  .deps/installer/bin/pip install --quiet --disable-pip-version-check --no-compile --no-deps \
    --target .deps/libtorch "${libtorch_pins[@]}"
  rm -rf .deps/installer
  echo "${libtorch_pins[*]}" > .deps/libtorch/.pins
fi

if $with_tests && ! cmp -s tests/golden/requirements.txt .deps/venv/.requirements; then
  echo "setup: fetching the reference packages of the tests into .deps/venv"
  [ -x .deps/venv/bin/pip ] || python3 -m venv .deps/venv
  .deps/venv/bin/pip install --quiet --disable-pip-version-check -r tests/golden/requirements.txt
  cp tests/golden/requirements.txt .deps/venv/.requirements
fi
# The compiler as packages: nvcc and what it calls. Its driver looks for lib64 and for names without version.
cuda_pins=(nvidia-cuda-nvcc==13.0.88 nvidia-cuda-crt==13.0.88 nvidia-nvvm==13.0.88 nvidia-cuda-cccl==13.0.85
           nvidia-cuda-runtime==13.0.96)
if $with_cuda; then
  if [ "$(cat .deps/cuda/.pins 2>/dev/null)" != "${cuda_pins[*]}" ]; then
    echo "setup: fetching the CUDA compiler (${cuda_pins[0]}) into .deps/cuda"
    rm -rf .deps/cuda
    .deps/venv/bin/pip install --quiet --disable-pip-version-check --no-compile --no-deps \
      --target .deps/cuda "${cuda_pins[@]}"
    ln -s lib .deps/cuda/nvidia/cu13/lib64
    ln -sf libcudart.so.13 .deps/cuda/nvidia/cu13/lib/libcudart.so
    echo "${cuda_pins[*]}" > .deps/cuda/.pins
  fi
  packages_folder=$(.deps/venv/bin/python -c 'import sysconfig; print(sysconfig.get_path("purelib"))')
  ln -sfn "$packages_folder" .deps/site-packages
fi
echo "setup: complete"
