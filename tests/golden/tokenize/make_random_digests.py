"""Writes random_digests.txt: what the references make of a million random texts, as digests per 10,000 of them.

    python make_random_digests.py        about five minutes

Columns: texts (the UTF-8 itself, to tell a wrong generator from a wrong tokenizer); words and ids, cased and uncased, by
hf, with vocab_small.txt; ids by Google's rules, for every tenth block ("-" elsewhere).
"""
import os

from random_texts import random_text
from reference import (HERE, TEXT_END, GoogleTokenizer, HfWords, auto_tokenizer, check_versions, digest, ids_bytes, read_vocab,
                       words_bytes)

COUNT, BLOCK, GOOGLE_EVERY = 1_000_000, 10_000, 10


def main():
    check_versions()
    vocab = read_vocab(os.path.join(HERE, "vocab_small.txt"))
    common = dict(clean_text=True, handle_chinese_chars=True)
    words = {"words_cased": HfWords(strip_accents=False, lowercase=False, **common),
             "words_uncased": HfWords(strip_accents=True, lowercase=True, **common)}
    ids = {"ids_cased": auto_tokenizer(vocab, do_lower_case=False).backend_tokenizer,
           "ids_uncased": auto_tokenizer(vocab, do_lower_case=True).backend_tokenizer}
    google = {"google_cased": GoogleTokenizer(False, vocab), "google_uncased": GoogleTokenizer(True, vocab)}
    with open(os.path.join(HERE, "random_digests.txt"), "w", encoding="ascii", newline="\n") as f:
        f.write(" ".join(["texts"] + list(words) + list(ids) + list(google)) + "\n")
        for block, start in enumerate(range(0, COUNT, BLOCK)):
            texts = [random_text(i) for i in range(start, start + BLOCK)]
            row = [digest(b"".join(t.encode() + TEXT_END for t in texts))]
            row += [digest(b"".join(words_bytes(split(t)) for t in texts)) for split in words.values()]
            for tokenizer in ids.values():
                encodings = tokenizer.encode_batch(texts, add_special_tokens=False)
                row.append(digest(b"".join(ids_bytes(e.ids) for e in encodings)))
            for tokenizer in google.values():
                wanted = block % GOOGLE_EVERY == 0
                row.append(digest(b"".join(ids_bytes(tokenizer.ids(t)) for t in texts)) if wanted else "-")
            f.write(" ".join(row) + "\n")


if __name__ == "__main__":
    main()
