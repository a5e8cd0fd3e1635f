#!/usr/bin/env python3
"""Loads a checkpoint that `bert_finetune init` wrote with the real transformers and checks it.

usage: check_new_checkpoint.py FOLDER TEXTS IDS

TEXTS has one text a line, IDS what `tokenize --ids` printed for them. AutoModel must find every weight and nothing
else, AutoTokenizer must give the same ids, and the weights must be drawn as transformers draws them: normal with the
deviation of config.json, the row of [PAD] and biases 0, LayerNorm weights 1. Exits 1 with a line per difference.
"""
import pathlib
import sys

import torch
import transformers


def weight_faults(model):
    for name, value in model.named_parameters():
        if name.endswith(".bias"):
            right = bool((value == 0).all())
        elif name.endswith("LayerNorm.weight"):
            right = bool((value == 1).all())
        else:
            drawn = value
            if name == "embeddings.word_embeddings.weight":
                pad = model.config.pad_token_id
                if bool((value[pad] != 0).any()):
                    yield f"{name}: the row of [PAD] is not 0"
                drawn = torch.cat([value[:pad], value[pad + 1:]])
            scaled = drawn.flatten().double() / model.config.initializer_range
            spread = 6 / scaled.numel() ** 0.5  # six times the deviation of each estimate
            right = (abs(scaled.mean()) < spread and abs((scaled ** 2).mean() - 1) < 1.5 * spread
                     and abs((scaled ** 4).mean() - 3) < 10 * spread and scaled.abs().max() < 7)
        if not right:
            yield f"{name}: not as the reference draws it"


def main():
    folder, texts, ids = sys.argv[1:]
    transformers.logging.set_verbosity_error()
    model, loading = transformers.AutoModel.from_pretrained(folder, output_loading_info=True)
    tokenizer = transformers.AutoTokenizer.from_pretrained(folder)
    faults = [f"{key}: {sorted(names)}" for key, names in loading.items() if names]
    faults += weight_faults(model)
    if type(model).__name__ != "BertModel" or model.config.architectures != ["BertModel"]:
        faults.append(f"the model is a {type(model).__name__}, config.json says {model.config.architectures}")
    expected = tokenizer(pathlib.Path(texts).read_text(encoding="utf-8").splitlines())["input_ids"]
    got = [[int(number) for number in line.split()] for line in pathlib.Path(ids).read_text().splitlines()]
    faults += [f"row {i}: ids {a}, expected {b}" for i, (a, b) in enumerate(zip(got, expected, strict=True)) if a != b]
    if tokenizer.model_max_length != model.config.max_position_embeddings:
        faults.append(f"model_max_length is {tokenizer.model_max_length}")
    for fault in faults:
        print("different: " + fault)
    print(f"{folder}: {len(expected)} texts, {sum(p.numel() for p in model.parameters())} parameters")
    sys.exit(1 if faults else 0)


if __name__ == "__main__":
    main()
