"""Makes small files with the real torch.save, of every kind that is read and of every kind that is refused.

usage: make_torch_files.py     writes *.bin and expected.json beside itself

expected.json gives for each file either its tensors (name, type, shape, SHA-256 of the row-major bytes) or a part of
the message with which it is refused. Hostile files are pickles whose loading in Python would run code.
"""
import builtins
import collections
import hashlib
import io
import json
import os
import pathlib
import pickle
import types
import zipfile

import torch

HERE = pathlib.Path(__file__).parent
TYPES = {torch.float64: "F64", torch.float32: "F32", torch.float16: "F16", torch.bfloat16: "BF16", torch.int64: "I64",
         torch.int32: "I32", torch.int16: "I16", torch.int8: "I8", torch.uint8: "U8", torch.bool: "BOOL"}
EXPECTED = {}


def digest(tensor):
    data = tensor.detach().contiguous().flatten().view(torch.uint8).numpy().tobytes() if tensor.numel() else b""
    return hashlib.sha256(data).hexdigest()


def expect_tensors(name, tensors):
    EXPECTED[name] = {"tensors": [[key, TYPES[value.dtype], list(value.shape), digest(value)]
                                  for key, value in sorted(tensors.items())]}


def kinds():
    """Every element type and every way to lie in a storage."""
    torch.manual_seed(5)
    state = collections.OrderedDict()
    for dtype, name in TYPES.items():
        state["types." + name] = (torch.randn(3, 2) * 4).to(dtype)
    state["parameter"] = torch.nn.Parameter(torch.randn(2, 3))
    matrix = torch.randn(4, 3)
    state["view.whole"] = matrix
    state["view.transposed"] = matrix.t()
    state["view.row"] = matrix[2]
    state["view.column"] = matrix[:, 1]
    state["view.tied"] = matrix
    state["view.every_other"] = torch.randn(6, 5)[::2, 1::2]
    state["view.expanded"] = torch.randn(1, 3).expand(4, 3)
    state["view.permuted"] = torch.randn(2, 3, 4).permute(2, 0, 1)
    state["empty"] = torch.zeros(0, 3)
    state["scalar"] = torch.tensor(-2.5)
    return state


def save(name, value, **options):
    torch.save(value, HERE / name, **options)


def big_endian(name, value, **options):
    """torch.save on a machine of the other byte order, as far as the file says so."""
    real = torch.serialization.sys
    torch.serialization.sys = types.SimpleNamespace(**{**vars(real), "byteorder": "big"})
    try:
        save(name, value, **options)
    finally:
        torch.serialization.sys = real


def as_zip(name, pickled, compression=zipfile.ZIP_STORED):
    with zipfile.ZipFile(HERE / name, "w", compression) as archive:
        archive.writestr("archive/data.pkl", pickled)
        archive.writestr("archive/version", "3\n")


class Call:
    """A pickle of this calls `function` when Python loads it."""

    def __init__(self, function, *arguments, state=None):
        self.reduced = (function, arguments) if state is None else (function, arguments, state)

    def __reduce__(self):
        return self.reduced


def hostile():
    command = "touch bertft_code_was_executed"
    state = {"weight": Call(os.system, command)}
    files = {
        "hostile_os_system.bin": (pickle.dumps(state, 2), "posix.system"),
        "hostile_protocol_4.bin": (pickle.dumps(state, 4), "posix.system"),
        "hostile_eval.bin": (pickle.dumps({"a": Call(builtins.eval, "open('bertft_code_was_executed', 'w')")}, 2),
                             "__builtin__.eval"),
        "hostile_torch_load.bin": (pickle.dumps({"a": Call(torch.load, "other.bin")}, 2), "torch.serialization.load"),
        "hostile_load_from_bytes.bin": (pickle.dumps({"a": Call(torch.storage._load_from_bytes, b"x")}, 4),
                                        "torch.storage._load_from_bytes"),
        "hostile_nested.bin": (pickle.dumps({"a": Call(getattr, Call(__import__, "os"), "system")}, 2), "getattr"),
        "hostile_state.bin": (pickle.dumps(Call(collections.OrderedDict, state={"__setstate__": Call(exec, "1")}), 2),
                              "__builtin__.exec"),
        "hostile_attribute.bin": (pickle.dumps(Call(collections.OrderedDict, state={"__class__": 1}), 2), "__class__"),
        "hostile_object.bin": (pickle.dumps({"a": types.SimpleNamespace(b=1)}, 2), "SimpleNamespace"),
    }
    for name, (pickled, expected) in files.items():
        as_zip(name, pickled)
        EXPECTED[name] = {"refused": expected}
    (HERE / "hostile_bare_pickle.bin").write_bytes(pickle.dumps(state, 2))
    EXPECTED["hostile_bare_pickle.bin"] = {"refused": "posix.system"}
    (HERE / "hostile_protocol_0.bin").write_bytes(pickle.dumps(Call(os.system, command), 0))
    EXPECTED["hostile_protocol_0.bin"] = {"refused": "posix.system"}
    stream = io.BytesIO()
    torch.save({"a": torch.ones(2)}, stream, _use_new_zipfile_serialization=False)
    magic = stream.getvalue()[:15]
    (HERE / "hostile_legacy.bin").write_bytes(magic + pickle.dumps(state, 2))
    EXPECTED["hostile_legacy.bin"] = {"refused": "posix.system"}


def refused():
    small = {"weight": torch.ones(2, 2)}
    big_endian("refused_big_endian.bin", small)
    EXPECTED["refused_big_endian.bin"] = {"refused": "byte order is 'big'"}
    big_endian("refused_big_endian_legacy.bin", small, _use_new_zipfile_serialization=False)
    EXPECTED["refused_big_endian_legacy.bin"] = {"refused": "big-endian machine"}
    save("refused_list.bin", [torch.ones(2)])
    EXPECTED["refused_list.bin"] = {"refused": "holds a list, not a dictionary"}
    save("refused_tensor.bin", torch.ones(2))
    EXPECTED["refused_tensor.bin"] = {"refused": "holds a tensor, not a dictionary"}
    save("refused_no_tensors.bin", {"epoch": 3, "state_dict": {}})
    EXPECTED["refused_no_tensors.bin"] = {"refused": "holds no tensors"}
    save("refused_float8.bin", {"a": torch.ones(2).to(torch.float8_e5m2)})
    EXPECTED["refused_float8.bin"] = {"refused": "global torch."}
    save("refused_module.bin", torch.nn.Linear(2, 2))
    EXPECTED["refused_module.bin"] = {"refused": "torch.nn.modules.linear.Linear"}
    torch.jit.save(torch.jit.script(torch.nn.Linear(2, 2)), str(HERE / "refused_torchscript.bin"))
    EXPECTED["refused_torchscript.bin"] = {"refused": "TorchScript"}
    with zipfile.ZipFile(HERE / "refused_other_zip.bin", "w") as archive:
        archive.writestr("word/document.xml", "<a/>")
    EXPECTED["refused_other_zip.bin"] = {"refused": "torch.save did not write"}
    as_zip("refused_compressed.bin", pickle.dumps({}, 2) * 50, zipfile.ZIP_DEFLATED)
    EXPECTED["refused_compressed.bin"] = {"refused": "'archive/data.pkl' is compressed (method 8)"}


def main():
    for old in HERE.glob("*.bin"):
        old.unlink()
    state = kinds()
    legacy = {"_use_new_zipfile_serialization": False}
    for name, options in [("zip.bin", {}), ("zip_protocol_3.bin", {"pickle_protocol": 3}),
                          ("zip_protocol_5.bin", {"pickle_protocol": 5}), ("legacy.bin", legacy),
                          ("legacy_protocol_4.bin", {**legacy, "pickle_protocol": 4})]:
        save(name, state, **options)
        expect_tensors(name, state)
    torch.serialization.set_crc32_options(False)
    save("zip_without_checksums.bin", state)
    torch.serialization.set_crc32_options(True)
    expect_tensors("zip_without_checksums.bin", state)

    module = torch.nn.Sequential(torch.nn.Linear(3, 2), torch.nn.LayerNorm(2))
    for name, options in [("module.bin", {}), ("module_legacy.bin", legacy)]:
        save(name, module.state_dict(), **options)  # an OrderedDict with _metadata
        expect_tensors(name, module.state_dict())
    save("data_parallel.bin", torch.nn.DataParallel(module).state_dict())
    expect_tensors("data_parallel.bin", module.state_dict())
    for key in ["state_dict", "model", "model_state_dict"]:
        optimizer = torch.optim.AdamW(module.parameters())
        module(torch.ones(1, 3)).sum().backward()
        optimizer.step()
        save(f"trainer_{key}.bin", {"epoch": 3, "rate": 0.5, "optimizer": optimizer.state_dict(), key: module.state_dict()})
        expect_tensors(f"trainer_{key}.bin", module.state_dict())
    save("with_others.bin", {"step": 7, "weight": torch.ones(2), "nothing": None})
    expect_tensors("with_others.bin", {"weight": torch.ones(2)})
    save("no_entries.bin", {})
    expect_tensors("no_entries.bin", {})
    hostile()
    refused()
    (HERE / "expected.json").write_text(json.dumps(EXPECTED, indent=1) + "\n")
    print(f"{len(EXPECTED)} files, torch {torch.__version__}")


main()
