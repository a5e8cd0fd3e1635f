#!/usr/bin/env python3
"""Tokenizer speed beside the `tokenizers` package: both sides in one run, alternating, on the same texts.

    .deps/venv/bin/python scripts/bench/tokenizer_speed.py build/release/benchmarks/bench_tokenizer [--shared ../shared]
        [--rounds 5] [--output benchmarks/results/DATE-tokenizer-speed.md]

Texts: SST-2 train and the first sentences of MRPC train with bert-base-uncased's vocabulary, THUCNews dev with
bert-base-chinese's, all below SHARED/data, whole (no max_length). Each round times, on one thread, the package's
encode_batch and encode_batch_fast (which leaves out offsets), then bench_tokenizer on one thread and on all. Times are
those of encoding alone, the ids kept. Exit status 1 when the two sides do not give the same ids.
"""
import argparse
import datetime
import json
import os
import platform
import statistics
import subprocess
import sys
import tempfile
import time

os.environ["TOKENIZERS_PARALLELISM"] = "false"
import numpy  # noqa: E402
import tokenizers  # noqa: E402

CORPORA = [  # name, file, column, vocabulary
    ("SST-2", "sst2/train.tsv", 0, "bert-base-uncased"),
    ("MRPC", "mrpc/msr_paraphrase_train.txt", 3, "bert-base-uncased"),
    ("THUCNews", "thucnews_title/dev.txt", 0, "bert-base-chinese"),
]
REPEATS = 5  # of bench_tokenizer in one process; its median counts as one measurement


def cpu_name():
    with open("/proc/cpuinfo", encoding="utf-8") as info:
        return next((line.split(":", 1)[1].strip() for line in info if line.startswith("model name")), "?")


def texts_of(path, column):
    with open(path, encoding="utf-8", newline="\n") as file:
        return [line.rstrip("\n").removesuffix("\r").split("\t")[column] for line in file]


def checksum(encodings):
    ids = numpy.fromiter((i for e in encodings for i in e.ids), dtype=numpy.uint64)
    places = numpy.arange(1, len(ids) + 1, dtype=numpy.uint64)
    return len(ids), int((ids * places).sum(dtype=numpy.uint64))


def time_package(encode, texts):
    """Seconds by the clock, seconds of the processor, and what came out."""
    cpu, wall = time.process_time(), time.perf_counter()
    encodings = encode(texts)
    return time.perf_counter() - wall, time.process_time() - cpu, encodings


def time_ours(binary, folder, path, column, threads):
    command = [binary, folder, path, str(column), str(threads), str(REPEATS)]
    result = json.loads(subprocess.run(command, check=True, stdout=subprocess.PIPE).stdout)
    return statistics.median(result["wall_s"]), statistics.median(result["cpu_s"]), result


def measure(args, corpus, folder, threads):
    """{setting: [(wall_s, cpu_s) of each round]}, number of texts, of ids."""
    name, file, column, vocabulary = corpus
    path = os.path.join(args.shared, "data", file)
    vocab = os.path.join(args.shared, "data", "bert_vocabs", vocabulary + "-vocab.txt")
    with open(vocab, "rb") as source, open(os.path.join(folder, "vocab.txt"), "wb") as target:
        target.write(source.read())
    texts = texts_of(path, column)
    package = tokenizers.BertWordPieceTokenizer(vocab, lowercase=True)
    settings = {"encode_batch": package.encode_batch, "encode_batch_fast": package._tokenizer.encode_batch_fast}
    times = {setting: [] for setting in [*settings, "ours", "ours, all"]}
    expected = checksum(package.encode_batch(texts))
    for _ in range(args.rounds):
        for setting, encode in settings.items():
            wall_s, cpu_s, encodings = time_package(encode, texts)
            times[setting].append((wall_s, cpu_s))
            del encodings
        for setting, count in (("ours", 1), ("ours, all", threads)):
            wall_s, cpu_s, result = time_ours(args.binary, folder, path, column, count)
            if result["texts"] != len(texts) or (result["ids"], result["checksum"]) != expected:
                sys.exit(f"{name}: the ids differ from the package's (run scripts/compare_tokenizers.py)")
            times[setting].append((wall_s, cpu_s))
    return times, len(texts), expected[0]


def rates(runs, texts, which):
    values = [texts / run[which] for run in runs]
    return f"{statistics.median(values):,.0f} ({min(values):,.0f}-{max(values):,.0f})"


def ratio(ours, peer, which):
    """Of rounds, pair by pair: what both sides met in the same minute."""
    return statistics.median(b[which] / a[which] for a, b in zip(ours, peer))


def page(args, rows, threads, load):
    lines = [f"# Tokenizer speed, {datetime.date.today()}", "",
             f"{cpu_name()}; load before and after the run {load[0]:.1f} and {load[1]:.1f} on {threads} cores; tokenizers "
             f"{tokenizers.__version__}, Python {platform.python_version()}. {args.rounds} rounds, alternating; texts/s, "
             "median (range); ratios are medians over the rounds. Processor time is what counts where other work shares the "
             "cores.", "", "## One thread", "",
             "| texts | clock | encode_batch | encode_batch_fast | ours | ours / encode_batch | ours / fast |",
             "| --- | --- | ---: | ---: | ---: | ---: | ---: |"]
    for name, (times, texts, _) in rows.items():
        for which, clock in ((0, "wall"), (1, "processor")):
            cells = [rates(times[s], texts, which) for s in ("encode_batch", "encode_batch_fast", "ours")]
            cells += [f"{ratio(times['ours'], times[s], which):.1f}x" for s in ("encode_batch", "encode_batch_fast")]
            lines.append(f"| {name} | {clock} | " + " | ".join(cells) + " |")
    lines += ["", f"## {threads} threads", "",
              "| texts | wall, texts/s | beside one thread (wall) | processor time beside one thread |",
              "| --- | ---: | ---: | ---: |"]
    for name, (times, texts, _) in rows.items():
        lines.append(f"| {name} | {rates(times['ours, all'], texts, 0)} | "
                     f"{ratio(times['ours, all'], times['ours'], 0):.2f}x | "
                     f"{1 / ratio(times['ours, all'], times['ours'], 1):.2f}x |")
    lines += ["", "Texts and ids, which are equal on both sides: " +
              "; ".join(f"{name} {texts:,} and {ids:,}" for name, (_, texts, ids) in rows.items()) + ".", "",
              "    .deps/venv/bin/python scripts/bench/tokenizer_speed.py build/release/benchmarks/bench_tokenizer "
              f"--rounds {args.rounds}", ""]
    return "\n".join(lines)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("binary", help="the built bench_tokenizer (configure with -DBERTFT_BENCHMARKS=ON)")
    parser.add_argument("--shared", default=os.environ.get("BERTFT_SHARED", "../shared"))
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--output")
    args = parser.parse_args()
    threads = len(os.sched_getaffinity(0))
    load_before = os.getloadavg()[0]
    rows = {}
    with tempfile.TemporaryDirectory() as folder:
        for corpus in CORPORA:
            rows[corpus[0]] = measure(args, corpus, folder, threads)
    text = page(args, rows, threads, (load_before, os.getloadavg()[0]))
    print(text)
    if args.output:
        with open(args.output, "w", encoding="utf-8") as file:
            file.write(text)


main()
