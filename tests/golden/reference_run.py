"""The reference side of numeric comparisons: real transformers models, trained by torch on the rows that bert_finetune takes.

The order of rows is a pure function of (seed, epoch). It is computed here again, from its definition in src/core/rng.h
and src/data/sampler.h, so that expected values do not depend on the executable. Optimizer, decay groups, schedule and
clipping are those of the transformers Trainer.
"""
import dataclasses
import math

import torch
import transformers

MASK = (1 << 64) - 1
ORDER_STREAM = int.from_bytes(b"order", "big")


def mix64(x):
    x = (x + 0x9E3779B97F4A7C15) & MASK
    x = ((x ^ (x >> 30)) * 0xBF58476D1CE4E5B9) & MASK
    x = ((x ^ (x >> 27)) * 0x94D049BB133111EB) & MASK
    return x ^ (x >> 31)


def stream_key(seed, *words):
    key = mix64(seed)
    for word in words:
        key = mix64(key ^ mix64(word))
    return key


def permutation(count, key):
    """Fisher-Yates from the end; each draw is Lemire's unbiased one on successive words of the stream."""
    order = list(range(count))
    counter = 0
    for left in range(count, 1, -1):
        while True:
            product = mix64(key ^ mix64(counter)) * left
            counter += 1
            if (product & MASK) >= (1 << 64) % left:
                break
        place = product >> 64
        order[left - 1], order[place] = order[place], order[left - 1]
    return order


def rows_of_steps(seed, row_count, batch_size, steps):
    """The row numbers of each step; the last batch of an epoch holds what is left."""
    batch_size = min(batch_size, row_count)
    batches = []
    epoch = 0
    while len(batches) < steps:
        order = permutation(row_count, stream_key(seed, ORDER_STREAM, epoch))
        batches += [order[begin:begin + batch_size] for begin in range(0, row_count, batch_size)]
        epoch += 1
    return batches[:steps]


@dataclasses.dataclass
class Settings:
    """The keys of the YAML file that matter here, under their names there."""
    seed: int = 42
    global_batch_size: int = 32
    max_length: int = 128
    learning_rate: float = 5e-5
    weight_decay: float = 0.01
    warmup_ratio: float = 0.1
    max_grad_norm: float = 1.0
    optimizer: str = "adamw"
    momentum: float = 0.0
    layer_decay: float = 1.0
    schedule: str = "linear"
    power: float = 1.0
    end_learning_rate: float = 1e-7
    frozen_stages: int = 0  # 1: the embeddings, 1 + N: and the first N layers


@dataclasses.dataclass
class Rows:
    encodings: list  # one dict of input_ids, token_type_ids, attention_mask per row
    labels: list     # class numbers; or real values, or lists of 0.0 and 1.0

    def batch(self, rows, pad_id):
        """The rows as padded tensors, labels included."""
        width = max(len(self.encodings[row]["input_ids"]) for row in rows)
        fill = {"input_ids": pad_id, "token_type_ids": 0, "attention_mask": 0}
        batch = {
            name: torch.tensor([self.encodings[row][name] + [value] * (width - len(self.encodings[row][name]))
                                for row in rows])
            for name, value in fill.items()
        }
        # Real values exactly: torch's default would round them to fp32.
        exact = torch.float64 if isinstance(self.labels[0], float) else None
        batch["labels"] = torch.tensor([self.labels[row] for row in rows], dtype=exact)
        return batch


def read_tsv(path):
    """Rows as dicts; no quoting, LF or CR LF."""
    with open(path, encoding="utf-8-sig", newline="") as file:
        lines = file.read().split("\n")
    cells = [line.removesuffix("\r").split("\t") for line in lines if line]
    return [dict(zip(cells[0], row, strict=True)) for row in cells[1:]]


def encode(tokenizer, table, columns, label_column, labels, max_length):
    texts = [[row[column] for row in table] for column in columns]
    encoded = tokenizer(*texts, truncation=True, max_length=max_length, return_token_type_ids=True)
    names = ("input_ids", "token_type_ids", "attention_mask")
    return Rows([{name: encoded[name][i] for name in names} for i in range(len(table))],
                [labels.index(row[label_column]) for row in table])


def logits(model, rows, batch_size=64):
    """[R, labels] in row order, without dropout."""
    model.eval()
    parts = []
    with torch.no_grad():
        for begin in range(0, len(rows.labels), batch_size):
            numbers = range(begin, min(begin + batch_size, len(rows.labels)))
            parts.append(model(**rows.batch(numbers, model.config.pad_token_id or 0)).logits)
    return torch.cat(parts)


def gradients(model, rows, numbers):
    """Loss, logits and the gradient of every named parameter for the mean loss of one batch. Dropout as configured."""
    model.train()
    model.zero_grad()
    output = model(**rows.batch(numbers, model.config.pad_token_id or 0))
    output.loss.backward()
    return (output.loss.item(), output.logits.detach(),
            {name: parameter.grad.detach().clone() for name, parameter in model.named_parameters()})


class Lamb(torch.optim.Optimizer):
    """LAMB as NVIDIA's apex (FusedLAMB) and timm compute it, written from the formulas; groups with `adapts` False have
    trust ratio 1."""

    def __init__(self, groups, lr, betas=(0.9, 0.999), eps=1e-8):
        super().__init__(groups, {"lr": lr, "betas": betas, "eps": eps})

    @torch.no_grad()
    def step(self):
        for group in self.param_groups:
            beta1, beta2 = group["betas"]
            for weight in group["params"]:
                state = self.state[weight]
                t = state["t"] = state.get("t", 0) + 1
                m = state["m"] = beta1 * state.get("m", torch.zeros_like(weight)) + (1 - beta1) * weight.grad
                v = state["v"] = beta2 * state.get("v", torch.zeros_like(weight)) + (1 - beta2) * weight.grad ** 2
                direction = (m / (1 - beta1 ** t)) / ((v / (1 - beta2 ** t)).sqrt() + group["eps"])
                direction = direction + group["weight_decay"] * weight
                ratio = 1.0
                if group["adapts"] and weight.norm() > 0 and direction.norm() > 0:
                    ratio = weight.norm() / direction.norm()
                weight -= group["lr"] * ratio * direction


def depth_of(name, layers):
    """Layers below the head: 0 the head and the pooler, 1 the last layer, layers + 1 the embeddings."""
    if name.startswith("bert.embeddings."):
        return layers + 1
    return layers - int(name.split(".")[3]) if name.startswith("bert.encoder.layer.") else 0


def freeze(model, stages):
    layers = model.config.num_hidden_layers
    for name, parameter in model.named_parameters():
        parameter.requires_grad_(depth_of(name, layers) + stages <= layers + 1)


def make_optimizer(model, settings):
    decays = set(transformers.Trainer.get_decay_parameter_names(None, model))
    groups = {}
    for name, parameter in model.named_parameters():
        if not parameter.requires_grad:
            continue
        scale = settings.layer_decay ** depth_of(name, model.config.num_hidden_layers)
        group = groups.setdefault((name in decays, scale), {
            "params": [], "weight_decay": settings.weight_decay if name in decays else 0.0,
            "lr": settings.learning_rate * scale})
        if settings.optimizer == "lamb":
            group["adapts"] = name in decays
        group["params"].append(parameter)
    groups = list(groups.values())
    if settings.optimizer == "sgd":
        return torch.optim.SGD(groups, lr=settings.learning_rate, momentum=settings.momentum)
    rules = {"adamw": torch.optim.AdamW, "adam": torch.optim.Adam, "lamb": Lamb}
    return rules[settings.optimizer](groups, lr=settings.learning_rate)


def make_schedule(optimizer, settings, steps):
    warmup = math.ceil(settings.warmup_ratio * steps)
    if settings.schedule == "polynomial":
        return transformers.get_polynomial_decay_schedule_with_warmup(
            optimizer, warmup, steps, lr_end=settings.end_learning_rate, power=settings.power)
    if settings.schedule == "constant":
        return transformers.get_constant_schedule_with_warmup(optimizer, warmup)
    makers = {"linear": transformers.get_linear_schedule_with_warmup,
              "cosine": transformers.get_cosine_schedule_with_warmup}
    return makers[settings.schedule](optimizer, warmup, steps)


def own_loss(model, batch):
    return model(**batch).loss


def train(model, rows, settings, steps, run_steps=None, loss_of=own_loss):
    """Trains `run_steps` (default: all) of a run of `steps`; returns rows, loss, lr and grad_norm of each step."""
    freeze(model, settings.frozen_stages)
    optimizer = make_optimizer(model, settings)
    schedule = make_schedule(optimizer, settings, steps)
    batches = rows_of_steps(settings.seed, len(rows.labels), settings.global_batch_size, run_steps or steps)
    records = {"rows": [], "loss": [], "lr": [], "grad_norm": []}
    model.train()
    for numbers in batches:
        optimizer.zero_grad()
        loss = loss_of(model, rows.batch(numbers, model.config.pad_token_id or 0))
        loss.backward()
        norm = torch.nn.utils.clip_grad_norm_(model.parameters(), settings.max_grad_norm)
        records["rows"].append(numbers)
        records["loss"].append(loss.item())
        records["lr"].append(max(schedule.get_last_lr()))
        records["grad_norm"].append(norm.item())
        optimizer.step()
        schedule.step()
    return records


class Bf16Product(torch.autograd.Function):
    """A linear layer whose products, forward and backward, take inputs rounded to bf16 and sum in the type of x."""

    @staticmethod
    def forward(context, x, weight, bias):
        context.save_for_backward(x, weight)
        return rounded(x) @ rounded(weight).T + bias

    @staticmethod
    def backward(context, dy):
        x, weight = context.saved_tensors
        flat = lambda matrix: matrix.reshape(-1, matrix.shape[-1])
        return (rounded(dy) @ rounded(weight), rounded(flat(dy)).T @ rounded(flat(x)), flat(dy).sum(0))


def rounded(x):
    return x.to(torch.bfloat16).to(x.dtype)


def with_bf16_products(model):
    """Every nn.Linear of the model rounds the inputs of its products to bf16."""
    for module in model.modules():
        if isinstance(module, torch.nn.Linear):
            module.forward = lambda x, layer=module: Bf16Product.apply(x, layer.weight, layer.bias)
    return model


def without_dropout(config):
    config.hidden_dropout_prob = 0.0
    config.attention_probs_dropout_prob = 0.0
    config.classifier_dropout = 0.0
    return config
