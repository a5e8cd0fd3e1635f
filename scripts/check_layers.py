#!/usr/bin/env python3
"""Checks that every #include of src/ and apps/ follows the layers: which folder may see which, and which library.

Prints each wrong one as file:line and exits 1. --self-test checks this script on a small tree with known faults.
Needs the standard library only. Run: check_layers.py [ROOT]
"""
import argparse
import pathlib
import re
import sys
import tempfile

# Folder -> folders whose headers it may include beside its own. docs/architecture.md shows the same as a picture.
ALLOWED = {
    "core": set(),
    "tokenize": {"core"},
    "checkpoint": {"core"},
    "metrics": {"core"},
    "comm": {"core"},
    "bench": {"comm", "core"},
    "ops": {"core"},
    "optim": {"core"},
    "data": {"tokenize", "core"},
    "model": {"ops", "core"},
    "tasks": {"model", "data", "metrics", "core"},
    "config": {"core"},  # and options.h of every folder
}
ALLOWED["train"] = set(ALLOWED) - {"bench"}
ALLOWED["apps"] = set(ALLOWED) | {"train"}
ALLOWED["config"] |= {"config"}

# Libraries: the beginning of an include in <>, and the folders that may name it. None: nobody.
TORCH = re.compile(r"(torch|ATen|c10|caffe2)/")
LIBRARIES = [
    (re.compile(r"(torch/torch\.h|ATen/ATen\.h|torch/all\.h|torch/extension\.h)"), set(),
     "is banned: it costs 10 to 25 s of compile time; include the narrow header"),
    (TORCH, {"ops", "model", "optim", "tasks", "train", "apps"}, "this folder knows no torch"),
    (re.compile(r"yaml-cpp/"), {"config"}, "only config knows YAML"),
    (re.compile(r"CLI/"), {"apps"}, "only apps parses command lines"),
    (re.compile(r"spdlog/"), {"core"}, "log through core/log.h"),
    (re.compile(r"(cuda|nccl)"), {"comm", "ops", "optim"}, "only comm, ops and optim know CUDA"),
    (re.compile(r"mpi\.h"), {"comm"}, "only comm knows MPI"),
    (re.compile(r"nlohmann/"), {"tokenize", "checkpoint", "data", "model", "bench", "train", "apps"},
     "this folder knows no JSON"),
]
TORCH_FREE_FOLDERS = ("ops/kernels", "optim/kernels")  # within a folder that knows torch
# Types of MPI, CUDA and NCCL stay inside these folders: no header elsewhere in comm may show them, directly or through another.
INNER_FOLDERS = ("src/comm/mpi/", "src/comm/nccl/")
INNER_LIBRARY = re.compile(r"(mpi\.h|nccl\.h|cuda)")
CORE_ONLY_FOLDERS = ("comm/wire",)  # within a folder: they see core and themselves, and are targets of their own
GENERATED_HEADERS = {"build_info.h": {"core"}, "train/tensorboard_event.pb.h": {"train"}}
INCLUDE = re.compile(r'^\s*#\s*include\s*([<"])([^>"]+)[>"]')
SUFFIXES = {".h", ".cpp", ".inc", ".cu", ".cuh"}


def folder_of(path, root):
    """core, ops, ... for files of src/; apps for those of apps/."""
    parts = path.relative_to(root).parts
    return parts[1] if parts[0] == "src" else "apps"


def fault_of_own_header(name, path, folder, root):
    """Why an include in quotes is wrong; None when it is right."""
    if folder in GENERATED_HEADERS.get(name, ()):
        return None
    if folder == "apps" and (root / "apps" / name).is_file():
        return None
    target = name.split("/")[0]
    if "/" not in name or target not in ALLOWED:
        return f'"{name}": write it from src/, as "folder/file.h"'
    if not (root / "src" / name).is_file():
        return f'"{name}": there is no such file in src/'
    place = path.relative_to(root / "src").as_posix() if folder != "apps" else ""
    for inner in CORE_ONLY_FOLDERS:
        if place.startswith(inner + "/") and target == folder and not name.startswith(inner + "/"):
            return f'"{name}": {inner} sees core only'
    is_options = pathlib.PurePosixPath(name).name == "options.h"
    if target == folder or target in ALLOWED[folder] or (folder == "config" and is_options):
        return None
    return f'"{name}": {folder} must not include {target}'


def fault_of_library(name, path, folder, root):
    place = path.relative_to(root).as_posix()
    if TORCH.match(name) and any(place.startswith(f"src/{free}/") for free in TORCH_FREE_FOLDERS):
        return f"<{name}>: kernels take raw pointers and know no torch"
    for pattern, folders, reason in LIBRARIES:
        if pattern.match(name):
            return None if folder in folders else f"<{name}>: {reason}"
    return None


def faults_in(path, root):
    folder = folder_of(path, root)
    if folder not in ALLOWED:
        return [f"{path.relative_to(root)}:1: folder {folder} is not in the table of layers"]
    faults = []
    for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
        match = INCLUDE.match(line)
        if not match:
            continue
        check = fault_of_library if match[1] == "<" else fault_of_own_header
        fault = check(match[2], path, folder, root)
        if fault:
            faults.append(f"{path.relative_to(root)}:{number}: {fault}")
    return faults


def includes_of(path):
    lines = enumerate(path.read_text(encoding="utf-8").splitlines(), 1)
    return [(number, match[2]) for number, line in lines if (match := INCLUDE.match(line))]


def inner_headers(includes):
    """Headers that show types of MPI, CUDA or NCCL to whoever includes them."""
    inner = set()
    while True:
        more = {name for name, names in includes.items() if name not in inner and
                any(INNER_LIBRARY.match(other) or other in inner for _, other in names)}
        if not more:
            return inner
        inner |= more


def faults_of_public_headers(files, root):
    headers = {path.relative_to(root / "src").as_posix(): includes_of(path) for path in files
               if path.suffix == ".h" and (root / "src/comm") in path.parents}
    inner = inner_headers(headers)
    return [f"src/{name}:{number}: {other} shows types of MPI, CUDA or NCCL; they stay in {', '.join(INNER_FOLDERS)}"
            for name, names in headers.items() if not f"src/{name}".startswith(INNER_FOLDERS)
            for number, other in names if INNER_LIBRARY.match(other) or other in inner]


def check_tree(root):
    files = [path for top in ("src", "apps") for path in sorted((root / top).rglob("*")) if path.suffix in SUFFIXES]
    faults = [fault for path in files for fault in faults_in(path, root)]
    return files, faults + faults_of_public_headers(files, root)


SELF_TEST = {  # file -> lines, and those of them that are wrong
    "src/core/error.h": (["#include <string>"], []),
    "src/core/version.cpp": (['#include "build_info.h"', "#include <spdlog/spdlog.h>", '#include "data/table.h"'], [3]),
    "src/comm/options.h": (['#include "core/error.h"', "#include <ATen/core/Tensor.h>", "#include <spdlog/spdlog.h>"],
                           [2, 3]),
    "src/comm/transport.h": (['#include "comm/wire/cast.h"', '#include "comm/options.h"'], []),
    "src/comm/mpi/calls.h": (["#include <mpi.h>"], []),
    "src/comm/mpi/lane.h": (['#include "comm/mpi/calls.h"'], []),
    "src/comm/lanes.h": (['#include "core/error.h"', '#include "comm/mpi/lane.h"'], [2]),
    "src/comm/start.h": (["#include <cuda_runtime.h>", "#include <mpi.h>"], [1, 2]),
    "src/comm/start.cpp": (["#include <mpi.h>", '#include "comm/mpi/lane.h"'], []),
    "src/train/ranks.cpp": (["#include <mpi.h>"], [1]),
    "src/comm/wire/cast.h": (['#include "comm/wire/type.h"', '#include "core/error.h"', '#include "comm/options.h"'], [3]),
    "src/comm/wire/type.h": (["#include <cstdint>"], []),
    "src/data/table.h": (['#include "core/error.h"', "#include <c10/util/Exception.h>", '#include "error.h"'], [2, 3]),
    "src/data/reader.cpp": (['#include "data/table.h"', '#include "metrics/score.h"'], [2]),
    "src/metrics/score.h": (['  #  include "tokenize/gone.h"', '// #include "ops/linear.h"'], [1]),
    "src/ops/linear.h": (["#include <ATen/core/Tensor.h>", "#include <ATen/ATen.h>", '#include "model/encoder.h"'],
                         [2, 3]),
    "src/ops/kernels/gemm.cpp": (['#include "core/error.h"', "#include <ATen/core/Tensor.h>"], [2]),
    "src/model/encoder.h": (['#include "ops/linear.h"', "#include <torch/torch.h>", "#include <nlohmann/json.hpp>"],
                            [2]),
    "src/optim/kernels/update.h": (["#include <cstdint>", "#include <ATen/core/Tensor.h>"], [2]),
    "src/optim/adamw.h": (['#include "ops/linear.h"', "#include <nlohmann/json.hpp>"], [1, 2]),
    "src/tasks/task.h": (['#include "model/encoder.h"', '#include "train/trainer.h"', '#include "optim/adamw.h"'],
                         [2, 3]),
    "src/config/run_config.h": (['#include "comm/options.h"', '#include "data/table.h"', "#include <yaml-cpp/yaml.h>"],
                                [2]),
    "src/train/trainer.h": (['#include "config/run_config.h"', '#include "optim/adamw.h"', "#include <CLI/CLI.hpp>"],
                            [3]),
    "src/strange/thing.h": (["#include <string>"], [1]),
    "apps/guard.h": (['#include "core/error.h"', '#include "train/trainer.h"', "#include <CLI/CLI.hpp>"], []),
    "apps/main.cpp": (['#include "guard.h"', '#include "missing.h"', "#include <ATen/ATen.h>"], [2, 3]),
}


def self_test():
    with tempfile.TemporaryDirectory() as folder:
        root = pathlib.Path(folder)
        expected = []
        for name, (lines, wrong) in SELF_TEST.items():
            path = root / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text("\n".join(lines) + "\n", encoding="utf-8")
            expected += [f"{name}:{line}" for line in wrong]
        found = [":".join(fault.split(":")[:2]) for fault in check_tree(root)[1]]
    missed, invented = sorted(set(expected) - set(found)), sorted(set(found) - set(expected))
    for place in missed:
        print(f"self-test: {place} is wrong, and nothing was said")
    for place in invented:
        print(f"self-test: {place} is right, and a fault was found")
    print(f"self-test: {len(expected)} wrong includes, {len(missed)} missed, {len(invented)} invented")
    return 1 if missed or invented or len(found) != len(expected) else 0


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("root", nargs="?", type=pathlib.Path, default=pathlib.Path(__file__).resolve().parent.parent)
    parser.add_argument("--self-test", action="store_true")
    arguments = parser.parse_args()
    if arguments.self_test:
        return self_test()
    files, faults = check_tree(arguments.root.resolve())
    for fault in faults:
        print(fault)
    print(f"{len(files)} files, {len(faults)} wrong includes")
    return 1 if faults or not files else 0


if __name__ == "__main__":
    sys.exit(main())
