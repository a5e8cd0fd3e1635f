"""The reference tokenizers behind the golden values of this folder, and what is common to the scripts beside it.

`hf` is the pinned `tokenizers` package, set up by AutoTokenizer of the pinned transformers. `google` is GoogleTokenizer
below: the rules of tokenization.py of google-research/bert, written anew on Python's unicodedata (14.0, Python 3.11).
"""
import hashlib
import json
import os
import tempfile
import unicodedata

import tokenizers
import transformers

HERE = os.path.dirname(os.path.abspath(__file__))
SCALARS = [c for c in range(0x110000) if not 0xD800 <= c < 0xE000]
WORD_END, TEXT_END = b"\xff", b"\xfe"  # no UTF-8 has these bytes


def check_versions():
    assert tokenizers.__version__ == "0.23.3", "install tests/golden/requirements.txt"
    assert transformers.__version__ == "5.24.0", "install tests/golden/requirements.txt"
    assert unicodedata.unidata_version == "14.0.0", "needs Python 3.11"
    transformers.logging.set_verbosity_error()


def digest(data):
    """128 bits are enough to tell equal from different."""
    return hashlib.sha256(data).hexdigest()[:32]


def ids_bytes(ids):
    """Little-endian 32-bit ids, closed by -1."""
    return b"".join(i.to_bytes(4, "little") for i in ids) + b"\xff\xff\xff\xff"


def words_bytes(words):
    return b"".join(w.encode() + WORD_END for w in words) + TEXT_END


class HfWords:
    """Text -> words by BertNormalizer and BertPreTokenizer of the package."""

    def __init__(self, **options):
        self.normalize = tokenizers.normalizers.BertNormalizer(**options).normalize_str
        self.split = tokenizers.pre_tokenizers.BertPreTokenizer().pre_tokenize_str

    def __call__(self, text):
        return [word for word, _ in self.split(self.normalize(text))]


def write_folder(path, files):
    """Writes a model folder: {name: text or JSON value}."""
    os.makedirs(path, exist_ok=True)
    for name, content in files.items():
        with open(os.path.join(path, name), "w", encoding="utf-8", newline="") as f:
            f.write(content if isinstance(content, str) else json.dumps(content, ensure_ascii=False))
    return path


def auto_tokenizer(vocab, **config):
    """AutoTokenizer on a folder with this vocab.txt and tokenizer_config.json."""
    with tempfile.TemporaryDirectory() as folder:
        files = {"vocab.txt": vocab, "tokenizer_config.json": config, "config.json": {"model_type": "bert"}}
        return transformers.AutoTokenizer.from_pretrained(write_folder(folder, files))


def read_vocab(path):
    with open(path, encoding="utf-8", newline="") as f:
        return f.read()


def raw_lines(path):
    """The texts of a file: its lines, split at LF only, invalid UTF-8 replaced."""
    with open(path, "rb") as f:
        lines = f.read().split(b"\n")
    if lines and lines[-1] == b"":
        lines.pop()
    return [line.decode("utf-8", errors="replace") for line in lines]


class GoogleTokenizer:
    def __init__(self, lower_case, vocab="", max_chars=200):
        self.lower_case, self.max_chars = lower_case, max_chars
        self.vocab = {line.strip(): i for i, line in enumerate(vocab.split("\n"))}

    @staticmethod
    def is_control(char):
        return char not in "\t\n\r" and unicodedata.category(char) in ("Cc", "Cf")

    @staticmethod
    def is_space(char):
        return char in " \t\n\r" or unicodedata.category(char) == "Zs"

    @staticmethod
    def is_punctuation(char):
        ascii_ranges = ((33, 47), (58, 64), (91, 96), (123, 126))
        return any(a <= ord(char) <= b for a, b in ascii_ranges) or unicodedata.category(char).startswith("P")

    @staticmethod
    def is_ideograph(char):
        ranges = ((0x4E00, 0x9FFF), (0x3400, 0x4DBF), (0x20000, 0x2A6DF), (0x2A700, 0x2B73F), (0x2B740, 0x2B81F),
                  (0x2B820, 0x2CEAF), (0xF900, 0xFAFF), (0x2F800, 0x2FA1F))
        return any(a <= ord(char) <= b for a, b in ranges)

    def clean(self, text):
        out = []
        for char in text:
            if char in "\0\ufffd" or self.is_control(char):
                continue
            if self.is_space(char):
                out.append(" ")
            else:
                out.append(" " + char + " " if self.is_ideograph(char) else char)
        return "".join(out)

    def words(self, text):
        words = []
        for token in self.clean(text).split():
            if self.lower_case:
                token = unicodedata.normalize("NFD", token.lower())
                token = "".join(c for c in token if unicodedata.category(c) != "Mn")
            word = ""
            for char in token:
                if self.is_punctuation(char):
                    words += [word, char]
                    word = ""
                else:
                    word += char
            words.append(word)
        return [w for w in " ".join(words).split()]

    def ids(self, text):
        return [i for word in self.words(text) for i in self.pieces(word)]

    def pieces(self, word):
        ids, start = [], 0
        while start < len(word) <= self.max_chars:
            for end in range(len(word), start, -1):
                piece = ("##" if start else "") + word[start:end]
                if piece in self.vocab:
                    ids.append(self.vocab[piece])
                    break
            else:
                return [self.vocab["[UNK]"]]
            start = end
        return ids if len(word) <= self.max_chars else [self.vocab["[UNK]"]]
