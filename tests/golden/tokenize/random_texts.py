"""A million random texts, defined so exactly that C++ makes the same ones (tests/unit/tokenize/random_texts.cpp).

All numbers come from splitmix64 (Steele et al. 2014), for text i started at i * 2^32; below(n) is the next one modulo n.
A text is 1 + below(12) parts; each part is chosen by below(16) and followed by a blank when below(2) is 0.
"""
MASK = (1 << 64) - 1
SPACES = [0x20, 0x09, 0x0A, 0x0D, 0xA0, 0x3000, 0x2028, 0x0B, 0x85, 0x200B]
MARKS = [0x302E, 0x302F, 0x1D165, 0x1D16D, 0x0345, 0x0344, 0x034F, 0x07FD, 0x08D3, 0x093C, 0x0F73, 0x1DF6, 0x16FF0, 0x05B0,
         0x064B, 0x0E38]
CONTROLS = [0x00, 0x1F, 0x7F, 0x9F, 0xAD, 0x200D, 0x202E, 0xFEFF, 0xFFFD, 0xE000, 0xFFFF, 0xE0001]
LITERALS = ["[CLS]", "[SEP]", "[MASK]", "[PAD]", "[UNK]", "[mask]", "[ SEP ]", "[SEP", "[unused1]", "##ing"]


class SplitMix64:
    def __init__(self, state):
        self.state = state

    def below(self, n):
        self.state = (self.state + 0x9E3779B97F4A7C15) & MASK
        z = self.state
        z = ((z ^ (z >> 30)) * 0xBF58476D1CE4E5B9) & MASK
        z = ((z ^ (z >> 27)) * 0x94D049BB133111EB) & MASK
        return (z ^ (z >> 31)) % n


def scalar(index):
    return chr(index if index < 0xD800 else index + 0x800)


def run(below, max_length, first, count):
    """1 to max_length characters of a range."""
    return "".join(chr(first + below(count)) for _ in range(1 + below(max_length)))


def pick(below, table):
    return table[below(len(table))]


def part(below):
    kind = below(16)
    if kind < 5:
        word = run(below, 8, 0x61, 26)
        return chr(ord(word[0]) - 32) + word[1:] if below(4) == 0 else word
    if kind == 5:
        return run(below, 6, 0x20, 95)
    if kind == 6:
        return "".join(chr(pick(below, SPACES)) for _ in range(1 + below(3)))
    if kind == 7:
        return run(below, 6, 0xC0, 0x190)
    if kind == 8:
        text = chr((0x61 if below(2) == 0 else 0x41) + below(26))
        for _ in range(1 + below(4)):
            text += chr(0x300 + below(0x70)) if below(2) == 0 else chr(pick(below, MARKS))
        return text
    if kind == 9:
        return run(below, 6, 0x370, 0x1C0)
    if kind == 10:
        return run(below, 4, 0xAC00, 11172)
    if kind == 11:
        return run(below, 6, 0x4E00, 0x5200)
    if kind == 12:
        return run(below, 5, 0x3000, 0x100)
    if kind == 13:
        return "".join(chr(pick(below, CONTROLS)) for _ in range(1 + below(2)))
    if kind == 14:
        return run(below, 3, 0x2010, 0x50)
    return rare_part(below)


def rare_part(below):
    kind = below(4)
    if kind == 0:
        return pick(below, LITERALS)
    if kind == 1:
        return scalar(below(1112064))
    if kind == 2:
        return scalar(below(63488))
    return "ab" * (45 + below(60))


def random_text(i):
    below = SplitMix64((i << 32) & MASK).below
    text = ""
    for _ in range(1 + below(12)):
        text += part(below)
        if below(2) == 0:
            text += " "
    return text
