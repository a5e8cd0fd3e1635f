// A tokenizer of a dozen pieces, loaded from a folder of its own, for tests that need real ids.
#pragma once

#include <unistd.h>

#include <filesystem>
#include <string>

#include "core/files.h"
#include "tokenize/tokenizer.h"

namespace bertft::test {

// Ids: [PAD] 0, [UNK] 1, [CLS] 2, [SEP] 3, [MASK] 4, a 5, b 6, c 7, ##a 8, ##b 9.
inline const Tokenizer& tiny_tokenizer() {
  static const Tokenizer tokenizer = [] {
    const auto folder =
        std::filesystem::temp_directory_path() / ("bertft_tiny_tokenizer_" + std::to_string(::getpid()));
    std::filesystem::create_directories(folder);
    write_file_atomically(folder / "vocab.txt", "[PAD]\n[UNK]\n[CLS]\n[SEP]\n[MASK]\na\nb\nc\n##a\n##b\n");
    write_file_atomically(folder / "tokenizer_config.json",
                          R"({"tokenizer_class": "BertTokenizer", "do_lower_case": true})");
    Tokenizer loaded = Tokenizer::load(folder.string(), Compat::kHf);
    std::filesystem::remove_all(folder);
    return loaded;
  }();
  return tokenizer;
}

}  // namespace bertft::test
