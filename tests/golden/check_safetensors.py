"""Reads a safetensors file with the real package and says what it found, for tests of our own writer.

usage: check_safetensors.py FILE

Prints one line per tensor, sorted by name: name, type, shape, SHA-256 of its bytes; then the metadata as sorted JSON;
then "identical" when the package writes the same tensors and metadata as exactly the bytes of FILE, else "different".
"""
import hashlib
import json
import sys

import torch
from safetensors import safe_open
from safetensors.torch import save


def raw_bytes(tensor):
    return tensor.contiguous().flatten().view(torch.uint8).numpy().tobytes() if tensor.numel() else b""


def main():
    path = sys.argv[1]
    with safe_open(path, framework="pt") as file:
        tensors = {name: file.get_tensor(name) for name in file.keys()}
        metadata = file.metadata() or {}
    for name, tensor in sorted(tensors.items()):
        digest = hashlib.sha256(raw_bytes(tensor)).hexdigest()
        print(name, str(tensor.dtype).removeprefix("torch."), list(tensor.shape), digest)
    print(json.dumps(metadata, sort_keys=True))
    with open(path, "rb") as file:
        print("identical" if save(tensors, metadata) == file.read() else "different")


main()
