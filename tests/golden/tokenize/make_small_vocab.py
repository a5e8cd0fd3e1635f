"""Writes vocab_small.txt: a vocabulary made for tests, in which few words are unknown, so that ids show differences."""
import itertools
import os

from reference import HERE

SPECIAL = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"]
RANGES = [(0x21, 0x7E), (0xA1, 0x17F), (0x370, 0x4FF), (0x5D0, 0x5EA), (0x621, 0x64A), (0x904, 0x94D), (0xE01, 0xE4E),
          (0x1100, 0x1112), (0x1161, 0x1175), (0x11A8, 0x11C2), (0x2010, 0x205E), (0x20A0, 0x20BF), (0x2100, 0x214F),
          (0x3001, 0x30FF), (0x4E00, 0x4EFF), (0x5000, 0x50FF), (0x9F00, 0x9FFF), (0xAC00, 0xACFF), (0xFF01, 0xFF5E),
          (0x1F600, 0x1F64F), (0x300, 0x345)]


def main():
    pieces = list(SPECIAL)
    for first, last in RANGES:
        pieces += [chr(c) for c in range(first, last + 1) if chr(c).isprintable()]
    letters = "abcdefghijklmnopqrstuvwxyz"
    pieces += ["".join(pair) for pair in itertools.product("aeiostr", letters)]
    pieces += ["the", "ing", "tion", "The", "abc", "abcd", "un", "\u0391\u03a3", "\u03b1\u03c3", "\u03b1\u03c2"]
    continued = ["##" + p for p in pieces[len(SPECIAL):] if not (len(p) == 1 and 0x4E00 <= ord(p) <= 0x9FFF)]
    with open(os.path.join(HERE, "vocab_small.txt"), "w", encoding="utf-8", newline="\n") as f:
        f.write("\n".join(pieces + continued) + "\n")


if __name__ == "__main__":
    main()
