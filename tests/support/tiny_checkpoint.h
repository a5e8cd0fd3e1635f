// A complete small BERT checkpoint, written in milliseconds: for system tests that need a model, not a good one.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "checkpoint/tensor.h"

namespace bertft::test {

struct TinyCheckpoint {
  int64_t hidden = 16;
  int64_t layers = 2;
  int64_t heads = 2;
  int64_t intermediate = 32;
  int64_t positions = 32;
  std::vector<std::string> words = {"red", "green", "blue", "good", "bad", "film", "book", "a", "the", ".", "##s"};

  // [PAD] [UNK] [CLS] [SEP] [MASK] and the words.
  std::string vocab_text() const;
  std::string config_text() const;
  // Writes config.json, vocab.txt, tokenizer_config.json and model.safetensors (names with prefix, without a head).
  void write(const std::string& folder) const;
};

}  // namespace bertft::test
