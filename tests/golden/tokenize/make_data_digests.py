"""Writes data_digests.txt: the ids of every text of the real data, as one digest per file, vocabulary and case setting.

    python make_data_digests.py SHARED        SHARED: the folder with data/ in it; about ten minutes

A text is a raw line: split at LF only, invalid UTF-8 replaced. tests/unit/tokenize/data_digests_test.cpp compares when
the data is there.
"""
import os
import sys

from reference import HERE, auto_tokenizer, check_versions, digest, ids_bytes, raw_lines, read_vocab

VOCABS = ["bert-base-uncased", "bert-base-cased", "bert-base-chinese", "bert-base-multilingual-cased"]


def data_files(shared):
    """Paths below SHARED/data in order, with '/'."""
    root = os.path.join(shared, "data")
    return sorted(f"{folder}/{name}" for folder in os.listdir(root) if os.path.isdir(os.path.join(root, folder))
                  for name in os.listdir(os.path.join(root, folder)))


def main():
    check_versions()
    shared = sys.argv[1]
    columns = {}
    for name in VOCABS:
        vocab = read_vocab(os.path.join(shared, "data", "bert_vocabs", name + "-vocab.txt"))
        for case in ("uncased", "cased"):
            columns[f"{name}:{case}"] = auto_tokenizer(vocab, do_lower_case=case == "uncased").backend_tokenizer
    with open(os.path.join(HERE, "data_digests.txt"), "w", encoding="ascii", newline="\n") as f:
        f.write(" ".join(["file"] + list(columns)) + "\n")
        for path in data_files(shared):
            texts = raw_lines(os.path.join(shared, "data", path))
            row = [path]
            for tokenizer in columns.values():
                encodings = tokenizer.encode_batch(texts, add_special_tokens=False)
                row.append(digest(b"".join(ids_bytes(e.ids) for e in encodings)))
            f.write(" ".join(row) + "\n")


if __name__ == "__main__":
    main()
