#!/usr/bin/env python3
"""Runs every command that the documentation shows, in the order of each page, and fails with the first that fails.

    run_commands.py --binary build/release/bert_finetune README.md docs/guide.md

A page is worked through in a fresh folder that has links to data/, configs/, scripts/ and .deps/ of the repository:
  ```sh      runs as one script under `bash -euo pipefail`, with bert_finetune on the PATH
  ```python  runs under $BERTFT_PYTHON (skipped, and said so, without it)
  ```yaml    behind a line `<!-- file: NAME -->` becomes that file
  ```text    is output and not run; a fence without a language is an error, so that no command can hide in one
`<!-- run: repository -->` before a block runs it in the repository itself. `<!-- exit: N -->` says which exit code a
script ends with (0 otherwise). Commands that cannot be run in a test stand in NOT_RUN with the reason.
"""
import argparse
import os
import pathlib
import re
import subprocess
import sys
import tempfile

NOT_RUN = {
    "scripts/two_nodes.sh": "needs root; a system test runs it",
    "scripts/two_nodes.sh --comm horovod --rate 1gbit --set train.epochs=1": "needs root; a system test runs the like",
    "scripts/launch_mpi.sh --hosts hosts.txt --network 10.1.0.0/16 -x BERTFT_NAS bert_finetune --config configs/two_nodes.yaml":
        "needs the hosts; scripts/two_nodes.sh starts its job by the same script",
    "scripts/launch_mpi.sh --hosts hosts.txt --network 10.1.0.0/16 -x BERTFT_NAS bert_finetune check --config configs/two_nodes.yaml":
        "needs the hosts; a system test checks two nodes by the same script",
    "scripts/test.sh": "is what runs this test",
    "tensorboard --logdir run": "serves until it is stopped; a test of its own reads the event files",
}
FENCE = re.compile(r"^ *```(\w*)\s*$")
DIRECTIVE = re.compile(r"^ *<!-- (file|run|exit): (.*?) -->$")


def blocks_of(page):
    """Yields (line, language, text, directives) of each fenced block."""
    directives, language, lines, start = {}, None, [], 0
    for number, line in enumerate(page.read_text(encoding="utf-8").splitlines(), 1):
        fence = FENCE.match(line)
        if language is not None:
            if line.strip() == "```":
                yield start, language, "\n".join(lines) + "\n", directives
                directives, language, lines = {}, None, []
            else:
                lines.append(line)
        elif fence:
            language, start = fence[1], number
        elif match := DIRECTIVE.match(line):
            directives[match[1]] = match[2]
        elif line.strip():
            directives = {}


def without_exceptions(script):
    kept = []
    for line in script.splitlines():
        command = line.split("  #")[0].strip()
        if command in NOT_RUN:
            print(f"  not run: {command} ({NOT_RUN[command]})")
            continue
        kept.append(line)
    return "\n".join(kept) + "\n"


def run_block(language, text, directives, folder, repository, environment):
    """The exit code and the output; None for a block that is not run."""
    place = repository if directives.get("run") == "repository" else folder
    if language == "sh":
        command = ["bash", "-euo", "pipefail", "-c", without_exceptions(text)]
    elif language == "python":
        python = environment.get("BERTFT_PYTHON", str(repository / ".deps/venv/bin/python"))
        if not pathlib.Path(python).exists():
            print(f"  not run: a Python block, since there is no {python}")
            return None
        command = [python, "-c", text]
    else:
        return None
    return subprocess.run(command, cwd=place, env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                          text=True, timeout=1200, check=False)


def work_through(page, repository, environment):
    faults = 0
    with tempfile.TemporaryDirectory(prefix="bertft_docs_") as name:
        folder = pathlib.Path(name)
        for link in ("data", "configs", "scripts", ".deps"):
            (folder / link).symlink_to(repository / link)
        for line, language, text, directives in blocks_of(page):
            where = f"{page.name}:{line}"
            if not language:
                print(f"{where}: a block without a language; write ```sh, ```text, ...")
                faults += 1
            if "file" in directives:
                (folder / directives["file"]).write_text(text, encoding="utf-8")
            print(f"{where}: {language}")
            result = run_block(language, text, directives, folder, repository, environment)
            if result is not None and result.returncode != int(directives.get("exit", "0")):
                print(f"{where}: exit code {result.returncode} of:\n{text}\n{result.stdout}")
                return faults + 1
    return faults


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--binary", required=True, type=pathlib.Path)
    parser.add_argument("pages", nargs="+", type=pathlib.Path)
    arguments = parser.parse_args()
    repository = pathlib.Path(__file__).resolve().parents[2]
    environment = dict(os.environ)
    environment["PATH"] = f"{arguments.binary.resolve().parent}:{environment['PATH']}"
    faults = sum(work_through(page.resolve(), repository, environment) for page in arguments.pages)
    sys.exit(1 if faults else 0)


if __name__ == "__main__":
    main()
