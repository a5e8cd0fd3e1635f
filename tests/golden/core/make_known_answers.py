#!/usr/bin/env python3
"""Makes known_answers.json: random numbers, permutations and hashes, computed from their definitions in the headers
of src/core, in Python's integers, for the unit tests there.

Needs the standard library only. Run: make_known_answers.py [OUTPUT]
"""
import json
import math
import pathlib
import struct
import sys

MASK64 = (1 << 64) - 1
MASK32 = (1 << 32) - 1


def mix64(x):
    """One step of splitmix64 (https://prng.di.unimi.it/splitmix64.c) from state x."""
    x = (x + 0x9E3779B97F4A7C15) & MASK64
    x = ((x ^ (x >> 30)) * 0xBF58476D1CE4E5B9) & MASK64
    x = ((x ^ (x >> 27)) * 0x94D049BB133111EB) & MASK64
    return x ^ (x >> 31)


def stream_key(seed, *words):
    key = mix64(seed)
    for word in words:
        key = mix64(key ^ mix64(word & MASK64))
    return key


def counter_bits(key, index):
    x = (index + (key & MASK32)) & MASK32
    x ^= x >> 16
    x = (x * 0x21F0AAAD) & MASK32
    x ^= key >> 32
    x ^= x >> 15
    x = (x * 0x735A2D97) & MASK32
    return x ^ (x >> 15)


def permutation(count, key):
    """Fisher-Yates from the end; draws as in Lemire, Fast Random Integer Generation in an Interval, 2019."""
    order = list(range(count))
    counter = 0
    for left in range(count, 1, -1):
        while True:
            product = mix64(key ^ mix64(counter)) * left
            counter += 1
            if product & MASK64 >= (1 << 64) % left:
                break
        place = product >> 64
        order[left - 1], order[place] = order[place], order[left - 1]
    return order


def counter_normal(key, index):
    base = mix64(key ^ mix64(index))
    radius = 1.0 - (base >> 11) / 2.0**53
    angle = (mix64(base) >> 11) / 2.0**53
    return math.sqrt(-2.0 * math.log(radius)) * math.cos(2.0 * math.pi * angle)


def hash64(data, seed):
    lanes = [mix64((seed + lane) & MASK64) for lane in range(4)]
    whole = len(data) // 32 * 32
    for at in range(0, whole, 32):
        for lane, word in enumerate(struct.unpack_from("<4Q", data, at)):
            mixed = ((lanes[lane] ^ word) * 0x9FB21C651E98DF25) & MASK64
            lanes[lane] = mixed ^ (mixed >> 29)
    tail = struct.unpack("<4Q", data[whole:].ljust(32, b"\0"))
    result = mix64(seed ^ len(data))
    for lane in range(4):
        result = mix64(result ^ lanes[lane])
        result = mix64(result ^ tail[lane])
    return result


def pattern(length):
    return bytes((31 * i + 7) % 256 for i in range(length))


def main():
    keys = [0, 1, 0x0123456789ABCDEF, MASK64]
    answers = {
        "mix64": [[str(x), str(mix64(x))] for x in [0, 1, 2, 1234567, 1 << 63, MASK64]],
        "stream_key": [{"words": [str(w) for w in words], "key": str(stream_key(*words))}
                       for words in [(0,), (42,), (42, 1, 2), (42, 2, 1), (7, 0xD209, 3, 17, 0, 5, 2)]],
        "counter_bits": [[str(key), index, counter_bits(key, index)]
                         for key in keys for index in [0, 1, 2, 31, 65536, MASK32]],
        "permutation": [{"count": count, "key": str(key), "order": permutation(count, key)}
                        for count, key in [(0, 5), (1, 5), (2, 0), (2, 1), (10, 0), (10, 1), (33, MASK64)]],
        "counter_normal": [[str(key), index, counter_normal(key, index)] for key in keys for index in [0, 1, 999]],
        "hash64_of_pattern": [[length, str(seed), str(hash64(pattern(length), seed))]
                              for length in [0, 1, 7, 8, 9, 31, 32, 33, 63, 64, 65, 1000] for seed in [0, 1, MASK64]],
    }
    default = pathlib.Path(__file__).with_name("known_answers.json")
    output = pathlib.Path(sys.argv[1]) if len(sys.argv) > 1 else default
    sections = ['"' + name + '": [\n' + ",\n".join(json.dumps(row) for row in rows) + "\n]"
                for name, rows in answers.items()]
    output.write_text("{\n" + ",\n".join(sections) + "\n}\n")


if __name__ == "__main__":
    main()
