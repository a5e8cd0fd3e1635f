#!/usr/bin/env python3
"""Makes tests/golden/numerics: two tiny checkpoints, two tables of texts, and what transformers computes with them.

Needs the packages of requirements.txt. Run: make_numerics.py [OUTPUT_FOLDER]. About a minute. The inputs come from
fixed seeds; expected values are those of the versions that expected.json names.
"""
import copy
import dataclasses
import json
import pathlib
import random
import re
import sys

import safetensors.torch
import torch
import transformers

import reference_run as reference

LABELS = ["neutral", "good", "bad"]  # not sorted: their order is part of what is tested
MAX_LENGTH = 32
STEPS_FP64 = 200
STEPS_FP32 = 20
STEPS_SPREAD = 50
SHAPES = {
    "bert_48": {"hidden_size": 48, "num_hidden_layers": 3, "num_attention_heads": 4, "intermediate_size": 96},
    "bert_40": {"hidden_size": 40, "num_hidden_layers": 2, "num_attention_heads": 5, "intermediate_size": 72,
                "layer_norm_eps": 1e-5},
}
SETTINGS = reference.Settings(seed=7, global_batch_size=8, max_length=MAX_LENGTH, learning_rate=5e-4,
                              warmup_ratio=0.096)  # of 200 steps 19.2: whole steps are rounded up

WORDS = """the a of to and in is was for on with as by at from this that it not are film book game song road river
winter summer house garden market engine letter number water bridge train story actor music paper light stone river
good bad great poor slow fast warm cold bright dull clever weak strong quiet loud fresh old new long short never
always often while under after before again quite very too less more""".split()
SUFFIXES = "##s ##ed ##ing ##er ##est ##ly ##ness ##ful ##less ##ment ##y ##al".split()
MARKS = list(".,!?'-")
SPECIALS = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"]


def make_vocab():
    letters = [chr(code) for code in range(ord("a"), ord("z") + 1)]
    continued = ["##" + letter for letter in "aeioutnsrl"]
    return list(dict.fromkeys(SPECIALS + MARKS + letters + continued + SUFFIXES + WORDS))


def make_text(draw, words):
    """Words of the vocabulary, words of several pieces, an unknown one now and then, capitals and marks."""
    text = []
    for _ in range(words):
        kind = draw.random()
        word = draw.choice(WORDS)
        if kind < 0.2:
            word += draw.choice(SUFFIXES).removeprefix("##")
        elif kind < 0.25:
            word = draw.choice(["unseen", "&", "tallest", "Rönn", "42"])
        elif kind < 0.3:
            word = word.capitalize() + draw.choice(MARKS)
        text.append(word)
    return " ".join(text)


def write_tables(folder, draw):
    single = [(make_text(draw, 1 + (row * 7) % 40), draw.choice(LABELS)) for row in range(90)]
    pair = []
    for row in range(52):
        second = "" if row % 13 == 5 else make_text(draw, 1 + (row * 5) % 23)
        pair.append((make_text(draw, 1 + (row * 11) % 40), second, draw.choice(LABELS)))
    tables = {"train_single.tsv": [("text", "label"), *single], "train_pair.tsv": [("text", "text_pair", "label"), *pair]}
    for name, rows in tables.items():
        (folder / name).write_text("".join("\t".join(row) + "\n" for row in rows), encoding="utf-8")


def make_model(seed, **shape):
    """A classifier with random weights, scaled up so that logits are of the size of real ones."""
    config = transformers.BertConfig(
        max_position_embeddings=40, hidden_dropout_prob=0.1, attention_probs_dropout_prob=0.1, num_labels=len(LABELS),
        id2label=dict(enumerate(LABELS)), label2id={label: i for i, label in enumerate(LABELS)}, **shape)
    model = transformers.BertForSequenceClassification(config)
    draw = torch.Generator().manual_seed(seed)
    with torch.no_grad():
        for name, parameter in model.named_parameters():
            noise = torch.randn(parameter.shape, generator=draw)
            if "LayerNorm.weight" in name:
                parameter.copy_(1.0 + 0.2 * noise)
            elif name.endswith("bias"):
                parameter.copy_(0.1 * noise)
            else:
                parameter.copy_((0.6 if name.startswith("classifier") else 0.18) * noise)
    return model


def write_checkpoint(model, folder, vocab, rename=lambda name: name):
    folder.mkdir(parents=True, exist_ok=True)
    model.config.architectures = ["BertForSequenceClassification"]
    model.config.to_json_file(folder / "config.json")
    tensors = {rename(name): tensor.contiguous() for name, tensor in model.state_dict().items()}
    safetensors.torch.save_file(tensors, folder / "model.safetensors", metadata={"format": "pt"})
    (folder / "vocab.txt").write_text("".join(token + "\n" for token in vocab), encoding="utf-8")
    settings = {"tokenizer_class": "BertTokenizer", "do_lower_case": True, "model_max_length": MAX_LENGTH}
    (folder / "tokenizer_config.json").write_text(json.dumps(settings, indent=2) + "\n")


def bare_name(name):
    """The names of a bare encoder, with LayerNorm parameters called as in the first published checkpoints."""
    name = name.removeprefix("bert.")
    return name.replace("LayerNorm.weight", "LayerNorm.gamma").replace("LayerNorm.bias", "LayerNorm.beta")


def plain(model, dtype=torch.float32):
    """A copy without dropout."""
    twin = transformers.BertForSequenceClassification(reference.without_dropout(copy.deepcopy(model.config)))
    twin.load_state_dict(model.state_dict())
    return twin.to(dtype)


def spread_with_dropout(model, rows, settings):
    """How far the reference is from itself after training with dropout on 1 and on 2 threads, as share of the update.

    Key biases have zero gradient in theory. Adam turns the rounding noise of theirs into steps, so nearly the whole
    difference lies there and it is given without them, too.
    """
    twins = []
    for threads in (1, 2):
        torch.set_num_threads(threads)
        torch.manual_seed(settings.seed)
        twins.append(copy.deepcopy(model))
        reference.train(twins[-1], rows, settings, STEPS_SPREAD)
    squares = {"all": 0.0, "without_key_biases": 0.0}
    update = 0.0
    for name, start in model.named_parameters():
        first, second = (dict(twin.named_parameters())[name].detach().double() for twin in twins)
        squares["all"] += float((first - second).norm()) ** 2
        squares["without_key_biases"] += 0.0 if name.endswith("key.bias") else float((first - second).norm()) ** 2
        update += float((first - start.detach()).norm()) ** 2
    return {key: (value / update) ** 0.5 for key, value in squares.items()}


def write_gradients(model, rows, path, dtype):
    """Of the mean loss over all rows, in the element type `dtype`; returns the loss."""
    everything = range(len(rows.labels))
    loss, _, exact = reference.gradients(plain(model, torch.float64), rows, everything)
    _, _, single = reference.gradients(plain(model), rows, everything)
    error = sum(float((single[name] - exact[name]).norm()) ** 2 for name in exact) ** 0.5
    whole = sum(float(gradient.norm()) ** 2 for gradient in exact.values()) ** 0.5
    print(f"{path.name}: norm {whole:.6f}, relative error of the reference in fp32 {error / whole:.1e}")
    safetensors.torch.save_file(exact if dtype == torch.float64 else single, path)
    return loss


def write_expected(path, expected):
    """JSON with every list of numbers or names on one line."""
    text = json.dumps(expected, indent=1)
    path.write_text(re.sub(r"\[[^\[\]{}]*\]", lambda match: " ".join(match[0].split()), text) + "\n")


def main():
    folder = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else pathlib.Path(__file__).parent / "numerics")
    folder.mkdir(parents=True, exist_ok=True)
    torch.set_num_threads(2)
    write_tables(folder, random.Random(1))
    vocab = make_vocab()
    models = {name: make_model(13 + i, vocab_size=len(vocab), **shape) for i, (name, shape) in enumerate(SHAPES.items())}
    write_checkpoint(models["bert_48"], folder / "bert_48", vocab)
    write_checkpoint(models["bert_40"], folder / "bert_40", vocab, bare_name)
    tokenizer = transformers.AutoTokenizer.from_pretrained(folder / "bert_48")
    rows = {}
    for data, columns in {"single": ["text"], "pair": ["text", "text_pair"]}.items():
        table = reference.read_tsv(folder / f"train_{data}.tsv")
        rows[data] = reference.encode(tokenizer, table, columns, "label", LABELS, MAX_LENGTH)

    expected = {"made_with": {"torch": torch.__version__, "transformers": transformers.__version__}, "labels": LABELS,
                "logits": {}, "cases": {}}
    for name, model in models.items():
        for data in rows:
            expected["logits"][f"{name} {data}"] = reference.logits(plain(model), rows[data]).tolist()
    for data, name, dtype in (("single", "bert_48", torch.float32), ("pair", "bert_40", torch.float64)):
        model = models[name]
        loss = write_gradients(model, rows[data], folder / f"gradients_{data}.safetensors", dtype)
        expected["cases"][data] = {
            "checkpoint": name,
            "settings": dataclasses.asdict(SETTINGS),
            "loss": loss,
            "fp64": reference.train(plain(model, torch.float64), rows[data], SETTINGS, STEPS_FP64),
            "fp32": reference.train(plain(model), rows[data], SETTINGS, STEPS_FP32),
        }
    settings = dataclasses.replace(SETTINGS, global_batch_size=32)
    expected["spread_with_dropout"] = {"steps": STEPS_SPREAD, "global_batch_size": 32, "by_seed": {
        seed: spread_with_dropout(models["bert_48"], rows["single"], dataclasses.replace(settings, seed=seed))
        for seed in (7, 8, 9)}}
    write_expected(folder / "expected.json", expected)


if __name__ == "__main__":
    main()
