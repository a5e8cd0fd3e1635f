// Reads files of torch.save (pytorch_model.bin, .pt, .pth): the zip archive of PyTorch 1.6 and later and the stream of
// pickles before it. The pickle is read by checkpoint/pickle_machine.h and executes nothing.
// Source: torch/serialization.py of PyTorch 2.11 (save, _save, _legacy_save).
#pragma once

#include "checkpoint/input_file.h"
#include "checkpoint/tensor_file.h"

namespace bertft {

// By the first bytes (a zip archive, a pickle); files ending in .bin, .pt, .pth and .ckpt count whatever they begin
// with, unless they are safetensors files under such a name.
bool is_torch_file(const InputFile& file);

// The tensors of the file's state dict. Views of one storage share memory; a tensor that is not contiguous is copied
// into row-major order, all such copies together within 64 MiB + four times the file's size. Sizes are checked before
// memory is taken. DataError when the file cannot be read. CheckpointError: a Git LFS pointer or web page, an archive
// or stream that torch.save did not write, big-endian storages, TorchScript, and whatever pickle_machine.h,
// torch_state_dict.h and zip_archive.h refuse.
LoadedTensors read_torch_file(const InputFile& file);

}  // namespace bertft
