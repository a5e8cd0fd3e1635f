// Makes a checkpoint with random weights in the form in which pretrained ones are published: for tests, for training
// from nothing, and for models of sizes that nobody published.
#pragma once

#include <cstdint>
#include <string>

namespace bertft {

struct NewCheckpoint {
  std::string family = "bert";
  std::string size = "tiny";  // tiny, mini, small (Google's miniatures of these names) or base
  std::string vocab_path;     // vocab.txt: one WordPiece a line
  std::string output;         // the folder; must not exist or be empty
  bool keeps_case = false;    // the tokenizer does not lower-case
  uint64_t seed = 42;
};

struct NewCheckpointFacts {
  int64_t parameters = 0;
  int64_t vocab_size = 0;
  int64_t layers = 0;
  int64_t hidden_size = 0;
};

// Writes config.json, model.safetensors (encoder and pooler, names as BertModel publishes them), vocab.txt (as it is),
// tokenizer_config.json and special_tokens_map.json; the folder appears whole or not at all. Weights as transformers
// initializes them: matrices and tables normal with deviation 0.02, the row of [PAD], biases 0, LayerNorm weights 1.
// They depend on seed, size and vocabulary size only and are the same bits on every machine. ConfigError: an unknown
// family or size, an output that is not empty. DataError naming file, line or token: a vocabulary that cannot be read,
// lacks one of [PAD] [UNK] [CLS] [SEP] [MASK], has a token twice or an empty line. ResourceError when the folder cannot
// be written.
NewCheckpointFacts write_new_checkpoint(const NewCheckpoint& settings);

}  // namespace bertft
