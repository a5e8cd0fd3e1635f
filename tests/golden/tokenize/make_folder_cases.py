"""Writes folder_cases.json: model folders with unusual tokenizer files, texts, and the ids AutoTokenizer gives for them.

    python make_folder_cases.py

Each case: name, files {name: content}, 1 + the largest id, the ids of each text without special tokens, ids and token
types of each pair. The pairs are encoded as a batch, as training does. tests/unit/tokenize/folder_cases_test.cpp writes the folders and compares.
"""
import json
import os
import tempfile

import tokenizers
import transformers
from transformers import AutoTokenizer

from reference import HERE, auto_tokenizer, check_versions, write_folder

PIECES = ("[PAD] [UNK] [CLS] [SEP] [MASK] the cell divide ##s ##d a b c \u00e9 e E A the_ [ ] mask x ##x y < > / s "
          "<s> </s> <pad> <unk> <mask> <e1> foo ##foo FOO \u4eba ##\u4eba \u6709 ##\u6709 . , ! \u00c9 \u0130 i ##i o k "
          "##o ##k ##e ##E ##A ##a ##b ##c _ ##_ t h ##t ##h").split(" ")
VOCAB = "\n".join(PIECES) + "\n"
CONFIG = {"model_type": "bert"}
TEXTS = ["the cell divides", "The [MASK] cell [SEP]", "a [MASK] b", "x[MASK]y", "[MASK][MASK]", "  [CLS]a", "[mask] [sep]",
         "caf\u00e9 E\u0301 \u00c9", "\u4eba\u6709a\u4eba", "foo xfoox FOO foo_ foo.foo", "<e1>a <e1> b<e1>", "a<s>b</s>",
         "a\u3000<mask>\u2028 b", "a\t[MASK]\u00a0b", "\u0130i", "", " ", "zz", "the [ SEP ] cell", "a\u0000b", "a\u200bb",
         "[UNK] [PAD]", "the_ the", "<e1><e1> <e1>", "\u00e9<e1>\u00e9", "foo\u00e9 \u00e9foo", "f\u0000oo foo",
         "a <new> b<NEW>x<new2>", "foo bar FOO BAR Foo Bar", "x foo\u0301 foo-foo foo1", "the <e1> \t a"]
PAIRS = [["the cell", "cell divide"], ["a", ""], ["", ""], ["", "b"], ["a [SEP] b", "[MASK]"]]


def token(content, **flags):
    return {"content": content, "lstrip": False, "rstrip": False, "single_word": False, "normalized": False, "special": True,
            **flags}


def typed(content, **flags):
    flags = token(content, **flags)
    del flags["special"]
    return {"__type": "AddedToken", **flags}


def tokenizer_json(vocab=VOCAB, added=(), **parts):
    """A tokenizer.json as the package writes it, with some parts replaced."""
    plain = json.loads(auto_tokenizer(VOCAB, do_lower_case=True).backend_tokenizer.to_str())
    plain["model"]["vocab"] = {piece: i for i, piece in enumerate(vocab.split("\n")[:-1])}
    plain["added_tokens"] += [dict(t, id=i) for i, t in added]
    for name, value in parts.items():
        is_change = isinstance(plain[name], dict) and value.get("type", plain[name]["type"]) == plain[name]["type"]
        plain[name] = {**plain[name], **value} if is_change else value
    return plain


def vocab_cases():
    yield "plain", {"vocab.txt": VOCAB, "tokenizer_config.json": {"do_lower_case": True}}
    yield "cased", {"vocab.txt": VOCAB, "tokenizer_config.json": {"do_lower_case": False}}
    yield "no config files at all", {"vocab.txt": VOCAB}
    yield "lower, keep accents", {"vocab.txt": VOCAB, "tokenizer_config.json": {"do_lower_case": True, "strip_accents": False}}
    yield "cased, strip accents", {"vocab.txt": VOCAB, "tokenizer_config.json": {"do_lower_case": False, "strip_accents": True}}
    yield "chinese words", {"vocab.txt": VOCAB, "tokenizer_config.json": {"tokenize_chinese_chars": False}}
    yield "crlf", {"vocab.txt": VOCAB.replace("\n", "\r\n"), "tokenizer_config.json": {}}
    yield "no last line end", {"vocab.txt": VOCAB[:-1]}
    yield "blank last lines", {"vocab.txt": VOCAB + "\n\n", "added_tokens.json": {"<new>": len(PIECES) + 2}}
    yield "blank line inside", {"vocab.txt": VOCAB.replace("cell\n", "cell\n\n")}
    yield "twice", {"vocab.txt": VOCAB + "the\ncell\nzz\n", "additional": 0, "added_tokens.json": {"<new>": len(PIECES) + 1}}
    yield "space at ends", {"vocab.txt": VOCAB + "zz \u3000\na\u00a0\n\u2028\n##\u2028\n"}
    yield "u+2028 inside", {"vocab.txt": VOCAB.replace("cell\n", "cell\u2028x\ncell\n")}
    yield "u+2028 inside a line", {"vocab.txt": VOCAB.replace("cell\n", "zz\u2028zz\ncell\n\x0b\nx\x85y\n")}


def token_cases():
    base = {"vocab.txt": VOCAB}
    lower = {"do_lower_case": True}
    mask = typed("[MASK]", lstrip=True, normalized=True)
    yield "mask with lstrip", {**base, "tokenizer_config.json": {**lower, "mask_token": typed("[MASK]", lstrip=True)}}
    yield "mask with rstrip", {**base, "tokenizer_config.json": {**lower, "mask_token": typed("[MASK]", rstrip=True)}}
    yield "normalized mask", {**base, "tokenizer_config.json": {**lower, "mask_token": mask}}
    yield "mask in the map", {**base, "tokenizer_config.json": lower,
                              "special_tokens_map.json": {"mask_token": token("[MASK]", lstrip=True, normalized=True)}}
    yield "renamed", {**base, "tokenizer_config.json": {**lower, "unk_token": "<unk>", "cls_token": "<s>", "sep_token": "</s>",
                                                         "pad_token": "<pad>", "mask_token": "<mask>"}}
    yield "the map wins", {**base, "tokenizer_config.json": {**lower, "cls_token": "<s>"},
                           "special_tokens_map.json": {"cls_token": "a", "mask_token": "<mask>"}}
    decoder = {str(i): token(PIECES[i]) for i in range(5)}
    yield "decoder hides the map", {**base, "tokenizer_config.json": {**lower, "added_tokens_decoder": decoder},
                                    "special_tokens_map.json": {"cls_token": "<s>"}}
    decoder["4"] = token("[MASK]", lstrip=True)
    decoder[str(len(PIECES))] = token("<new>", special=False, normalized=True)
    decoder[str(len(PIECES) + 1)] = token("FOO BAR", special=False, normalized=True)
    yield "decoder adds tokens", {**base, "tokenizer_config.json": {**lower, "added_tokens_decoder": decoder}}
    yield "extra special", {**base, "tokenizer_config.json": {**lower, "additional_special_tokens": ["<e1>", "<new>"]}}
    yield "extra special, cased", {**base, "tokenizer_config.json": {"do_lower_case": False, "extra_special_tokens": ["<e1>"]}}
    yield "bos and eos", {**base, "tokenizer_config.json": {**lower, "bos_token": "[CLS]", "eos_token": "</s>"}}
    yield "model token", {**base, "tokenizer_config.json": {**lower, "image_token": "<e1>"}}
    yield "added ordinary words", {**base, "tokenizer_config.json": lower, "added_tokens.json": {"foo": 36, "<new>": len(PIECES)}}
    yield "single word", {**base, "tokenizer_config.json": {**lower, "added_tokens_decoder": {
        str(PIECES.index("foo")): token("foo", single_word=True, special=False)}}}
    yield "single word, normalized", {**base, "tokenizer_config.json": {**lower, "added_tokens_decoder": {
        str(PIECES.index("FOO")): token("FOO", single_word=True, normalized=True, special=False)}}}
    yield "both sides stripped", {**base, "tokenizer_config.json": {**lower, "added_tokens_decoder": {
        str(PIECES.index("<e1>")): token("<e1>", lstrip=True, rstrip=True)}}}
    yield "longest match", {**base, "tokenizer_config.json": {**lower, "additional_special_tokens": ["<e1><e1>", "<e1>", "the_", "the"]}}
    yield "accented token", {**base, "tokenizer_config.json": {**lower, "added_tokens_decoder": {
        str(PIECES.index("\u00e9")): token("\u00e9", normalized=True, special=False)}}}
    yield "ideograph token", {**base, "tokenizer_config.json": {**lower, "added_tokens_decoder": {
        str(PIECES.index("\u4eba")): token("\u4eba\u6709", normalized=True, special=False)}}}
    yield "special text stays text", {**base, "tokenizer_config.json": {**lower, "split_special_tokens": True}}


def json_cases():
    lower = {"do_lower_case": True}
    upper = {"lowercase": False}
    truncation = {"direction": "Right", "max_length": 4, "strategy": "LongestFirst", "stride": 0}
    padding = {"strategy": {"Fixed": 16}, "direction": "Right", "pad_to_multiple_of": None, "pad_id": 0, "pad_type_id": 0,
               "pad_token": "[PAD]"}
    fast = {"tokenizer_class": "PreTrainedTokenizerFast", "pad_token": "[PAD]", "mask_token": "[MASK]"}
    new = (len(PIECES), token("<new>", special=False, normalized=True))
    yield "json alone", {"tokenizer.json": tokenizer_json(), "tokenizer_config.json": lower}
    yield "json without config", {"tokenizer.json": tokenizer_json(normalizer=upper)}
    yield "json overruled", {"tokenizer.json": tokenizer_json(normalizer=upper), "tokenizer_config.json": lower, "vocab.txt": VOCAB}
    yield "json vocabulary counts", {"tokenizer.json": tokenizer_json(VOCAB.replace("the\n", "the\nzz\n")),
                                     "tokenizer_config.json": lower, "vocab.txt": VOCAB}
    yield "stored truncation and padding", {"tokenizer.json": tokenizer_json(truncation=truncation, padding=padding),
                                            "tokenizer_config.json": lower}
    yield "stored limits", {"tokenizer.json": tokenizer_json(model={"max_input_chars_per_word": 3}), "tokenizer_config.json": lower}
    yield "json adds tokens", {"tokenizer.json": tokenizer_json(added=[new]), "tokenizer_config.json": lower}
    yield "json kept by decoder", {"tokenizer.json": tokenizer_json(added=[new]), "tokenizer_config.json": {
        **lower, "added_tokens_decoder": {"4": token("[MASK]")}}}
    yield "distilbert class", {"tokenizer.json": tokenizer_json(normalizer=upper), "tokenizer_config.json": {
        "tokenizer_class": "DistilBertTokenizer"}}
    yield "electra fast class", {"vocab.txt": VOCAB, "tokenizer_config.json": {"tokenizer_class": "ElectraTokenizerFast"}}
    yield "mobilebert class", {"vocab.txt": VOCAB, "tokenizer_config.json": {"tokenizer_class": "MobileBertTokenizer"}}
    yield "fast class", {"tokenizer.json": tokenizer_json(normalizer=upper), "tokenizer_config.json": {**fast, **lower}}
    yield "fast class, options of its own", {"tokenizer.json": tokenizer_json(
        added=[new], normalizer={"clean_text": False, "strip_accents": True, "lowercase": False, "handle_chinese_chars": False},
        model={"max_input_chars_per_word": 3}), "tokenizer_config.json": fast}
    yield "fast class, bert processing", {"tokenizer.json": tokenizer_json(
        post_processor={"type": "BertProcessing", "sep": ["</s>", PIECES.index("</s>")], "cls": ["<s>", PIECES.index("<s>")]}),
        "tokenizer_config.json": fast}
    yield "fast class, more tokens", {"tokenizer.json": tokenizer_json(added=[new]), "tokenizer_config.json": {
        **fast, "cls_token": "<s>", "additional_special_tokens": ["<e1>", "<new2>"]}}


def run(name, files):
    files = {k: v for k, v in files.items() if "." in k}
    with tempfile.TemporaryDirectory() as folder:
        write_folder(folder, {"config.json": CONFIG, **files})
        tokenizer = AutoTokenizer.from_pretrained(folder)
        ids = [tokenizer(t, add_special_tokens=False)["input_ids"] for t in TEXTS]
        batch = tokenizer([p[0] for p in PAIRS], [p[1] for p in PAIRS], return_token_type_ids=True)
        size = max(tokenizer.get_vocab().values()) + 1
    files = {k: v if isinstance(v, str) else json.dumps(v, ensure_ascii=False) for k, v in files.items()}
    return {"name": name, "files": files, "vocab_size": size, "ids": ids, "pair_ids": batch["input_ids"],
            "pair_types": batch["token_type_ids"]}


def main():
    check_versions()
    cases = [run(*case) for make in (vocab_cases, token_cases, json_cases) for case in make()]
    with open(os.path.join(HERE, "folder_cases.json"), "w", encoding="ascii", newline="\n") as f:
        f.write('{"texts": %s,\n"pairs": %s,\n"cases": [\n' % (json.dumps(TEXTS), json.dumps(PAIRS)))
        f.write(",\n".join(json.dumps(case, separators=(",", ":")) for case in cases) + "\n]}\n")


if __name__ == "__main__":
    main()
