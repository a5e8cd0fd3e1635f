#!/usr/bin/env python3
"""Writes src/tokenize/unicode_data.generated.inc by probing the pinned `tokenizers` package over all scalar values.

Libraries differ in the Unicode version they were built with, so nothing is taken from a Unicode file for the `hf` half:
each property is what the pinned package does with the character. The `google` half holds what Google's tokenization.py
sees through Python's unicodedata, pinned to Unicode 14.0 (Python 3.11).

    python scripts/make_unicode_tables.py [OUTPUT]

needs Python 3.11 and tests/golden/requirements.txt; takes about half a minute.
"""
import os
import sys
import unicodedata

import tokenizers
from tokenizers import AddedToken, Tokenizer, models, normalizers, pre_tokenizers

PINNED = "0.23.3"
SCALARS = [c for c in range(0x110000) if not 0xD800 <= c < 0xE000]
BLOCK = 128

# Bits of a class; the same names stand in src/tokenize/unicode_tables.h.
DROP, SPACE, CJK, PUNCT, MARK, WORD = 1, 2, 4, 8, 16, 32
GOOGLE_DROP, GOOGLE_SPACE, GOOGLE_CJK, GOOGLE_PUNCT, GOOGLE_MARK = 64, 128, 256, 512, 1024
CASED, CASE_IGNORABLE = 2048, 4096

HANGUL_FIRST, HANGUL_COUNT = 0xAC00, 11172


def bert(**on):
    options = dict(clean_text=False, handle_chinese_chars=False, strip_accents=False, lowercase=False)
    options.update(on)
    return normalizers.BertNormalizer(**options)


class Probe:
    """What the pinned package does with each scalar value."""

    def __init__(self):
        self.flags = dict.fromkeys(SCALARS, 0)
        self.decomposition, self.lower, self.ccc = {}, {}, {}
        self.find_classes()
        self.find_mappings()
        self.find_marks()
        self.find_combining_classes()
        self.find_word_characters()

    def find_classes(self):
        clean, chinese, split = bert(clean_text=True), bert(handle_chinese_chars=True), pre_tokenizers.BertPreTokenizer()
        for c in SCALARS:
            char = chr(c)
            text = "a" + char + "b"
            words = [word for word, _ in split.pre_tokenize_str(text)]
            flags = {1: 0, 2: SPACE, 3: PUNCT}[len(words)]
            assert words == {0: [text], SPACE: ["a", "b"], PUNCT: ["a", char, "b"]}[flags], hex(c)
            cleaned = clean.normalize_str(text)
            if cleaned == "ab":
                flags |= DROP
            else:
                assert cleaned == ("a b" if flags & SPACE else text), hex(c)
            isolated = chinese.normalize_str(text)
            if isolated != text:
                assert isolated == "a " + char + " b", hex(c)
                flags |= CJK
            self.flags[c] = flags

    def find_mappings(self):
        nfd, lower = normalizers.NFD(), bert(lowercase=True)
        for c in SCALARS:
            char = chr(c)
            if nfd.normalize_str(char) != char:
                self.decomposition[c] = nfd.normalize_str(char)
            if lower.normalize_str(char) != char:
                self.lower[c] = lower.normalize_str(char)

    def find_marks(self):
        strip = bert(strip_accents=True)
        for c in SCALARS:
            if c not in self.decomposition and strip.normalize_str(chr(c)) == "":
                self.flags[c] |= MARK
        for c in SCALARS:
            full = self.decomposition.get(c, chr(c))
            kept = "".join(x for x in full if not self.flags[ord(x)] & MARK)
            assert strip.normalize_str(chr(c)) == kept, hex(c)

    def find_combining_classes(self):
        """Marks that change places in NFD, and for each the class of Unicode 14 that it shares with known marks."""
        nfd = normalizers.NFD()
        low, high = "\u0334", "\u0345"  # classes 1 and 240, the lowest and the highest
        moves = lambda text: nfd.normalize_str(text) != text
        movable = [c for c in SCALARS if c not in self.decomposition
                   and (moves("a" + high + chr(c)) or moves("a" + chr(c) + low))]
        movable += [ord(low)] * (ord(low) not in movable) + [ord(high)] * (ord(high) not in movable)
        representative = {}
        for c in movable:
            representative.setdefault(unicodedata.combining(chr(c)), c)
        for c in movable:
            same = [k for k, m in representative.items()
                    if not moves("a" + chr(c) + chr(m)) and not moves("a" + chr(m) + chr(c))]
            assert len(same) == 1, (hex(c), same)
            self.ccc[c] = same[0]

    def find_word_characters(self):
        """\\w of the package's regex: an added token that matches whole words only shows it."""
        tokenizer = Tokenizer(models.WordPiece({"u": 0, "z": 1}, unk_token="u"))
        tokenizer.add_tokens([AddedToken("z", single_word=True, normalized=False)])
        for c in SCALARS:
            if len(tokenizer.encode(chr(c) + "z").ids) == 1 and c != ord("z"):
                self.flags[c] |= WORD
        self.flags[ord("z")] |= WORD


class Google:
    """What Google's tokenization.py sees through Python's unicodedata."""

    CJK_RANGES = [(0x4E00, 0x9FFF), (0x3400, 0x4DBF), (0x20000, 0x2A6DF), (0x2A700, 0x2B73F), (0x2B740, 0x2B81F),
                  (0x2B820, 0x2CEAF), (0xF900, 0xFAFF), (0x2F800, 0x2FA1F)]

    def __init__(self):
        self.flags, self.decomposition, self.lower, self.ccc = {}, {}, {}, {}
        for c in SCALARS:
            char = chr(c)
            category = unicodedata.category(char)
            flags = 0
            if c in (0, 0xFFFD) or (category in ("Cc", "Cf") and char not in "\t\n\r"):
                flags |= GOOGLE_DROP
            if char in " \t\n\r" or category == "Zs" or char.isspace():
                flags |= GOOGLE_SPACE
            if any(first <= c <= last for first, last in self.CJK_RANGES):
                flags |= GOOGLE_CJK
            if category[0] == "P" or any(a <= c <= b for a, b in ((33, 47), (58, 64), (91, 96), (123, 126))):
                flags |= GOOGLE_PUNCT
            if category == "Mn":
                flags |= GOOGLE_MARK
            flags |= self.case_flags(char)
            self.flags[c] = flags
            if unicodedata.normalize("NFD", char) != char:
                self.decomposition[c] = unicodedata.normalize("NFD", char)
            elif unicodedata.combining(char):
                self.ccc[c] = unicodedata.combining(char)
            if char.lower() != char:
                self.lower[c] = char.lower()

    @staticmethod
    def case_flags(char):
        """str.lower() turns a capital sigma into the final one by these two properties of its neighbours."""
        final_at_end = ("A\u03A3" + char).lower()[1] == "\u03C2"
        final_before_letter = ("A\u03A3" + char + "A").lower()[1] == "\u03C2"
        if not final_at_end:
            return CASED
        return 0 if final_before_letter else CASE_IGNORABLE


def without_hangul(decomposition):
    """Hangul syllables decompose by arithmetic; checks that and leaves them out."""
    rest = dict(decomposition)
    for i in range(HANGUL_COUNT):
        tail = i % 28
        expected = chr(0x1100 + i // 588) + chr(0x1161 + i % 588 // 28) + (chr(0x11A7 + tail) if tail else "")
        assert rest.pop(HANGUL_FIRST + i) == expected
    return rest


def two_stage(values):
    """values[c] for all c -> (index of blocks, blocks)."""
    blocks, index = {}, []
    for start in range(0, 0x110000, BLOCK):
        index.append(blocks.setdefault(tuple(values[start:start + BLOCK]), len(blocks)))
    return index, [v for block in blocks for v in block]


def array(name, ctype, values, comment):
    lines, line = [], ""
    for value in values:
        text = str(value) + ","
        if len(line) + len(text) > 118:
            lines.append(line)
            line = ""
        line += text
    lines.append(line)
    return f"// {comment}\nconstexpr {ctype} {name}[] = {{\n" + "\n".join(lines) + "\n};\n"


def mapping_arrays(kind, hf, google):
    """One array of {from, to...} per mapping: from, then how many follow, then those; google's differences apart."""
    flat = []
    for c in sorted(hf):
        flat += [c, len(hf[c])] + [ord(x) for x in hf[c]]
    different = []
    for c in sorted(set(hf) | set(google)):
        if hf.get(c) != google.get(c):
            to = google.get(c, chr(c))
            different += [c, len(to)] + [ord(x) for x in to]
    return (array(f"k{kind}", "uint32_t", flat, "character, length, result; ...")
            + array(f"k{kind}Google", "uint32_t", different, "the same where Google's rules differ (itself: no change)"))


def main():
    assert tokenizers.__version__ == PINNED, "install tests/golden/requirements.txt"
    assert unicodedata.unidata_version == "14.0.0", "needs Python 3.11"
    hf, google = Probe(), Google()
    classes, class_of = {}, [0] * 0x110000
    classes[(0, 0, 0)] = 0
    for c in SCALARS:
        key = (hf.flags[c] | google.flags[c], hf.ccc.get(c, 0), google.ccc.get(c, 0))
        class_of[c] = classes.setdefault(key, len(classes))
    assert len(classes) <= 256
    index, blocks = two_stage(class_of)
    out = [
        "// Generated by scripts/make_unicode_tables.py from tokenizers " + PINNED + " and Unicode "
        + unicodedata.unidata_version + " (Python): do not edit.\n"
        "// Included by unicode_tables.cpp only; meaning of the numbers there and in unicode_tables.h.\n\n",
        f"constexpr uint32_t kBlockSize = {BLOCK};\n\n",
        array("kBlockIndex", "uint16_t", index, "code point / kBlockSize -> block"),
        array("kBlocks", "uint8_t", blocks, "block * kBlockSize + code point % kBlockSize -> class"),
        "// class -> flags, combining class (hf), combining class (google)\nconstexpr CharClass kClasses[] = {\n"
        + "\n".join("{%d,%d,%d}," % key for key in classes) + "\n};\n",
        mapping_arrays("Decomposition", without_hangul(hf.decomposition), without_hangul(google.decomposition)),
        mapping_arrays("Lower", hf.lower, google.lower),
    ]
    default = os.path.join(os.path.dirname(__file__), "..", "src", "tokenize", "unicode_data.generated.inc")
    with open(sys.argv[1] if len(sys.argv) > 1 else default, "w", encoding="ascii", newline="\n") as f:
        f.write("".join(out))
    print(len(classes), "classes,", len(blocks) // BLOCK, "blocks")


if __name__ == "__main__":
    main()
