"""Writes scalar_digests.txt: what the references make of every Unicode scalar value, as digests per 4,096 of them.

    python make_scalar_digests.py        about ten minutes

Text: each scalar value in each of the CONTEXTS. Columns: SETTINGS (words) and IDS (ids without special tokens, with
vocab_small.txt). tests/unit/tokenize/scalars_test.cpp makes the same digests.
"""
import os

from reference import (HERE, SCALARS, GoogleTokenizer, HfWords, auto_tokenizer, check_versions, digest, ids_bytes,
                       read_vocab, words_bytes)

CONTEXTS = ["%s", "a%sb", "%s\u0301", "A\u302e%s\U0001d165B", "\u0391\u03a3%s\u0391"]
BLOCK = 4096


def bert(clean_text, handle_chinese_chars, strip_accents, lowercase):
    return HfWords(clean_text=clean_text, handle_chinese_chars=handle_chinese_chars, strip_accents=strip_accents,
                   lowercase=lowercase)


def main():
    check_versions()
    vocab = read_vocab(os.path.join(HERE, "vocab_small.txt"))
    settings = {
        "cased": bert(True, True, False, False),
        "uncased": bert(True, True, True, True),
        "lower_only": bert(True, True, False, True),
        "strip_only": bert(True, True, True, False),
        "unclean": bert(False, False, True, True),
        "google_cased": GoogleTokenizer(False).words,
        "google_uncased": GoogleTokenizer(True).words,
    }
    ids = {"ids_cased": auto_tokenizer(vocab, do_lower_case=False).backend_tokenizer,
           "ids_uncased": auto_tokenizer(vocab, do_lower_case=True).backend_tokenizer}
    with open(os.path.join(HERE, "scalar_digests.txt"), "w", encoding="ascii", newline="\n") as f:
        f.write(" ".join(list(settings) + list(ids)) + "\n")
        for start in range(0, len(SCALARS), BLOCK):
            texts = [c % chr(s) for s in SCALARS[start:start + BLOCK] for c in CONTEXTS]
            row = [digest(b"".join(words_bytes(words(t)) for t in texts)) for words in settings.values()]
            for tokenizer in ids.values():
                encodings = tokenizer.encode_batch(texts, add_special_tokens=False)
                row.append(digest(b"".join(ids_bytes(e.ids) for e in encodings)))
            f.write(" ".join(row) + "\n")


if __name__ == "__main__":
    main()
