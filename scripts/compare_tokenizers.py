#!/usr/bin/env python3
"""Compares our ids with those of the pinned `tokenizers` package, text by text, and writes a page with the counts.

    python scripts/compare_tokenizers.py SHARED TOOL [--scalars] [--random N] [--output PAGE.md]

SHARED is the folder with data/ in it, TOOL the built tests/unit/tokenize/tokenize_tool. Texts are all raw lines of all
files of SHARED/data (split at LF, invalid UTF-8 replaced); with --scalars every Unicode scalar value alone, between
letters and before a combining mark; with --random the first N texts of tests/golden/tokenize/random_texts.py (LF made a
blank). Each text is encoded with the four vocabularies of SHARED/data/bert_vocabs, lower-cased and not. Needs
tests/golden/requirements.txt. Exit status 1 when any text differs.
"""
import argparse
import datetime
import os
import platform
import subprocess
import sys
import tempfile

import numpy
import tokenizers
import transformers

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "tests", "golden", "tokenize"))
from make_data_digests import VOCABS, data_files  # noqa: E402
from random_texts import random_text  # noqa: E402
from reference import SCALARS, auto_tokenizer, check_versions, raw_lines, read_vocab, write_folder  # noqa: E402

CONTEXTS = ["%s", "a%sb", "%s\u0301"]
BATCH = 50_000


def our_ids(tool, folder, path):
    """Ids of each line of a file."""
    out = subprocess.run([tool, folder, path, "hf", "ids"], check=True, stdout=subprocess.PIPE).stdout
    ids = numpy.frombuffer(out, dtype="<i4")
    ends = numpy.flatnonzero(ids == -1)
    return [part[:-1] if len(part) else part for part in numpy.split(ids, ends + 1)[:-1]]


class Count:
    def __init__(self):
        self.texts = self.ids = self.unknown = self.different = 0

    def add(self, other):
        for name in vars(self):
            setattr(self, name, getattr(self, name) + getattr(other, name))


def compare(reference, ours, texts, name, unk_id):
    count = Count()
    assert len(ours) == len(texts), f"{name}: {len(ours)} lines, expected {len(texts)}"
    for start in range(0, len(texts), BATCH):
        for i, encoding in enumerate(reference.encode_batch(texts[start:start + BATCH], add_special_tokens=False), start):
            ids = encoding.ids
            count.texts += 1
            count.ids += len(ids)
            count.unknown += ids.count(unk_id)
            if ids != ours[i].tolist():
                count.different += 1
                if count.different <= 3:
                    print(f"{name}:{i + 1}: {texts[i]!r}\n  reference {ids}\n  ours      {ours[i].tolist()}", flush=True)
    return count


def write_lines(path, texts):
    with open(path, "w", encoding="utf-8", newline="") as f:
        f.writelines(text + "\n" for text in texts)
    return path


def corpora(arguments, scratch):
    """(name, path of a file with the texts as lines)."""
    for name in data_files(arguments.shared):
        yield name, os.path.join(arguments.shared, "data", name)
    if arguments.scalars:
        for i, context in enumerate(CONTEXTS):
            texts = (context % chr(c) for c in SCALARS if c != 10)
            yield f"scalars: {ascii(context)}", write_lines(os.path.join(scratch, f"scalars{i}.txt"), texts)
    if arguments.random:
        texts = (random_text(i).replace("\n", " ") for i in range(arguments.random))
        yield f"random: {arguments.random:,}", write_lines(os.path.join(scratch, "random.txt"), texts)


def page(rows, totals, command):
    cpu = next((line.split(":")[1].strip() for line in open("/proc/cpuinfo") if line.startswith("model name")), "?")
    lines = [f"# Tokenizer equality, {datetime.date.today().isoformat()}", "",
             f"Ours (`compat: hf`) beside tokenizers {tokenizers.__version__}, set up by AutoTokenizer of transformers "
             f"{transformers.__version__}, Python {platform.python_version()}, {cpu}.", "", f"    {command}", "",
             "Each text is encoded with each vocabulary, lower-cased (uncased) and not (cased), without special tokens.", "",
             "| vocabulary | setting | texts | ids | [UNK] | texts that differ |", "| --- | --- | ---: | ---: | ---: | ---: |"]
    lines += [f"| {v} | {c} | {n.texts:,} | {n.ids:,} | {n.unknown:,} | {n.different:,} |" for (v, c), n in totals.items()]
    lines += ["", "| texts of | lines | encodings compared | that differ |", "| --- | ---: | ---: | ---: |"]
    lines += [f"| {name} | {lines_of:,} | {n.texts:,} | {n.different:,} |" for name, (lines_of, n) in rows.items()]
    return "\n".join(lines) + "\n"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("shared")
    parser.add_argument("tool")
    parser.add_argument("--scalars", action="store_true")
    parser.add_argument("--random", type=int, default=0, metavar="N")
    parser.add_argument("--output")
    arguments = parser.parse_args()
    check_versions()
    rows, totals = {}, {}
    with tempfile.TemporaryDirectory() as scratch:
        setups = []
        for vocab in VOCABS:
            text = read_vocab(os.path.join(arguments.shared, "data", "bert_vocabs", vocab + "-vocab.txt"))
            for case in ("uncased", "cased"):
                config = {"do_lower_case": case == "uncased"}
                folder = write_folder(os.path.join(scratch, vocab + case), {"vocab.txt": text, "tokenizer_config.json": config})
                setups.append(((vocab, case), auto_tokenizer(text, **config), folder))
                totals[(vocab, case)] = Count()
        for name, path in corpora(arguments, scratch):
            texts = raw_lines(path)
            rows[name] = (len(texts), Count())
            for key, tokenizer, folder in setups:
                ours = our_ids(arguments.tool, folder, path)
                count = compare(tokenizer.backend_tokenizer, ours, texts, f"{name} {key}", tokenizer.unk_token_id)
                rows[name][1].add(count)
                totals[key].add(count)
            print(f"{name}: {len(texts):,} texts, {rows[name][1].different} differ", flush=True)
    command = "python scripts/compare_tokenizers.py ../shared build/release/tests/unit/tokenize/tokenize_tool"
    command += " --scalars" * arguments.scalars + f" --random {arguments.random}" * bool(arguments.random)
    text = page(rows, totals, command)
    if arguments.output:
        with open(arguments.output, "w", encoding="utf-8", newline="\n") as f:
            f.write(text)
    print(text)
    sys.exit(any(n.different for n in totals.values()))


if __name__ == "__main__":
    main()
