"""Converts a model folder with the real torch, transformers and huggingface_hub into every kind of file that is read.

usage: convert_checkpoint.py FOLDER OUTPUT [KIND...]

Writes OUTPUT/KIND/<file of weights> for the given kinds (none: all), with the other files of FOLDER beside each, and prints per
kind and tensor: kind, name, shape, SHA-256 of the fp32 bytes that torch widens the stored values to.
"""
import collections
import hashlib
import json
import pathlib
import shutil
import sys

import huggingface_hub
import safetensors.torch
import torch


def widened_digest(tensor):
    values = tensor.to(torch.float32).contiguous()
    return hashlib.sha256(values.flatten().view(torch.uint8).numpy().tobytes()).hexdigest()


def converted(state, dtype):
    return collections.OrderedDict((name, value.to(dtype) if value.is_floating_point() else value)
                                   for name, value in state.items())


def save_shards(state, folder, is_safetensors):
    largest = max(value.numel() * value.element_size() for value in state.values())
    huggingface_hub.save_torch_state_dict(state, folder, max_shard_size=largest, safe_serialization=is_safetensors)
    index = "model.safetensors.index.json" if is_safetensors else "pytorch_model.bin.index.json"
    assert len(set(json.loads((folder / index).read_text())["weight_map"].values())) > 1


def main():
    source, output = map(pathlib.Path, sys.argv[1:3])
    state = safetensors.torch.load_file(source / "model.safetensors")
    legacy = {"_use_new_zipfile_serialization": False}
    kinds = {}
    for dtype in (torch.float32, torch.float16, torch.bfloat16):
        stored = converted(state, dtype)
        name = str(dtype).removeprefix("torch.")
        kinds[name + "_zip"] = (stored, lambda s, f: torch.save(s, f / "pytorch_model.bin"))
        kinds[name + "_legacy"] = (stored, lambda s, f: torch.save(s, f / "pytorch_model.bin", **legacy))
        kinds[name + "_shards"] = (stored, lambda s, f: save_shards(s, f, True))
    kinds["float16_bin_shards"] = (converted(state, torch.float16), lambda s, f: save_shards(s, f, False))
    for kind in sys.argv[3:] or kinds:
        stored, save = kinds[kind]
        folder = output / kind
        folder.mkdir(parents=True)
        for file in source.iterdir():
            if file.is_file() and file.name != "model.safetensors":
                shutil.copyfile(file, folder / file.name)
        save(stored, folder)
        for name, value in sorted(stored.items()):
            if value.is_floating_point():
                print(kind, name, json.dumps(list(value.shape), separators=(",", ":")), widened_digest(value))


main()
