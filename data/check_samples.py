"""Checks the sample data beside this script: form of the files, balance, duplicates and agreement of the splits.

Keeps the promises of data/README.md true when somebody edits a row; prints every fault with file:line and exits 1.
Needs the standard library only.
"""
import argparse
import pathlib
import sys
import unicodedata
from collections import Counter

LANGUAGES = ("en", "zh")
ROWS_PER_LABEL = {"train": 40, "dev": 10, "test": 20}
LABELS_PER_LANGUAGE = 8
HEADER = "label\ttext"


def read_lines(path, faults):
    """Returns the lines of the file without their LF; an unreadable file is a fault and has no lines."""
    try:
        content = path.read_bytes().decode("utf-8")
    except (OSError, UnicodeDecodeError) as error:
        faults.append(f"{path}: {error}")
        return []
    if not content.endswith("\n"):
        faults.append(f"{path}: the last line has no LF")
    return content.removesuffix("\n").split("\n")


def row_faults(line):
    """Yields what is wrong with one row, seen on its own."""
    cells = line.split("\t")
    if len(cells) != 2:
        yield f"{len(cells)} columns, expected 2 (label, text)"
    if any(cell != cell.strip() or not cell for cell in cells):
        yield "empty cell, or spaces around one"
    if unicodedata.normalize("NFC", line) != line:
        yield "not in Unicode form NFC"
    if any(unicodedata.category(c) in ("Cc", "Cf", "Zl", "Zp") for c in line if c != "\t"):
        yield "control or format character (CR, byte order mark, ...)"


def text_key(text):
    """Texts that differ only in case or punctuation count as duplicates."""
    return "".join(c for c in text.casefold() if c.isalnum())


def check_split(path, per_label, seen, faults):
    """Checks one file, enters its texts into `seen` (key -> place) and returns its labels."""
    lines = read_lines(path, faults)
    if lines and lines[0] != HEADER:
        faults.append(f"{path}:1: header is {lines[0]!r}, expected {HEADER!r}")
    counts = Counter()
    for number, line in enumerate(lines[1:], start=2):
        place = f"{path}:{number}"
        faults.extend(f"{place}: {fault}" for fault in row_faults(line))
        label, _, text = line.partition("\t")
        counts[label] += 1
        key = text_key(text)
        if key in seen:
            faults.append(f"{place}: same text as {seen[key]}")
        seen.setdefault(key, place)
    for label, count in sorted(counts.items()):
        if count != per_label:
            faults.append(f"{path}: {count} rows of label {label!r}, expected {per_label}")
    return set(counts)


def check_language(folder, faults):
    """Checks the three files of one language and that they have the same labels; returns the number of texts."""
    seen = {}
    labels = {s: check_split(folder / f"{s}.tsv", n, seen, faults) for s, n in ROWS_PER_LABEL.items()}
    for split, found in labels.items():
        if len(found) != LABELS_PER_LANGUAGE:
            faults.append(f"{folder}/{split}.tsv: {len(found)} labels, expected {LABELS_PER_LANGUAGE}")
        if found != labels["train"]:
            faults.append(f"{folder}/{split}.tsv: labels differ from train: {sorted(found ^ labels['train'])}")
    return len(seen)


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("folder", nargs="?", type=pathlib.Path, default=pathlib.Path(__file__).resolve().parent,
                        help="folder with en/ and zh/ (default: the folder of this script)")
    folder = parser.parse_args().folder
    faults = []
    for language in LANGUAGES:
        print(f"{language}: {check_language(folder / language, faults)} different texts")
    for fault in faults:
        print(fault, file=sys.stderr)
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
