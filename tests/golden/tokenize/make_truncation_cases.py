"""Writes truncation_cases.txt: how many tokens of each text of a pair are kept, by the reference and by Google's rule.

    python make_truncation_cases.py

Line: rule, side, max_length, tokens of a, tokens of b ("-" for a single text), then kept of a and of b; "error" when the
reference cannot cut. tests/unit/tokenize/truncation_test.cpp compares.
"""
import os

from reference import HERE, auto_tokenizer, check_versions

LETTERS = "abcdefghijklmnopqrstuvwxyz"
LENGTHS = [0, 1, 2, 3, 5, 8]
PAIR_LIMITS = [3, 4, 5, 6, 7, 9, 10, 13]


def tokenizer(side):
    vocab = "\n".join(["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"] + list(LETTERS + LETTERS.upper())) + "\n"
    return auto_tokenizer(vocab, do_lower_case=False, truncation_side=side)


def kept(ids, side, total, first):
    """Checks that what is kept is one end of the text."""
    wanted = list(range(first, first + total))
    assert ids == (wanted[:len(ids)] if side == "right" else wanted[total - len(ids):]), (ids, total)
    return len(ids)


def google(a, b, room):
    """_truncate_seq_pair of run_classifier.py."""
    while a + b > room:
        if a > b:
            a -= 1
        else:
            b -= 1
    return a, b


def reference(tok, rule, side, limit, a, b):
    pair = [" ".join(LETTERS.upper()[:b])] if b is not None else None
    try:
        ids = tok([" ".join(LETTERS[:a])], pair, truncation=rule, max_length=limit)["input_ids"][0]
    except Exception as error:
        assert "too short" in str(error), error
        return "error"
    end_of_a = ids.index(3)
    kept_a = kept(ids[1:end_of_a], side, a, 5)
    return f"{kept_a} {'-' if b is None else kept(ids[end_of_a + 1:-1], side, b, 5 + 26)}"


def main():
    check_versions()
    with open(os.path.join(HERE, "truncation_cases.txt"), "w", encoding="ascii", newline="\n") as f:
        for side in ("right", "left"):
            tok = tokenizer(side)
            for rule in ("longest_first", "only_first"):
                for a in LENGTHS:
                    for limit in (2, 3, 5, 7, 10):
                        f.write(f"{rule} {side} {limit} {a} - {reference(tok, rule, side, limit, a, None)}\n")
                    for b in LENGTHS:
                        for limit in PAIR_LIMITS if side == "right" else (6, 7):
                            f.write(f"{rule} {side} {limit} {a} {b} {reference(tok, rule, side, limit, a, b)}\n")
        for a in LENGTHS:
            for b in LENGTHS[1:]:
                for limit in PAIR_LIMITS:
                    f.write("google right %d %d %d %d %d\n" % ((limit, a, b) + google(a, b, limit - 3)))


if __name__ == "__main__":
    main()
