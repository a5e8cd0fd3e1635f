#!/usr/bin/env python3
"""Counts instructions of the tokenizer, the kernels and the optimizer, and compares them with the kept counts.

    scripts/instruction_counts.py build/release/tests/instructions/instruction_work            a table: kept and now
    scripts/instruction_counts.py build/release/tests/instructions/instruction_work --update   keeps the counts of now
    scripts/instruction_counts.py ... --check GROUP     fails when a count of the group has grown by more than 10 %

Each workload (tests/instructions/) runs alone under callgrind, on one thread, with the AVX2 kernels: valgrind shows every
processor with AVX2 as the same one, so counts are the same on all of them. They depend on the compiler, so --update keeps
its name, and --check skips with another one. After a change that is meant to cost or save instructions run --update and
commit tests/instructions/counts.json with it, saying why. Needs valgrind (scripts/setup.sh --tests).
"""
import argparse
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
KEPT = os.path.join(ROOT, "tests", "instructions", "counts.json")
TOLERANCE = 0.10
UPDATE_HINT = "scripts/instruction_counts.py PROGRAM --update"


def skip(reason):
    print(f"SKIPPED: {reason}")
    sys.exit(0)


def workloads(program):
    """{group: [names]}: a group is what the tests run together."""
    groups = {"tokenizer": [], "attention": [], "optimizer": [], "fused_ops": []}
    for name in subprocess.run([program], check=True, stdout=subprocess.PIPE, text=True).stdout.split():
        group = name.split("_")[0]
        groups[group if group in groups else "fused_ops"].append(name)
    return groups


def count(program, name):
    """Instructions of one workload."""
    environment = {k: v for k, v in os.environ.items() if not k.startswith(("BERTFT_", "OMP_", "GOMP_", "GLIBC_TUNABLES"))}
    environment["OMP_NUM_THREADS"] = "1"
    with tempfile.TemporaryDirectory() as folder:
        profile = os.path.join(folder, "callgrind.out")
        command = ["valgrind", "--tool=callgrind", "--collect-atstart=no", "--toggle-collect=counted_work",
                   f"--callgrind-out-file={profile}", program, name]
        run = subprocess.run(command, cwd=ROOT, env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        if run.returncode != 0:
            sys.exit(f"{name} failed under valgrind:\n{run.stderr}")
        if run.stdout.startswith("SKIPPED: "):
            skip(run.stdout[9:].strip())
        with open(profile, encoding="utf-8") as file:
            found = re.search(r"^(?:summary|totals): (\d+)", file.read(), re.MULTILINE)
    if not found or int(found.group(1)) == 0:
        sys.exit(f"{name}: callgrind counted nothing, so counted_work was not found or did nothing")
    return int(found.group(1))


def faults_of(kept, now):
    """Messages for what is wrong with the counts of now."""
    faults = []
    for name, instructions in now.items():
        if name not in kept:
            faults.append(f"{name}: no kept count. Run {UPDATE_HINT}")
        elif instructions > kept[name] * (1 + TOLERANCE):
            faults.append(f"{name}: {instructions:,} instructions, {instructions / kept[name] - 1:+.1%} over the kept "
                          f"{kept[name]:,} (tolerance {TOLERANCE:.0%}). Make it as cheap as before or, if the cost is "
                          f"meant, run {UPDATE_HINT} and say why in the commit")
    return faults


def table(kept, now):
    lines = [f"{'workload':<26}{'kept':>14}{'now':>14}{'change':>9}"]
    for name, instructions in now.items():
        change = f"{instructions / kept[name] - 1:+.1%}" if name in kept else "new"
        lines.append(f"{name:<26}{kept.get(name, 0):>14,}{instructions:>14,}{change:>9}")
    return "\n".join(lines)


def self_test():
    kept = {"a": 1000, "b": 2000}
    assert not faults_of(kept, {"a": 1100, "b": 100}), "growth within the tolerance, and less, are no faults"
    assert [f.split(":")[0] for f in faults_of(kept, {"a": 1101, "b": 2000})] == ["a"], "growth by more is one"
    assert len(faults_of(kept, {"a": 1000, "c": 5})) == 1, "a workload without kept count is one"
    print("instruction_counts: the comparison works")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("program", nargs="?", help="the built instruction_work")
    parser.add_argument("--check", metavar="GROUP", help="tokenizer, attention, fused_ops or optimizer")
    parser.add_argument("--update", action="store_true")
    parser.add_argument("--compiler", help="name and version of the compiler that built it (default: what g++ says)")
    parser.add_argument("--self-test", action="store_true", dest="self_test")
    args = parser.parse_args()
    if args.self_test:
        return self_test()
    if not args.program:
        parser.error("which program? (build/release/tests/instructions/instruction_work)")
    program = os.path.abspath(args.program)
    compiler = args.compiler or "GNU " + subprocess.run(
        ["g++", "-dumpfullversion"], check=True, stdout=subprocess.PIPE, text=True).stdout.strip()
    if not shutil.which("valgrind"):
        if args.check:
            skip("valgrind is not installed (scripts/setup.sh --tests)")
        sys.exit("instruction_counts: valgrind is not installed: run scripts/setup.sh --tests")
    kept = {"compiler": compiler, "instructions": {}}
    if os.path.exists(KEPT):
        with open(KEPT, encoding="utf-8") as file:
            kept = json.load(file)
    if args.check and kept["compiler"] != compiler:
        skip(f"the counts were kept with {kept['compiler']}, this build is by {compiler}")
    groups = workloads(program)
    names = groups[args.check] if args.check else [name for group in groups.values() for name in group]
    if not names:
        sys.exit(f"instruction_counts: no workload in group {args.check}")
    now = {name: count(program, name) for name in names}
    print(table(kept["instructions"], now))
    if args.update:
        with open(KEPT, "w", encoding="utf-8") as file:
            json.dump({"compiler": compiler, "instructions": now}, file, indent=2)
            file.write("\n")
        print(f"kept in {os.path.relpath(KEPT)}")
    elif args.check:
        faults = faults_of(kept["instructions"], now)
        for fault in faults:
            print(fault)
        sys.exit(1 if faults else 0)


main()
