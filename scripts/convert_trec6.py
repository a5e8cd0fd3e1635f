#!/usr/bin/env python3
"""Converts the TREC question files (`DESC:manner How did ...`) to TSV with the columns label and text.

The label is the coarse class before the colon (six classes); --fine keeps the whole one (fifty). Usage:

  convert_trec6.py FOLDER OUTPUT [--dev ROWS [--seed N]] [--fine]

FOLDER holds TREC.train and TREC.test; OUTPUT gets train.tsv, test.tsv and, with --dev, dev.tsv: that many rows drawn
from the training rows, which then lack them. Needs only the standard library.
"""
import argparse
import pathlib
import random
import sys


def decode(line, place):
    """The text of one line. The published file has a byte that is not UTF-8; such a line is read as Latin-1."""
    try:
        return line.decode("utf-8")
    except UnicodeDecodeError as error:
        byte = line[error.start]
        print(f"{place}: byte 0x{byte:02X} is not UTF-8; the line is read as Latin-1", file=sys.stderr)
        return line.decode("latin-1")


def read_rows(path, fine):
    """[(label, text)] of one file, in its order."""
    rows = []
    lines = path.read_bytes().split(b"\n")
    if lines and not lines[-1]:
        lines.pop()
    for number, raw in enumerate(lines, 1):
        line = decode(raw.rstrip(b"\r"), f"{path}:{number}")
        label, blank, text = line.partition(" ")
        coarse, colon, _ = label.partition(":")
        if not (blank and colon and coarse and text.strip()):
            raise SystemExit(f"{path}:{number}: expected 'COARSE:fine question', found {line[:60]!r}")
        rows.append((label if fine else coarse, text.replace("\t", " ")))
    if not rows:
        raise SystemExit(f"{path}: no rows")
    return rows


def write_rows(path, rows):
    with open(path, "w", encoding="utf-8", newline="\n") as file:
        file.write("label\ttext\n")
        file.writelines(f"{label}\t{text}\n" for label, text in rows)
    print(f"{path}: {len(rows)} rows")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("output", type=pathlib.Path)
    parser.add_argument("--dev", type=int, default=0, metavar="ROWS", help="hold out this many training rows")
    parser.add_argument("--seed", type=int, default=42, help="of the draw of --dev")
    parser.add_argument("--fine", action="store_true", help="keep the fifty fine classes")
    arguments = parser.parse_args()
    for name in ("TREC.train", "TREC.test"):
        if not (arguments.folder / name).is_file():
            parser.error(f"{arguments.folder / name} is not there")
    train = read_rows(arguments.folder / "TREC.train", arguments.fine)
    test = read_rows(arguments.folder / "TREC.test", arguments.fine)
    if not 0 <= arguments.dev < len(train):
        parser.error(f"--dev: between 0 and {len(train) - 1} rows")
    arguments.output.mkdir(parents=True, exist_ok=True)
    held_out = set(random.Random(arguments.seed).sample(range(len(train)), arguments.dev))
    write_rows(arguments.output / "train.tsv", [row for i, row in enumerate(train) if i not in held_out])
    if held_out:
        write_rows(arguments.output / "dev.tsv", [row for i, row in enumerate(train) if i in held_out])
    write_rows(arguments.output / "test.tsv", test)


if __name__ == "__main__":
    main()
